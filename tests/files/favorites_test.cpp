#include "welkin/files/favorites.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "files/room.hpp"
#include "welkin/files/trash.hpp"

namespace welkin::files {
namespace {

struct FavoritesTest : ::testing::Test {
  Room room;
  Caller alice = room.user("alice"), bob = room.user("bob");
  NodeId home = room.root(alice);

  std::vector<std::string> names(const MarkPage& page) {
    std::vector<std::string> out;
    for (const auto& item : page.items) out.push_back(item.node.name);
    return out;
  }
  std::vector<std::string> favorites(const Caller& caller, MarkOrder by = MarkOrder::name,
                                     bool reverse = false) {
    MarkQuery query;
    query.order_by = by;
    query.reverse = reverse;
    return names(run(room.files->favorites().list(caller, query)));
  }
  void set(const Caller& caller, std::vector<NodeId> items) {
    run(room.files->favorites().set(caller, std::move(items)));
  }
  /// Marks alice's as many further files, which have the content of `like`.
  void crowd(NodeId like, std::int64_t files, const std::string& table) {
    const auto folder = room.folder(alice, home, "crowd");
    room.sql(
        "with made as (insert into nodes (parent_id, content_id, mtime, etag_seq, created_at, drive_id, "
        "etag_drive, kind, name) select " +
        std::to_string(folder.value) +
        ", n.content_id, 1, 1, 1, n.drive_id, n.drive_id, 1, 'x' || i from nodes n, generate_series(1, " +
        std::to_string(files) + ") i where n.id = " + std::to_string(like.value) +
        " returning id) insert into " + table + " (user_id, node_id, at) select " +
        std::to_string(alice.user.value) + ", id, now() - interval '1 day' from made");
  }
  void grant(NodeId node, const Caller& to) {
    room.sql("insert into grants (node_id, user_id, rights) values (" + std::to_string(node.value) + ", " +
             std::to_string(to.user.value) +
             ", 1); update nodes set flags = flags | 1 where id = " + std::to_string(node.value));
  }
};

using Names = std::vector<std::string>;

TEST_F(FavoritesTest, AreSetOnceShownAndTakenAway) {
  const auto folder = room.folder(alice, home, "trip");
  const auto file = room.put(alice, folder, "a.txt", "a").node.id;
  auto added = run(room.files->favorites().set(alice, {file, folder, file}));
  EXPECT_EQ(added.requested, 2);
  EXPECT_EQ(added.inserted, 2);
  added = run(room.files->favorites().set(alice, {file}));
  EXPECT_EQ(added.inserted, 0);
  EXPECT_EQ(favorites(alice), (Names{"trip", "a.txt"}));
  EXPECT_TRUE(favorites(bob).empty()) << "favourites are a user's own";
  EXPECT_TRUE(run(room.files->node(alice, file)).is_favorite);
  EXPECT_FALSE(run(room.files->node(alice, home)).is_favorite);
  EXPECT_TRUE(run(room.files->list(alice, folder, {})).items.at(0).is_favorite);
  EXPECT_TRUE(run(room.files->favorites().unset(alice, file)));
  EXPECT_FALSE(run(room.files->favorites().unset(alice, file)));
  EXPECT_EQ(favorites(alice), Names{"trip"});
}

TEST_F(FavoritesTest, AreAllSetOrNone) {
  const auto mine = room.put(alice, home, "mine", "x").node.id;
  const auto others = room.put(bob, room.root(bob), "others", "x").node.id;
  EXPECT_EQ(refusal_of([&] { return room.files->favorites().set(alice, {mine, others}); }), "not_found");
  EXPECT_EQ(refusal_of([&] { return room.files->favorites().set(alice, {mine, NodeId{999'999'999}}); }),
            "not_found");
  EXPECT_TRUE(favorites(alice).empty());
}

TEST_F(FavoritesTest, AreHiddenWhileTheyCannotBeRead) {
  const auto shared = room.folder(alice, home, "shared");
  const auto inside = room.put(alice, shared, "inside", "x").node.id;
  const auto own = room.put(alice, shared, "with grants of its own", "x").node.id;
  grant(shared, bob);
  grant(own, bob);
  set(bob, {inside, own, shared});
  EXPECT_EQ(favorites(bob), (Names{"shared", "inside", "with grants of its own"}));
  EXPECT_EQ(run(room.files->favorites().list(bob, {})).items.at(0).node.path, "") << "nothing of the way";
  room.sql("delete from grants where node_id = " + std::to_string(shared.value));
  EXPECT_EQ(favorites(bob), Names{"with grants of its own"});
  run(room.files->trash(alice, shared));
  EXPECT_TRUE(favorites(bob).empty());
  run(room.files->trash_bin().restore(alice, shared));
  EXPECT_EQ(favorites(bob), Names{"with grants of its own"});
  EXPECT_TRUE(run(room.files->favorites().unset(bob, inside))) << "what is hidden can still be given up";
  run(room.files->trash(alice, shared));
  run(room.files->trash_bin().purge(alice, shared));
  EXPECT_EQ(room.number("select count(*) from favorites"), 0) << "marks go with the node";
}

TEST_F(FavoritesTest, HaveOrders) {
  const auto folder = room.folder(alice, home, "Zoo");
  const auto b = room.put(alice, home, "b.txt", "333").node.id;
  const auto a = room.put(alice, home, "Äpfel.txt", "1").node.id;
  const auto c = room.put(alice, home, "c.jpg", "22").node.id;
  for (const auto id : {c, folder, a, b}) set(alice, {id});
  EXPECT_EQ(favorites(alice), (Names{"Zoo", "Äpfel.txt", "b.txt", "c.jpg"}));
  EXPECT_EQ(favorites(alice, MarkOrder::name, true), (Names{"Zoo", "c.jpg", "b.txt", "Äpfel.txt"}));
  EXPECT_EQ(favorites(alice, MarkOrder::type), (Names{"Zoo", "c.jpg", "Äpfel.txt", "b.txt"}));
  EXPECT_EQ(favorites(alice, MarkOrder::size), (Names{"Zoo", "Äpfel.txt", "c.jpg", "b.txt"}));
  EXPECT_EQ(favorites(alice, MarkOrder::marked_at), (Names{"b.txt", "Äpfel.txt", "Zoo", "c.jpg"}));
  EXPECT_EQ(favorites(alice, MarkOrder::marked_at, true), (Names{"c.jpg", "Zoo", "Äpfel.txt", "b.txt"}));
  EXPECT_EQ(favorites(alice, MarkOrder::owner).size(), 4u);
}

TEST_F(FavoritesTest, PagesNeitherRepeatNorSkip) {
  const auto shared = room.folder(bob, room.root(bob), "shared");
  std::vector<NodeId> mine, others;
  for (int i = 0; i < 12; ++i) {
    mine.push_back(room.put(alice, home, "mine" + std::to_string(i), std::string(i, 'x')).node.id);
    others.push_back(room.put(bob, shared, "other" + std::to_string(i), std::string(i, 'x')).node.id);
  }
  grant(shared, alice);
  for (std::size_t i = 0; i < mine.size(); ++i) set(alice, {mine[i], others[i]});
  room.sql("delete from grants");  // half of the candidates are hidden now
  for (const auto by : {MarkOrder::marked_at, MarkOrder::name, MarkOrder::type, MarkOrder::modified_at,
                        MarkOrder::size, MarkOrder::owner}) {
    for (const bool reverse : {false, true}) {
      MarkQuery query{by, reverse, true, true, 5, ""};
      Names seen;
      int pages = 0;
      do {
        const auto page = run(room.files->favorites().list(alice, query));
        for (const auto& item : page.items) seen.push_back(item.node.name);
        query.after = page.next;
        ASSERT_LE(++pages, 3);
      } while (!query.after.empty());
      EXPECT_EQ(seen, favorites(alice, by, reverse));
      std::sort(seen.begin(), seen.end());
      EXPECT_EQ(seen.size(), 12u);
      EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
    }
  }
  MarkQuery query{MarkOrder::name, false, true, true, 5, ""};
  const auto first = run(room.files->favorites().list(alice, query));
  query.order_by = MarkOrder::size;
  query.after = first.next;  // made for another order
  EXPECT_EQ(run(room.files->favorites().list(alice, query)).items.at(0).node.name, "mine0");
  query.after = "no cursor of ours";
  EXPECT_EQ(run(room.files->favorites().list(alice, query)).items.at(0).node.name, "mine0");
  query = MarkQuery{MarkOrder::name, false, true, false, 50, ""};
  EXPECT_TRUE(run(room.files->favorites().list(alice, query)).items.empty()) << "folders only";
}

TEST_F(FavoritesTest, AmongManyAreToldByOneLook) {
  std::vector<NodeId> all;
  for (int i = 0; i < 9; ++i) all.push_back(room.put(alice, home, "f" + std::to_string(i), "x").node.id);
  set(alice, {all[7], all[2]});
  EXPECT_EQ(run(room.files->favorites().among(alice, all)), (std::vector<NodeId>{all[2], all[7]}));
  EXPECT_TRUE(run(room.files->favorites().among(bob, all)).empty());
  EXPECT_TRUE(run(room.files->favorites().among(alice, {})).empty());
}

TEST_F(FavoritesTest, OfAFolderPasswordAreThoseInTheFolder) {
  const auto folder = room.folder(alice, home, "folder");
  const auto inside = room.put(alice, folder, "inside", "x").node.id;
  const auto outside = room.put(alice, home, "outside", "x").node.id;
  set(alice, {inside, outside, folder});
  run(room.files->recent().touch(alice, inside));
  run(room.files->recent().touch(alice, outside));
  Caller limited = alice;
  limited.root_limit = folder;
  EXPECT_EQ(favorites(limited), (Names{"folder", "inside"}));
  set(limited, {folder});
  EXPECT_EQ(refusal_of([&] { return room.files->favorites().set(limited, {outside}); }), "not_found");
  run(room.files->recent().clear(limited));
  EXPECT_EQ(names(run(room.files->recent().list(alice, {}))), Names{"outside"});
  Caller reader = alice;
  reader.rights_mask = rights::kRead;
  EXPECT_EQ(refusal_of([&] { return room.files->favorites().set(reader, {outside}); }), "read_only");
  EXPECT_EQ(refusal_of([&] { return room.files->favorites().unset(reader, outside); }), "read_only");
  EXPECT_EQ(refusal_of([&] { return room.files->recent().touch(reader, outside); }), "read_only");
  EXPECT_EQ(refusal_of([&] { return room.files->recent().clear(reader); }), "read_only");
}

TEST_F(FavoritesTest, HaveALimit) {
  const auto file = room.put(alice, home, "one", "x").node.id;
  crowd(file, Favorites::kMax - 1, "favorites");
  const auto more = room.put(alice, home, "more", "x").node.id;
  EXPECT_EQ(refusal_of([&] { return room.files->favorites().set(alice, {file, more}); }),
            "too_many_favorites");
  set(alice, {file});
  EXPECT_EQ(refusal_of([&] { return room.files->favorites().set(alice, {more}); }), "too_many_favorites");
}

TEST_F(FavoritesTest, RecentKeepsTheNewestAndForgets) {
  const auto a = room.put(alice, home, "a", "x").node.id, b = room.put(alice, home, "b", "x").node.id;
  run(room.files->recent().touch(alice, a));
  run(room.files->recent().touch(alice, b));
  EXPECT_EQ(names(run(room.files->recent().list(alice, {}))), (Names{"b", "a"}));
  run(room.files->recent().touch(alice, a));
  EXPECT_EQ(names(run(room.files->recent().list(alice, {}))), (Names{"a", "b"}));
  EXPECT_EQ(refusal_of([&] { return room.files->recent().touch(bob, a); }), "not_found");
  EXPECT_TRUE(run(room.files->recent().remove(alice, b)));
  EXPECT_FALSE(run(room.files->recent().remove(alice, b)));
  crowd(a, 300, "recent");
  run(room.files->recent().touch(alice, b));
  EXPECT_EQ(room.number("select count(*) from recent"), Recent::kMax);
  EXPECT_EQ(run(room.files->recent().list(alice, {})).items.at(1).node.name, "a")
      << "the oldest were forgotten";
  run(room.files->recent().clear(alice));
  EXPECT_EQ(room.number("select count(*) from recent"), 0);
}

}  // namespace
}  // namespace welkin::files
