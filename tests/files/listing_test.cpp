#include <gtest/gtest.h>

#include <set>

#include "files/room.hpp"
#include "welkin/core/error.hpp"
#include "welkin/core/text.hpp"

namespace welkin::files {
namespace {

std::vector<std::string> all(Room& room, const Caller& caller, NodeId folder, ListQuery query) {
  std::vector<std::string> names;
  do {
    const auto page = run(room.files->list(caller, folder, query));
    EXPECT_LE(page.items.size(), static_cast<std::size_t>(query.limit));
    for (const auto& n : page.items) names.push_back(n.name);
    query.after = page.next;
  } while (!query.after.empty());
  return names;
}

struct Listing : ::testing::Test {
  Room room;
  Caller alice = room.user("alice");
  NodeId root = room.root(alice);
};

TEST_F(Listing, FoldersFirstThenFoldedNameThenName) {
  for (const char* name : {"b", "A",
                           "\xc3\xa4"
                           "b",
                           "Z"})
    room.folder(alice, root, name);
  for (const char* name : {"b.txt", "B.txt", "a.txt", "\xc3\xa9.txt", "f.txt", "10", "9"})
    room.put(alice, root, name, "");
  const std::vector<std::string> expected{"A",
                                          "\xc3\xa4"
                                          "b",
                                          "b",
                                          "Z",
                                          "10",
                                          "9",
                                          "a.txt",
                                          "B.txt",
                                          "b.txt",
                                          "\xc3\xa9.txt",
                                          "f.txt"};
  for (const int limit : {1, 2, 3, 5, 50}) {
    ListQuery query;
    query.limit = limit;
    EXPECT_EQ(all(room, alice, root, query), expected) << limit;
  }
}

TEST_F(Listing, EveryOrderPagesNeitherRepeatNorSkip) {
  for (int i = 0; i < 23; ++i)
    room.folder(alice, root, "d" + std::to_string(i % 7) + "-" + std::to_string(i));
  for (int i = 0; i < 41; ++i)
    room.put(alice, root, "f" + std::to_string(i) + (i % 3 ? ".txt" : ".png"),
             std::string(static_cast<std::size_t>(i % 5), 'x'));
  for (const auto order :
       {OrderBy::name, OrderBy::type, OrderBy::modified_at, OrderBy::created_at, OrderBy::size}) {
    std::vector<std::string> whole;
    for (const bool reverse : {false, true}) {
      ListQuery query;
      query.order_by = order;
      query.reverse = reverse;
      query.limit = 1000;
      whole = all(room, alice, root, query);
      ASSERT_EQ(std::set<std::string>(whole.begin(), whole.end()).size(), 64u);
      EXPECT_EQ(whole[0][0], 'd');
      EXPECT_EQ(whole[22][0], 'd');
      for (const int limit : {1, 7, 22, 23, 24, 63, 64}) {
        query.limit = limit;
        EXPECT_EQ(all(room, alice, root, query), whole) << static_cast<int>(order) << reverse << limit;
      }
    }
  }
}

TEST_F(Listing, SizeAndTimeOrderAreByValue) {
  room.put(alice, root, "big", std::string(300, 'x'));
  room.put(alice, root, "small", "x");
  room.put(alice, root, "middle", std::string(20, 'x'));
  ListQuery query;
  query.order_by = OrderBy::size;
  EXPECT_EQ(all(room, alice, root, query), (std::vector<std::string>{"small", "middle", "big"}));
  query.order_by = OrderBy::modified_at;
  query.reverse = true;
  EXPECT_EQ(all(room, alice, root, query), (std::vector<std::string>{"middle", "small", "big"}));
}

TEST_F(Listing, KindsCanBeLeftOut) {
  room.folder(alice, root, "d");
  room.put(alice, root, "f", "");
  ListQuery query;
  query.files = false;
  EXPECT_EQ(all(room, alice, root, query), std::vector<std::string>{"d"});
  query.files = true;
  query.folders = false;
  EXPECT_EQ(all(room, alice, root, query), std::vector<std::string>{"f"});
}

TEST_F(Listing, AnUnusableCursorIsTheFirstPage) {
  room.put(alice, root, "a", "");
  room.put(alice, root, "b", "");
  ListQuery query;
  query.limit = 1;
  const auto first = run(room.files->list(alice, root, query));
  ASSERT_FALSE(first.next.empty());
  ListQuery other = query;
  other.order_by = OrderBy::size;
  other.after = first.next;
  for (const std::string& bad :
       {first.next + "x", std::string("!"), std::string("AAAA"), std::string(5000, 'A')}) {
    query.after = bad;
    EXPECT_EQ(run(room.files->list(alice, root, query)).items.at(0).name, "a") << bad;
  }
  EXPECT_EQ(run(room.files->list(alice, root, other)).items.at(0).name, "a");
}

TEST_F(Listing, VersionMovesWithAnyChangeBelow) {
  const auto d = room.folder(alice, root, "d");
  const auto before = run(room.files->list(alice, root, {})).version;
  EXPECT_EQ(run(room.files->list(alice, root, {})).version, before);
  room.put(alice, d, "deep", "x");
  EXPECT_NE(run(room.files->list(alice, root, {})).version, before);
}

TEST_F(Listing, OrdersThatMustSortAreRefusedAboveTheLimit) {
  room.sql(
      "insert into contents (size, crc32, n_chunks) values (0, 0, 0);"
      "insert into nodes (parent_id, content_id, mtime, etag_seq, created_at, drive_id, etag_drive, kind, "
      "name)"
      " select " +
      std::to_string(root.value) +
      ", (select max(id) from contents), i, 1, i, 1, 1, 1, 'n' || i"
      " from generate_series(1, 20001) i");
  ListQuery query;
  query.order_by = OrderBy::type;
  EXPECT_EQ(refusal_of([&] { return room.files->list(alice, root, query); }), "too_many_to_sort");
  query.order_by = OrderBy::created_at;
  EXPECT_EQ(refusal_of([&] { return room.files->list(alice, root, query); }), "too_many_to_sort");
  for (const auto order : {OrderBy::name, OrderBy::size, OrderBy::modified_at}) {
    query.order_by = order;
    EXPECT_EQ(refusal_of([&] { return room.files->list(alice, root, query); }), "");
  }
}

// Every listing of a large folder must read an index in order; a sort would read the whole folder for each
// page.
TEST_F(Listing, LargeFoldersAreReadThroughAnIndex) {
  room.sql(
      "insert into contents (size, crc32, n_chunks) values (0, 0, 0);"
      "insert into nodes (parent_id, content_id, mtime, etag_seq, created_at, drive_id, etag_drive, kind, "
      "name)"
      " select " +
      std::to_string(root.value) +
      ", (select max(id) from contents), i, 1, i, 1, 1, 1, 'n' || i"
      " from generate_series(1, 5000) i; analyze nodes");
  const auto plan_of = [&](const std::string& key, const std::string& tie, const std::string& direction) {
    return room.database.db().read_now([&](db::Tx& tx) {
      const std::string sql =
          "explain select n.id from nodes n where n.parent_id = " + std::to_string(root.value) +
          " and n.kind = 1 order by " + key + " " + direction + ", " + tie + " " + direction + " limit 50";
      const std::string name = "plan." + key + direction;  // PostgreSQL keeps 63 bytes of a name
      const db::Stmt stmt{name.c_str(), sql.c_str()};
      std::string plan;
      for (const auto row : tx.exec(stmt)) plan += row.str(0) + "\n";
      return plan;
    });
  };
  for (const std::string direction : {"asc", "desc"}) {
    EXPECT_EQ(plan_of("fold_name(n.name)", "n.name", direction).find("Sort"), std::string::npos);
    EXPECT_EQ(plan_of("n.mtime", "n.id", direction).find("Sort"), std::string::npos);
    EXPECT_EQ(plan_of("n.size", "n.id", direction).find("Sort"), std::string::npos);
  }
}

}  // namespace
}  // namespace welkin::files
