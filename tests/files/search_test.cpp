#include "welkin/files/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "files/room.hpp"
#include "welkin/files/favorites.hpp"
#include "welkin/files/trash.hpp"

namespace welkin::files {
namespace {

using Names = std::vector<std::string>;

struct SearchTest : ::testing::Test {
  Room room;
  Caller alice = room.user("alice"), bob = room.user("bob");
  NodeId home = room.root(alice);

  Names names(const Caller& caller, SearchQuery query) {
    Names out;
    for (const auto& hit : run(room.files->search().find(caller, std::move(query))).items)
      out.push_back(hit.node.name);
    return out;
  }
  Names names(const Caller& caller, const std::string& text) {
    SearchQuery query;
    query.text = text;
    return names(caller, query);
  }
  Names suggested(const Caller& caller, const std::string& text, NodeId folder = {}) {
    Names out;
    for (const auto& hit : run(room.files->search().suggest(caller, text, folder, 10)))
      out.push_back(hit.node.name);
    return out;
  }
  NodeId put(NodeId folder, const std::string& name, const std::string& body = "x") {
    return room.put(alice, folder, name, body).node.id;
  }
  void grant(NodeId node, const Caller& to) {
    room.sql("insert into grants (node_id, user_id, rights) values (" + std::to_string(node.value) + ", " +
             std::to_string(to.user.value) +
             ", 1); update nodes set flags = flags | 1 where id = " + std::to_string(node.value));
  }
};

TEST_F(SearchTest, FindsNamesWhateverTheirCaseAndAccents) {
  put(home, "Überweisung März.pdf");
  put(home, "other.txt");
  const auto folder = room.folder(alice, home, "Überall");
  put(folder, "unterwegs überall.md");
  EXPECT_EQ(names(alice, "uberweisung"), Names{"Überweisung März.pdf"});
  EXPECT_EQ(names(alice, "ÜBERALL"), (Names{"Überall", "unterwegs überall.md"}));
  EXPECT_EQ(names(alice, "marz uber"), Names{"Überweisung März.pdf"}) << "each word counts, in any order";
  EXPECT_TRUE(names(alice, "uberweisung other").empty());
  EXPECT_TRUE(names(alice, "nothing of that name").empty());
  EXPECT_TRUE(names(bob, "uberall").empty());
}

TEST_F(SearchTest, TheBestComeFirst) {
  for (const char* name : {"a long report.txt", "report", "reports of all", "report.txt", "misreported"})
    put(home, name);
  EXPECT_EQ(names(alice, "report"),
            (Names{"report", "report.txt", "reports of all", "a long report.txt", "misreported"}));
}

TEST_F(SearchTest, SignsOfPatternsAreLetters) {
  put(home, "100% sure");
  put(home, "100 sure");
  put(home, "snake_case");
  put(home, "snakeXcase");
  put(home, "semi;colon'quote");
  EXPECT_EQ(names(alice, "100%"), Names{"100% sure"});
  EXPECT_EQ(names(alice, "snake_case"), Names{"snake_case"});
  EXPECT_EQ(names(alice, "colon'quote"), Names{"semi;colon'quote"});
  EXPECT_TRUE(names(alice, "\\%\\").empty());
}

TEST_F(SearchTest, EndsAtTheRightToRead) {
  const auto shared = room.folder(alice, home, "shared stuff");
  const auto secret = room.folder(alice, home, "secret stuff");
  put(shared, "stuff to see");
  put(secret, "stuff to hide");
  const auto single = put(secret, "stuff alone");
  grant(shared, bob);
  grant(single, bob);
  EXPECT_EQ(names(bob, "stuff"), (Names{"stuff alone", "stuff to see", "shared stuff"}));
  room.sql("delete from grants where node_id = " + std::to_string(shared.value));
  EXPECT_EQ(names(bob, "stuff"), Names{"stuff alone"});
  room.sql("update grants set expires_at = now() - interval '1 second'");
  EXPECT_TRUE(names(bob, "stuff").empty());
  EXPECT_TRUE(suggested(bob, "stuff").empty());
  run(room.files->trash(alice, secret));
  EXPECT_EQ(names(alice, "stuff"), (Names{"stuff to see", "shared stuff"}))
      << "what is in the trash is not found";
  Caller limited = alice;
  limited.root_limit = shared;
  EXPECT_EQ(names(limited, "stuff"), (Names{"stuff to see", "shared stuff"}));
  run(room.files->trash_bin().restore(alice, secret));
  EXPECT_EQ(names(limited, "stuff"), (Names{"stuff to see", "shared stuff"}));
  EXPECT_EQ(names(alice, "stuff").size(), 5u);
}

TEST_F(SearchTest, HasFilters) {
  const auto folder = room.folder(alice, home, "photos 2026");
  put(folder, "photo1.JPG", "12345");
  put(folder, "photo2.png", "123");
  put(home, "photo notes.txt", "1");
  SearchQuery query;
  query.text = "photo";
  EXPECT_EQ(names(alice, query).size(), 4u);
  auto with = query;
  with.extensions = {"jpg", "png"};
  EXPECT_EQ(names(alice, with), (Names{"photo1.JPG", "photo2.png"}));
  with = query;
  with.mime_types = {"image/"};
  EXPECT_EQ(names(alice, with), (Names{"photo1.JPG", "photo2.png"}));
  with.mime_types = {"image/png"};
  EXPECT_EQ(names(alice, with), Names{"photo2.png"});
  with = query;
  with.size_min = 2;
  EXPECT_EQ(names(alice, with), (Names{"photo1.JPG", "photo2.png"}));
  with.size_max = 4;
  EXPECT_EQ(names(alice, with), Names{"photo2.png"});
  with = query;
  with.files = false;
  EXPECT_EQ(names(alice, with), Names{"photos 2026"});
  with = query;
  with.folder = folder;
  EXPECT_EQ(names(alice, with), (Names{"photo1.JPG", "photo2.png"}));
  with.folder = home;
  with.recursive = false;
  EXPECT_EQ(names(alice, with), (Names{"photo notes.txt", "photos 2026"}));
  with = query;
  with.modified_before = 1;
  EXPECT_TRUE(names(alice, with).empty());
  with = query;
  with.created_after = room.clock.now() - 3'600'000'000;
  with.modified_after = with.created_after;
  EXPECT_EQ(names(alice, with).size(), 4u);
  with = SearchQuery{};
  with.extensions = {"txt"};
  EXPECT_EQ(names(alice, with), Names{"photo notes.txt"}) << "filters do without a text";
  with.folder = NodeId{999'999'999};
  EXPECT_EQ(refusal_of([&] { return room.files->search().find(alice, with); }), "not_found");
  with.folder = folder;
  EXPECT_EQ(refusal_of([&] { return room.files->search().find(bob, with); }), "not_found");
}

TEST_F(SearchTest, ShortWordsAreLookedForNearby) {
  const auto folder = room.folder(alice, home, "below");
  put(home, "ab here");
  const auto far = put(folder, "ab far");
  EXPECT_EQ(names(alice, "ab"), Names{"ab here"});
  EXPECT_EQ(suggested(alice, "ab", folder), Names{"ab far"});
  run(room.files->favorites().set(alice, {far}));
  EXPECT_EQ(names(alice, "ab"), (Names{"ab far", "ab here"}));
  EXPECT_EQ(names(alice, "ab here"), Names{"ab here"}) << "one longer word is enough for the index";
}

TEST_F(SearchTest, PagesNeitherRepeatNorSkip) {
  const auto others = room.folder(bob, room.root(bob), "others");
  Names all;
  for (int i = 0; i < 14; ++i) {
    all.push_back("match " + std::to_string(i) + ".txt");
    put(home, all.back(), std::string(static_cast<std::size_t>(i), 'x'));
    const auto hidden = room.put(bob, others, "match hidden " + std::to_string(i), "x").node.id;
    if (i == 3) grant(hidden, alice);  // opens the drive to the search, nothing else in it
  }
  all.push_back("match hidden 3");
  std::sort(all.begin(), all.end());
  for (const auto by : {SearchOrder::relevance, SearchOrder::name, SearchOrder::type,
                        SearchOrder::modified_at, SearchOrder::created_at, SearchOrder::size}) {
    for (const bool reverse : {false, true}) {
      SearchQuery query;
      query.text = "match";
      query.order_by = by;
      query.reverse = reverse;
      const auto whole = names(alice, query);
      query.limit = 4;
      Names seen;
      for (int pages = 0; pages < 5; ++pages) {
        const auto page = run(room.files->search().find(alice, query));
        for (const auto& hit : page.items) seen.push_back(hit.node.name);
        query.after = page.next;
        if (page.next.empty()) break;
      }
      EXPECT_EQ(seen, whole) << static_cast<int>(by) << reverse;
      std::sort(seen.begin(), seen.end());
      EXPECT_EQ(seen, all);
    }
  }
  SearchQuery query;
  query.text = "match";
  query.order_by = SearchOrder::size;
  query.reverse = true;
  query.limit = 1;
  EXPECT_EQ(names(alice, query), Names{"match 13.txt"});
  query.after = "not a cursor";
  EXPECT_EQ(names(alice, query), Names{"match 13.txt"});
}

TEST_F(SearchTest, FindsWordsInTheTextOfFiles) {
  const auto letter = put(home, "letter.txt");
  const auto copy = put(home, "offer insurance.txt", "other");
  room.sql(
      "insert into content_text select content_id, to_tsvector('simple', fold_name('Dear Müller, about the "
      "insurance contract of May')) from nodes where id = " +
      std::to_string(letter.value));
  SearchQuery query;
  query.text = "insurance";
  const auto hits = run(room.files->search().find(alice, query)).items;
  ASSERT_EQ(hits.size(), 2u);
  EXPECT_EQ(hits[0].node.id, copy) << "the name counts for more";
  EXPECT_GE(hits[0].relevance, 40);
  EXPECT_EQ(hits[1].node.id, letter);
  EXPECT_LT(hits[1].relevance, 40);
  EXPECT_GT(hits[1].relevance, 0);
  EXPECT_EQ(names(alice, "MULLER"), Names{"letter.txt"});
  EXPECT_EQ(names(alice, "\"insurance contract\""), Names{"letter.txt"});
  EXPECT_TRUE(names(alice, "\"contract insurance\"").empty());
  EXPECT_TRUE(names(bob, "muller").empty());
  query.text = "muller";
  query.content = false;
  EXPECT_TRUE(names(alice, query).empty());
  EXPECT_TRUE(suggested(alice, "muller").empty());
}

TEST_F(SearchTest, RefusesWhatIsNoText) {
  SearchQuery query;
  query.text = std::string(256, 'a');
  EXPECT_EQ(refusal_of([&] { return room.files->search().find(alice, query); }), "bad_search");
  query.text = "\xff";
  EXPECT_EQ(refusal_of([&] { return room.files->search().find(alice, query); }), "bad_search");
  query.text = std::string("a\0b", 3);
  EXPECT_EQ(refusal_of([&] { return room.files->search().find(alice, query); }), "bad_search");
  for (const char* odd : {"\"", "-", "-abc", "!!! & | ( )", "'", ":*", "<->", "a b c d e f g h", "%%%"}) {
    query.text = odd;
    EXPECT_NO_THROW(run(room.files->search().find(alice, query))) << odd;
  }
  EXPECT_TRUE(suggested(alice, "   ").empty());
}

/// Equivalence: what the search finds is what a plain look at every readable name finds.
TEST_F(SearchTest, FindsWhatAPlainLookFinds) {
  std::vector<std::string> all;
  const char* const stems[] = {"Sommer", "sömmer fest", "Winter", "summe", "Fest im Sommer", "mm", "Som mer"};
  for (int i = 0; i < 40; ++i) {
    all.push_back(std::string(stems[i % 7]) + " " + std::to_string(i));
    put(home, all.back());
  }
  for (const std::string text : {"sommer", "som", "fest", "winter 2", "summe", "mer 1"}) {
    Names plain;
    for (const auto& name : all) {
      std::string folded = name;
      for (auto at = folded.find("ö"); at != std::string::npos; at = folded.find("ö"))
        folded.replace(at, 2, "o");
      std::transform(folded.begin(), folded.end(), folded.begin(), [](char c) { return std::tolower(c); });
      const auto blank = text.find(' ');
      const auto first = text.substr(0, blank);
      const auto second = blank == std::string::npos ? "" : text.substr(blank + 1);
      if (folded.find(first) != std::string::npos && folded.find(second) != std::string::npos)
        plain.push_back(name);
    }
    SearchQuery query;
    query.text = text;
    query.limit = 200;
    auto found = names(alice, query);
    std::sort(found.begin(), found.end());
    std::sort(plain.begin(), plain.end());
    EXPECT_EQ(found, plain) << text;
  }
}

}  // namespace
}  // namespace welkin::files
