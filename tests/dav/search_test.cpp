#include "dav/dav_client.hpp"
#include "dav/search_query.hpp"

namespace welkin::tests {
namespace {

using Strings = std::vector<std::string>;

struct DavSearch : DavTest {
  DavSearch() {
    server.file(alice, area, "Alpha.txt", "12345");
    server.file(alice, area, "beta.jpg", "1");
    server.file(alice, server.folder(alice, area, "Gamma"), "alphabet.txt", std::string(500, 'x'));
    server.sql("update nodes set mtime = 1500000000000000 where name = 'beta.jpg' and parent_id = " +
               std::to_string(area.value));
  }
  static std::string body(const std::string& where, const std::string& more = "",
                          const std::string& depth = "infinity", const std::string& scope = "/webdav/area/") {
    return "<d:searchrequest "
           "xmlns:d='DAV:'><d:basicsearch><d:select><d:prop><d:getcontentlength/></d:prop></d:select>"
           "<d:from><d:scope><d:href>" +
           scope + "</d:href><d:depth>" + depth + "</d:depth></d:scope></d:from>" +
           (where.empty() ? "" : "<d:where>" + where + "</d:where>") + more +
           "</d:basicsearch></d:searchrequest>";
  }
  static std::string is(const std::string& op, const std::string& property, const std::string& literal) {
    return "<d:" + op + "><d:prop><d:" + property + "/></d:prop><d:literal>" + literal +
           "</d:literal></d:" + op + ">";
  }
  DavAnswer search(const std::string& body, const std::string& path = "/webdav/") {
    return dav_answer(dav.send("SEARCH", path, {}, body));
  }
  Strings found(const std::string& where, const std::string& more = "",
                const std::string& depth = "infinity") {
    const auto answer = search(body(where, more, depth));
    EXPECT_EQ(answer.http.status, 207) << answer.http.body;
    return answer.hrefs();
  }
};

TEST_F(DavSearch, FindsByNameTypeSizeAndDate) {
  const Strings alphas{"/webdav/area/Alpha.txt", "/webdav/area/Gamma/alphabet.txt"};
  EXPECT_EQ(found(is("like", "displayname", "%alpha%")), alphas);
  EXPECT_EQ(found("<d:contains>ALPHA</d:contains>"), alphas);
  EXPECT_EQ(found(is("eq", "displayname", "alpha.TXT")), Strings{"/webdav/area/Alpha.txt"});
  EXPECT_TRUE(
      found("<d:eq caseless='no'><d:prop><d:displayname/></d:prop><d:literal>alpha.txt</d:literal></d:eq>")
          .empty());
  EXPECT_EQ(found(is("like", "getcontenttype", "image/%")), Strings{"/webdav/area/beta.jpg"});
  EXPECT_EQ(found(is("gt", "getcontentlength", "100")), Strings{"/webdav/area/Gamma/alphabet.txt"});
  EXPECT_EQ(found(is("lte", "getlastmodified", "2017-07-14T02:40:00Z")), Strings{"/webdav/area/beta.jpg"});
  EXPECT_EQ(found(is("eq", "getlastmodified", "Fri, 14 Jul 2017 02:40:00 GMT")),
            Strings{"/webdav/area/beta.jpg"});
  EXPECT_EQ(found("<d:is-collection/>"), (Strings{"/webdav/area/", "/webdav/area/Gamma/"}));
  EXPECT_EQ(
      found("<d:not><d:is-defined><d:prop><d:getcontentlength/></d:prop></d:is-defined></d:not>").size(), 2u);
}

// What a resource has not makes a comparison neither true nor false, also under not.
TEST_F(DavSearch, CombinesConditions) {
  const auto text = is("like", "getcontenttype", "text/%"), small = is("lt", "getcontentlength", "100");
  EXPECT_EQ(found("<d:and>" + text + small + "</d:and>"), Strings{"/webdav/area/Alpha.txt"});
  EXPECT_EQ(found("<d:or>" + text + small + "</d:or>").size(), 3u);
  EXPECT_EQ(found("<d:not>" + text + "</d:not>"), Strings{"/webdav/area/beta.jpg"});
  EXPECT_EQ(found("<d:not><d:not>" + text + "</d:not></d:not>").size(), 2u);
  EXPECT_EQ(found("").size(), 5u);
}

TEST_F(DavSearch, KeepsToItsScope) {
  EXPECT_EQ(found("", "", "0"), Strings{"/webdav/area/"});
  EXPECT_EQ(found(is("like", "displayname", "%alpha%"), "", "1"), Strings{"/webdav/area/Alpha.txt"});
  for (const std::string scope : {"/webdav/area/Gamma",
                                  "http://"
                                  "127.0.0.1/webdav/area/Gamma/"}) {
    const auto answer = search(body(is("like", "displayname", "%alpha%"), "", "infinity", scope));
    EXPECT_EQ(answer.hrefs(), Strings{"/webdav/area/Gamma/alphabet.txt"}) << scope << answer.http.body;
  }
  EXPECT_EQ(search(body("", "", "1", "/webdav/missing")).http.status, 404);
  EXPECT_EQ(search(body("", "", "1", "/elsewhere/")).http.status, 409);
}

TEST_F(DavSearch, OrdersAndCuts) {
  const auto files = is("gt", "getcontentlength", "0");
  const std::string by_size =
      "<d:orderby><d:order><d:prop><d:getcontentlength/></d:prop><d:descending/></d:order></d:orderby>";
  EXPECT_EQ(found(files, by_size),
            (Strings{"/webdav/area/Gamma/alphabet.txt", "/webdav/area/Alpha.txt", "/webdav/area/beta.jpg"}));
  for (const auto& order : {std::string(), by_size}) {
    const auto cut = search(body(files, order + "<d:limit><d:nresults>1</d:nresults></d:limit>"));
    ASSERT_EQ(cut.responses.size(), 2u) << cut.http.body;
    EXPECT_EQ(cut.responses[1].status, 507);
  }
}

TEST_F(DavSearch, RefusesWhatItCannotDo) {
  EXPECT_EQ(search(body("<d:sounds-like/>")).http.status, 422);
  EXPECT_EQ(search(body(is("eq", "owner", "x"))).http.status, 422);
  EXPECT_EQ(search(body(is("gt", "getcontentlength", "many"))).http.status, 422);
  EXPECT_EQ(search("<d:searchrequest xmlns:d='DAV:'><x:sql xmlns:x='urn:x'/></d:searchrequest>").http.status,
            400);
  EXPECT_EQ(search("").http.status, 400);
  EXPECT_EQ(search(body("<d:and/>")).http.status, 400);
  std::string deep, many;
  for (int i = 0; i < 33; ++i) deep += "<d:not>";
  deep += "<d:is-collection/>";
  for (int i = 0; i < 33; ++i) deep += "</d:not>";
  for (int i = 0; i < 101; ++i) many += "<d:is-collection/>";
  EXPECT_EQ(search(body(deep)).http.status, 422);
  EXPECT_EQ(search(body("<d:or>" + many + "</d:or>")).http.status, 422);
}

// Long patterns are looked for at every place of every name, so a hundred of them may look at fewer names.
TEST_F(DavSearch, AQuestionThatCostsALotLooksAtFewer) {
  server.sql(
      "insert into nodes (parent_id, mtime, etag_seq, created_at, drive_id, etag_drive, kind, name)"
      " select n.id, 1, 1, 1, n.drive_id, n.drive_id, 2, repeat('a', 200) || lpad(i::text, 6, '0')"
      " from nodes n, generate_series(1, 3000) i where n.id = " +
      std::to_string(area.value) +
      "; insert into folders (node_id, etag_seq, changed_at) select id, 1, 1 from nodes where parent_id = " +
      std::to_string(area.value) + " and kind = 2 and name like 'aaaa%'");
  EXPECT_EQ(found(is("like", "displayname", "%aaa%")).size(), 3000u);
  std::string many;
  for (int i = 0; i < 90; ++i)
    many += is("like", "displayname", "%" + std::string(120, 'a') + "b" + std::to_string(i));
  const auto answer = search(body("<d:or>" + many + "</d:or>"));
  ASSERT_EQ(answer.http.status, 207) << answer.http.body;
  ASSERT_EQ(answer.responses.size(), 1u);
  EXPECT_EQ(answer.responses[0].status, 507) << "there may be more";
}

TEST(DavLike, MatchesAsSqlDoes) {
  using dav::is_like;
  EXPECT_TRUE(is_like("", ""));
  EXPECT_TRUE(is_like("", "%%"));
  EXPECT_FALSE(is_like("", "_"));
  EXPECT_TRUE(is_like("abc", "a%"));
  EXPECT_TRUE(is_like("abc", "%c"));
  EXPECT_TRUE(is_like("abcbc", "a%bc"));
  EXPECT_FALSE(is_like("abcbd", "a%bc"));
  EXPECT_TRUE(is_like("a\xC3\xA9z", "a_z"));
  EXPECT_FALSE(is_like("a\xC3\xA9z", "a__z"));
  EXPECT_TRUE(is_like("100%", "100\\%"));
  EXPECT_FALSE(is_like("100x", "100\\%"));
  EXPECT_TRUE(is_like("a\\", "a\\"));
  EXPECT_FALSE(is_like(std::string(255, 'a'), "%a%a%a%a%a%a%a%a%a%b"));
}

}  // namespace
}  // namespace welkin::tests
