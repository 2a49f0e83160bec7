#include "dav/groupware/groupware.hpp"

namespace welkin::tests {
namespace {

const std::string kApple = lines(
    "BEGIN:VCARD / VERSION:3.0 / UID:F13 / N:Müller;Eva;;; / FN:Eva Müller / "
    "item1.EMAIL;type=INTERNET:eva@example.org / item1.X-ABLabel:_$!<Other>!$_ / "
    "BDAY;X-APPLE-OMIT-YEAR=1604:1604-06-20 / PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSkZJRg== / X-ABUID:1 / "
    "END:VCARD");
const std::string kFour = lines(
    "BEGIN:VCARD / VERSION:4.0 / FN:Jo / UID:urn:uuid:0f1e0000-0000-0000-0000-000000000001 / "
    "TEL;VALUE=uri;PREF=1;TYPE=\"voice,home\":tel:+49-30-1 / PHOTO:data:image/png;base64,iVBORw0KGgo= / "
    "BDAY:--0620 / "
    "RELATED;TYPE=friend:urn:uuid:0f1e0000-0000-0000-0000-000000000002 / END:VCARD");

struct GroupwareCards : Groupware {
  std::string data(const std::string& name, const std::string& attributes = "",
                   const std::string& inside = "") {
    const auto answer = report(book, "A:addressbook-multiget",
                               "<d:prop><A:address-data" + attributes + ">" + inside +
                                   "</A:address-data></d:prop><d:href>" + book + name + "</d:href>");
    return answer.responses.empty() ? last.body : answer.responses[0].text(carddav("address-data"));
  }
  std::vector<std::string> found(const std::string& filter, const std::string& more = "") {
    const auto answer = report(book, "A:addressbook-query", "<d:prop><d:getetag/></d:prop>" + filter + more);
    std::vector<std::string> out;
    for (const auto& href : answer.hrefs()) out.push_back(href.substr(href.rfind('/') + 1));
    if (answer.http.status != 207) out.push_back(std::to_string(answer.http.status) + condition());
    return out;
  }
  static std::string prop(const std::string& name, const std::string& inside, const std::string& test = "") {
    return "<A:prop-filter name=\"" + name + "\"" + test + ">" + inside + "</A:prop-filter>";
  }
  static std::string match(const std::string& value, const std::string& attributes = "") {
    return "<A:text-match" + attributes + ">" + value + "</A:text-match>";
  }
  static bool has(const std::string& text, const std::string& what) {
    return text.find(what) != std::string::npos;
  }
  using Names = std::vector<std::string>;
};

TEST_F(GroupwareCards, ACardComesBackInItsBytesAndInTheVersionAskedFor) {
  ASSERT_EQ(put(book + "f13.vcf", kApple), 201) << last.body;
  const auto etag = last.header("etag");
  const auto got = dav.get(book + "f13.vcf");
  EXPECT_EQ(got.body, kApple);
  EXPECT_EQ(got.header("content-type"), "text/vcard; charset=utf-8");
  // XML readers see one line end.
  std::string unfolded = kApple;
  std::erase(unfolded, '\r');
  EXPECT_EQ(data("f13.vcf"), unfolded);
  const auto four = data("f13.vcf", " content-type=\"text/vcard\" version=\"4.0\"");
  EXPECT_TRUE(has(four, "VERSION:4.0") && has(four, "PHOTO:data:image/jpeg;base64,/9j/4AAQSkZJRg==")) << four;
  EXPECT_TRUE(has(four, "BDAY:--0620") && has(four, "item1.EMAIL")) << four;
  const auto negotiated = dav.get(book + "f13.vcf", {{"Accept", "text/vcard;version=4.0"}});
  EXPECT_TRUE(has(negotiated.body, "VERSION:4.0"));
  EXPECT_EQ(negotiated.header("etag"), etag);
  EXPECT_TRUE(has(negotiated.header("vary"), "Accept"));
  EXPECT_EQ(send("GET", book + "f13.vcf", {{"Accept", "image/png"}}), 406);
  EXPECT_EQ(condition(), "A:supported-address-data-conversion");
  EXPECT_EQ(dav.get(book + "f13.vcf", {{"Accept", "text/xml, */*;q=0.1"}}).body, kApple);
}

TEST_F(GroupwareCards, WhatIsStoredAs4IsToldAs3UnlessAskedFor) {
  ASSERT_EQ(put(book + "f14.vcf", kFour), 201) << last.body;
  const auto three = data("f14.vcf");
  EXPECT_TRUE(has(three, "VERSION:3.0") && has(three, "N:")) << three;
  EXPECT_TRUE(has(three, "ENCODING=b") && has(three, "X-APPLE-OMIT-YEAR=1604")) << three;
  EXPECT_TRUE(has(data("f14.vcf", " version=\"4.0\""), "BDAY:--0620"));
  EXPECT_EQ(get(book + "f14.vcf"), kFour);
  const auto some = data("f14.vcf", "", "<A:prop name=\"TEL\"/>");
  EXPECT_TRUE(has(some, "TEL") && has(some, "UID") && !has(some, "PHOTO")) << some;
  report(book, "A:addressbook-multiget", "<d:prop><A:address-data version=\"5.0\"/></d:prop>");
  EXPECT_EQ(last.status, 403);
  EXPECT_EQ(condition(), "A:supported-address-data");
}

TEST_F(GroupwareCards, GroupsAreKeptAsAppleWritesThem) {
  const auto group = lines(
      "BEGIN:VCARD / VERSION:3.0 / UID:F15 / N:Team;;;; / FN:Team / "
      "X-ADDRESSBOOKSERVER-KIND:group / X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:a / "
      "X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:b / END:VCARD");
  ASSERT_EQ(put(book + "g.vcf", group), 201);
  const auto four = data("g.vcf", " version=\"4.0\"");
  EXPECT_TRUE(has(four, "KIND:group") && has(four, "MEMBER:urn:uuid:a") && has(four, "MEMBER:urn:uuid:b"))
      << four;
  EXPECT_EQ(get(book + "g.vcf"), group);
}

TEST_F(GroupwareCards, WhatIsNoCardIsRefused) {
  EXPECT_EQ(put(book + "old.vcf", lines("BEGIN:VCARD / VERSION:2.1 / N:M;E / FN:E M / END:VCARD")), 403);
  EXPECT_EQ(condition(), "A:supported-address-data");
  EXPECT_EQ(put(book + "x.vcf", "hello"), 403);
  EXPECT_EQ(condition(), "A:valid-address-data");
  EXPECT_EQ(put(book + "x.vcf", card("a") + card("b")), 403);
  EXPECT_EQ(condition(), "A:valid-address-data");
  EXPECT_EQ(put(book + "x.vcf", event("a"), {{"Content-Type", "text/calendar"}}), 403);
  EXPECT_EQ(condition(), "A:supported-address-data");
  put(book + "a.vcf", card("a"));
  EXPECT_EQ(put(book + "b.vcf", card("a")), 403);
  EXPECT_EQ(condition(), "A:no-uid-conflict");
  EXPECT_TRUE(has(last.body, book + "a.vcf"));
  const auto big = lines("BEGIN:VCARD / VERSION:3.0 / UID:big / FN:b / PHOTO;ENCODING=b:" +
                         std::string(std::size_t{11} << 20, 'A') + " / END:VCARD");
  EXPECT_EQ(put(book + "big.vcf", big), 403);
  EXPECT_EQ(condition(), "A:max-resource-size");
  const auto nameless = lines("BEGIN:VCARD / VERSION:3.0 / FN:No uid / END:VCARD");
  EXPECT_EQ(put(book + "n1.vcf", nameless), 201) << "known by its name";
  EXPECT_EQ(put(book + "n2.vcf", nameless), 201);
  EXPECT_EQ(put(book + "n1.vcf", nameless), 204);
}

TEST_F(GroupwareCards, QueriesFind) {
  put(book + "f13.vcf", kApple);
  put(book + "f14.vcf", kFour);
  const auto filter = [](const std::string& inside, const std::string& test = "") {
    return "<A:filter" + test + ">" + inside + "</A:filter>";
  };
  EXPECT_EQ(found(filter("")), (Names{"f13.vcf", "f14.vcf"}));
  EXPECT_EQ(found(filter(prop("EMAIL", match("EXAMPLE")))), (Names{"f13.vcf"}))
      << "the default knows no case";
  EXPECT_EQ(found(filter(prop("EMAIL", match("EXAMPLE", " match-type=\"equals\"")))), Names{});
  EXPECT_EQ(found(filter(prop("email", match("eva", " match-type=\"starts-with\"")))), (Names{"f13.vcf"}));
  EXPECT_EQ(found(filter(prop("X-ABLabel", ""))), (Names{"f13.vcf"}));
  EXPECT_EQ(found(filter(prop("FN", match("MÜLLER")))), (Names{"f13.vcf"}));
  EXPECT_EQ(found(filter(prop("FN", match("MÜLLER", " collation=\"i;octet\"")))), Names{});
  EXPECT_EQ(found(filter(prop("EMAIL", "<A:is-not-defined/>"))), (Names{"f14.vcf"}));
  const auto eva = prop("FN", match("eva")), jo = prop("FN", match("jo"));
  EXPECT_EQ(found(filter(eva + jo)), (Names{"f13.vcf", "f14.vcf"})) << "any of them";
  EXPECT_EQ(found(filter(eva + jo, " test=\"allof\"")), Names{});
  EXPECT_EQ(
      found(filter(prop("TEL", "<A:param-filter name=\"TYPE\">" + match("home") + "</A:param-filter>"))),
      (Names{"f14.vcf"}));
  EXPECT_EQ(found(filter(prop("FN", match("x", " collation=\"i;klingon\"")))),
            (Names{"403A:supported-collation"}));
  EXPECT_EQ(found(filter("<A:other/>")), (Names{"403A:supported-filter"}));
  EXPECT_EQ(found(""), (Names{"400w:bad_report"}));
}

TEST_F(GroupwareCards, ALimitCutsTheAnswer) {
  put(book + "a.vcf", card("a"));
  put(book + "b.vcf", card("b"));
  const auto answer =
      report(book, "A:addressbook-query",
             "<d:prop><d:getetag/></d:prop><A:filter/><A:limit><A:nresults>1</A:nresults></A:limit>");
  EXPECT_EQ(answer.hrefs(), (Names{book + "a.vcf", book}));
  EXPECT_EQ(answer.at(book).status, 507);
}

TEST_F(GroupwareCards, SyncGivesTheDataAlong) {
  put(book + "a.vcf", card("a"));
  const auto answer =
      report(book, "d:sync-collection",
             "<d:sync-token/><d:sync-level>1</d:sync-level><d:prop><d:getetag/><A:address-data/>"
             "</d:prop>",
             {{"Depth", "1"}});
  EXPECT_TRUE(has(answer.at(book + "a.vcf").text(carddav("address-data")), "UID:a"));
  EXPECT_EQ(propfind(book + "a.vcf", "0", "<d:getcontenttype/>").responses.at(0).text("getcontenttype"),
            "text/vcard; charset=utf-8");
  put(book + "b.vcf", card("b"));
  const auto whole = dav.get(book);
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(whole.body, card("a") + card("b"));
}

}  // namespace
}  // namespace welkin::tests
