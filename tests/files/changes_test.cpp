#include "welkin/files/changes.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "files/room.hpp"
#include "welkin/core/error.hpp"

namespace welkin::files {
namespace {

using Depth = ChangeLog::Depth;

/// What a client has after it has listed a folder once and then only asked for changes: path -> etag (of
/// folders only that they are there).
struct Mirror {
  Room& room;
  Caller caller;
  NodeId folder;
  Depth depth;
  std::map<std::string, std::string> places;
  std::string token;
  int relisted = 0, told = 0;

  void list(NodeId at, const std::string& path, std::map<std::string, std::string>& into) {
    ListQuery query;
    query.limit = 1000;
    for (const auto& node : run(room.files->list(caller, at, query)).items) {
      const std::string here = path.empty() ? node.name : path + "/" + node.name;
      into[here] = node.is_folder() ? "folder" : node.etag;
      if (node.is_folder() && depth == Depth::infinity) list(node.id, here, into);
    }
  }
  std::map<std::string, std::string> truth() {
    std::map<std::string, std::string> out;
    list(folder, "", out);
    return out;
  }
  void start() {
    token = run(room.files->change_log().token(caller, folder));
    places = truth();
  }
  void apply(const ChangePage& page) {
    std::set<std::string> once;
    for (const auto& change : page.items) {
      EXPECT_TRUE(once.insert(change.path).second) << change.path << " twice";
      ++told;
      if (!change.gone) {
        places[change.path] = change.node.is_folder() ? "folder" : change.node.etag;
        continue;
      }
      places.erase(change.path);
      std::erase_if(places, [&](const auto& p) { return p.first.starts_with(change.path + "/"); });
    }
    token = page.token;
  }
  /// As RFC 6578 asks of a client: to the end, or from the beginning when the token is refused.
  void sync(int limit) {
    try {
      for (int pages = 0;; ++pages) {
        ASSERT_LT(pages, 100'000) << "never ends";
        const auto page = run(room.files->change_log().since(caller, folder, token, depth, limit));
        EXPECT_LE(page.items.size(), static_cast<std::size_t>(limit));
        apply(page);
        if (!page.truncated) return;
      }
    } catch (const Error& e) {
      ASSERT_STREQ(e.slug(), "valid-sync-token") << e.what();
      ++relisted;
      start();
    }
  }
};

struct Changes : ::testing::Test {
  Room room;
  Caller alice = room.user("alice"), bob = room.user("bob");
  NodeId root = room.root(alice), shared = room.folder(alice, root, "shared"),
         outside = room.folder(alice, root, "outside");
  ChangeLog& log = room.files->change_log();

  std::string token(NodeId folder) { return run(log.token(alice, folder)); }
  ChangePage since(NodeId folder, const std::string& token, Depth depth = Depth::infinity, int limit = 1000) {
    return run(log.since(alice, folder, token, depth, limit));
  }
  std::string refusal(const Caller& caller, NodeId folder, const std::string& token) {
    return refusal_of([&] { return log.since(caller, folder, token, Depth::infinity, 10); });
  }
  void move(NodeId node, NodeId to, const std::string& name = "") {
    Files::Move move;
    move.parent = to;
    if (!name.empty()) move.name = name;
    run(room.files->move(alice, node, move));
  }
  void grant(const Caller& whom, NodeId node, int mask) {
    room.sql("insert into grants (node_id, user_id, rights) values (" + std::to_string(node.value) + ", " +
             std::to_string(whom.user.value) + ", " + std::to_string(mask) +
             "); update nodes set flags = flags | 1 where id = " + std::to_string(node.value));
  }
  /// "+a -b/c" in the order told.
  static std::string text(const ChangePage& page) {
    std::string out;
    for (const auto& c : page.items)
      out += (out.empty() ? "" : " ") + std::string(c.gone ? "-" : "+") + c.path;
    return out + (page.truncated ? " ..." : "");
  }
};

TEST_F(Changes, TellWhatCameChangedAndWent) {
  const auto a = room.put(alice, shared, "a", "1").node.id, b = room.put(alice, shared, "b", "1").node.id;
  const auto from = token(shared);
  room.put(alice, shared, "a", "2");
  run(room.files->trash(alice, b));
  const auto sub = room.folder(alice, shared, "sub");
  room.put(alice, sub, "deep", "3");
  room.put(alice, outside, "other", "4");
  const auto page = since(shared, from);
  EXPECT_EQ(text(page), "+a -b +sub +sub/deep");
  EXPECT_EQ(page.items[0].node.id, a);
  EXPECT_EQ(page.items[0].node.etag, run(room.files->node(alice, a)).etag);
  EXPECT_EQ(page.items[0].node.rights, rights::kOwner);
  EXPECT_EQ(text(since(shared, from, Depth::one)), "+a -b +sub");
  EXPECT_EQ(text(since(shared, page.token)), "");
  EXPECT_EQ(text(since(root, token(root))), "");
}

TEST_F(Changes, TokenStaysWhileNothingBelowTheFolderChanges) {
  const auto from = token(shared);
  room.put(alice, outside, "x", "1");
  EXPECT_EQ(token(shared), from);
  EXPECT_EQ(since(shared, from).token, from);
  EXPECT_TRUE(run(log.is_current(alice, shared, from)));
  room.put(alice, shared, "x", "1");
  EXPECT_NE(token(shared), from);
  EXPECT_FALSE(run(log.is_current(alice, shared, from)));
  EXPECT_FALSE(run(log.is_current(alice, shared, "nonsense")));
}

TEST_F(Changes, AMoveIsGoneThereAndCameHereWithAllBelow) {
  const auto tree = room.folder(alice, shared, "tree"), sub = room.folder(alice, tree, "sub");
  room.put(alice, tree, "f", "1");
  room.put(alice, sub, "g", "1");
  const auto target = room.folder(alice, shared, "target");
  const auto from = token(shared), from_outside = token(outside);
  move(tree, target, "moved");
  EXPECT_EQ(text(since(shared, from)),
            "+target/moved +target/moved/f +target/moved/sub +target/moved/sub/g -tree");
  EXPECT_TRUE(since(shared, from).items.back().was_folder);
  move(tree, outside);
  EXPECT_EQ(text(since(shared, from)), "-tree -target/moved");
  EXPECT_EQ(text(since(outside, from_outside)), "+moved +moved/f +moved/sub +moved/sub/g");
  EXPECT_EQ(text(since(outside, from_outside, Depth::one)), "+moved");
}

TEST_F(Changes, PagesOfOneGoOnWhereTheyStopped) {
  const auto tree = room.folder(alice, outside, "tree");
  for (int i = 0; i < 3; ++i) {
    const auto sub = room.folder(alice, tree, "s" + std::to_string(i));
    for (int k = 0; k < 3; ++k) room.put(alice, sub, "f" + std::to_string(k), "1");
  }
  const auto from = token(shared);
  move(tree, shared);
  room.put(alice, shared, "last", "1");
  for (const int limit : {1, 2, 3, 5, 13, 14}) {
    std::string all, at = from;
    for (bool more = true; more;) {
      const auto page = since(shared, at, Depth::infinity, limit);
      for (const auto& item : page.items) all += item.path + " ";
      more = page.truncated;
      at = page.token;
    }
    EXPECT_EQ(all,
              "tree tree/s0 tree/s0/f0 tree/s0/f1 tree/s0/f2 tree/s1 tree/s1/f0 tree/s1/f1 tree/s1/f2 "
              "tree/s2 tree/s2/f0 tree/s2/f1 tree/s2/f2 last ")
        << limit;
  }
}

TEST_F(Changes, GoingOnSurvivesThatTheLastOneToldIsGone) {
  const auto tree = room.folder(alice, outside, "tree");
  std::vector<NodeId> nodes;
  for (int i = 0; i < 4; ++i) nodes.push_back(room.put(alice, tree, "f" + std::to_string(i), "1").node.id);
  const auto from = token(shared);
  move(tree, shared);
  const auto first = since(shared, from, Depth::infinity, 3);
  EXPECT_EQ(text(first), "+tree +tree/f0 +tree/f1 ...");
  run(room.files->trash(alice, nodes[1]));
  EXPECT_EQ(text(since(shared, first.token)), "+tree/f0 +tree/f2 +tree/f3 -tree/f1");
}

TEST_F(Changes, BadTokensAreRefused) {
  const auto good = token(shared);
  room.put(alice, shared, "x", "1");
  EXPECT_EQ(refusal(alice, shared, good), "");
  for (const std::string& bad :
       {std::string(), std::string("x"), good + "-", good + "-1", "0" + good, "-" + good, good + "-1-1-1-1",
        std::string("1-1-1-1-zz"), std::string(5000, '1'), std::string("ffffffffffffffff-1-1-1-0")})
    EXPECT_EQ(refusal(alice, shared, bad), "valid-sync-token") << bad;
  EXPECT_EQ(refusal(alice, outside, good), "valid-sync-token");  // another folder's
  EXPECT_EQ(refusal(alice, root, token(shared)), "valid-sync-token");
  EXPECT_EQ(refusal(bob, room.root(bob), good), "valid-sync-token");
  room.sql("update drives set epoch = epoch + 1, seq = seq + 4294967296");  // as a restore does
  EXPECT_EQ(refusal(alice, shared, good), "valid-sync-token");
  EXPECT_EQ(refusal(alice, shared, token(shared)), "");
}

TEST_F(Changes, ATokenOfALaterTimeThanNowIsRefused) {
  room.put(alice, shared, "x", "1");
  const auto late = token(shared);
  room.sql("update drives set seq = seq - 1");
  EXPECT_EQ(refusal(alice, shared, late), "valid-sync-token");
}

TEST_F(Changes, PruningForgetsTheOldAndTellsItToTheirHolders) {
  const auto quiet = token(outside);
  const auto old = token(shared);
  for (int i = 0; i < 30; ++i) room.put(alice, shared, "f" + std::to_string(i), "1");
  const auto recent = token(shared);
  room.put(alice, shared, "g", "1");
  EXPECT_EQ(since(shared, old).items.size(), 31u);
  ChangeLog small(room.database.db(), {3600, 10, 7});
  int turns = 0;
  while (small.prune() && turns < 100) ++turns;
  EXPECT_LT(turns, 100);
  EXPECT_EQ(room.number("select count(*) from changes where drive_id = 1"), 10);
  EXPECT_EQ(refusal(alice, shared, old), "valid-sync-token");
  EXPECT_EQ(text(since(shared, recent)), "+g");
  EXPECT_EQ(text(since(outside, quiet)), "");  // as long as nothing changed there
  room.sql("update changes set at_s = at_s - 7200");
  while (small.prune()) {
  }
  EXPECT_EQ(room.number("select count(*) from changes"), 0);
  EXPECT_EQ(refusal(alice, shared, recent), "valid-sync-token");
  EXPECT_EQ(refusal(alice, shared, token(shared)), "");
}

TEST_F(Changes, PruningTakesWhatIsLeftOfDrivesThatAreGone) {
  room.sql(
      "insert into changes (drive_id, seq, node_id, parent_id, op) select 999, g, 1, 1, 1 from "
      "generate_series(1, 20) g");
  ChangeLog small(room.database.db(), {3600, 1000, 7});
  while (small.prune()) {
  }
  EXPECT_EQ(room.number("select count(*) from changes where drive_id = 999"), 0);
}

TEST_F(Changes, WhoMayNotReadLearnsNothing) {
  const auto from = token(shared);
  room.put(alice, shared, "x", "1");
  EXPECT_EQ(refusal(bob, shared, from), "not_found");
  EXPECT_EQ(refusal_of([&] { return log.token(bob, shared); }), "not_found");
  Caller drop;
  drop.credential = Credential::link;
  drop.link_node = shared;
  drop.link_rights = rights::kCreate;
  EXPECT_EQ(refusal(drop, shared, from), "not_found");
  grant(bob, shared, rights::kRead);
  EXPECT_EQ(refusal(bob, shared, from), "");
  EXPECT_EQ(refusal(bob, root, from), "not_found");
  Caller limited = alice;
  limited.root_limit = outside;
  EXPECT_EQ(refusal(limited, shared, from), "not_found");
  limited.root_limit = shared;
  EXPECT_EQ(refusal(limited, shared, from), "");
  const auto file = room.put(alice, shared, "file", "").node.id;
  EXPECT_EQ(refusal(alice, file, from), "not_a_folder");
  run(room.files->trash(alice, shared));
  EXPECT_EQ(refusal(alice, shared, from), "not_found");
}

TEST_F(Changes, RightsAreThoseOfThePlace) {
  grant(bob, shared, rights::kRead);
  const auto sub = room.folder(alice, shared, "sub");
  grant(bob, sub, rights::kContributor);
  const auto from = run(log.token(bob, shared));
  const auto file = room.put(alice, sub, "f", "1").node.id;
  room.put(alice, shared, "g", "1");
  grant(bob, file, rights::kUpdate);
  const auto page = run(log.since(bob, shared, from, Depth::infinity, 10));
  ASSERT_EQ(page.items.size(), 2u);
  EXPECT_EQ(page.items[0].node.rights, rights::kContributor | rights::kUpdate);
  EXPECT_EQ(page.items[0].node.rights, run(room.files->node(bob, file)).rights);
  EXPECT_EQ(page.items[1].node.rights, rights::kRead);
  Caller reader = bob;
  reader.rights_mask = rights::kRead;
  EXPECT_EQ(run(log.since(reader, shared, from, Depth::infinity, 10)).items[0].node.rights, rights::kRead);
}

// What was deleted from a private folder must not be told to those it is moved among later.
TEST_F(Changes, NamesFromBeforeAFolderCameAreNotTold) {
  grant(bob, shared, rights::kRead);
  const auto from = run(log.token(bob, shared));
  const auto plans = room.folder(alice, outside, "plans");
  const auto secret = room.put(alice, plans, "secret", "1").node.id;
  run(room.files->trash(alice, secret));
  room.put(alice, plans, "open", "1");
  move(plans, shared);
  const auto page = run(log.since(bob, shared, from, Depth::infinity, 100));
  EXPECT_EQ(text(page), "+plans +plans/open");
}

TEST_F(Changes, AFolderThatLeftAndCameBackTellsWhatItLost) {
  const auto tree = room.folder(alice, shared, "tree");
  const auto lost = room.put(alice, tree, "lost", "1").node.id;
  const auto from = token(shared);
  move(tree, outside);
  run(room.files->trash(alice, lost));
  move(tree, shared);
  EXPECT_EQ(text(since(shared, from)), "-tree/lost +tree");
}

TEST_F(Changes, AReplacedFolderNeedsANewListing) {
  const auto tree = room.folder(alice, shared, "tree");
  room.put(alice, tree, "old", "1");
  const auto from = token(shared), from_tree = token(tree);
  run(room.files->trash(alice, tree));
  const auto again = room.folder(alice, shared, "tree");
  EXPECT_EQ(refusal(alice, shared, from), "valid-sync-token");
  EXPECT_EQ(text(since(shared, from, Depth::one)), "+tree");
  EXPECT_EQ(refusal(alice, again, from_tree), "valid-sync-token");
}

TEST_F(Changes, MountsBelowAreAPartOfTheToken) {
  const auto from = run(log.token(bob, room.root(bob)));
  const auto deep = room.folder(bob, room.root(bob), "deep");
  const auto from_deep = run(log.token(bob, deep));
  room.sql("insert into mounts (user_id, parent_id, target_id, name) values (" +
           std::to_string(bob.user.value) + ", " + std::to_string(room.root(bob).value) + ", " +
           std::to_string(shared.value) + ", 'm')");
  EXPECT_EQ(refusal(bob, room.root(bob), from), "");  // opens nothing yet
  grant(bob, shared, rights::kRead);
  EXPECT_EQ(refusal(bob, room.root(bob), from), "valid-sync-token");
  EXPECT_EQ(refusal(bob, deep, from_deep), "");
  const auto mounted = run(log.token(bob, room.root(bob)));
  room.put(alice, shared, "x", "1");
  EXPECT_EQ(refusal(bob, room.root(bob), mounted), "");
  room.sql("delete from grants");
  EXPECT_EQ(refusal(bob, room.root(bob), mounted), "valid-sync-token");
}

TEST_F(Changes, AMirrorKeptByChangesEqualsAListing) {
  std::mt19937 random(20261130);
  const auto next = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  std::vector<NodeId> folders{shared, outside};
  for (int i = 0; i < 8; ++i)
    folders.push_back(room.folder(alice, folders[next(folders.size())],
                                  "d" + std::to_string(next(4)) + "-" + std::to_string(i % 2)));
  std::vector<std::unique_ptr<Mirror>> mirrors;
  for (const auto depth : {Depth::one, Depth::infinity})
    for (int i = 0; i < 2; ++i) {
      mirrors.push_back(std::make_unique<Mirror>(Mirror{room, alice, shared, depth, {}, "", 0, 0}));
      mirrors.back()->start();
    }
  for (int round = 0; round < 60; ++round) {
    for (std::size_t i = 0; i < 1 + next(12); ++i) {
      const auto at = folders[next(folders.size())];
      // Names are few, so that places are taken again and again; refusals are part of the game.
      const std::string name = "n" + std::to_string(next(5));
      try {
        switch (next(8)) {
          case 0:
            folders.push_back(room.folder(alice, at, name));
            break;
          case 1:
          case 2:
            room.put(alice, at, name, "x");
            break;
          case 3:
          case 4:
            move(folders[2 + next(folders.size() - 2)], at, next(2) ? name : "");
            break;
          case 5:
            run(room.files->trash(alice, folders[2 + next(folders.size() - 2)]));
            break;
          default: {
            const auto page = run(room.files->list(alice, at, {OrderBy::name, false, false, true, 50, ""}));
            if (page.items.empty()) break;
            const auto file = page.items[next(page.items.size())].id;
            if (next(2))
              run(room.files->trash(alice, file));
            else
              move(file, folders[next(folders.size())], name);
          }
        }
      } catch (const Error& e) {
        ASSERT_NE(e.code(), Errc::internal) << e.what();
      }
    }
    for (std::size_t i = 0; i < mirrors.size(); ++i) {
      auto& mirror = *mirrors[i];
      if (i % 2 == 1 && round % 3 != 0) continue;  // one of each kind looks seldom
      mirror.sync(i % 2 == 0 ? static_cast<int>(1 + next(4)) : 1000);
      ASSERT_EQ(mirror.places, mirror.truth()) << "round " << round << " mirror " << i;
    }
  }
  for (const auto& mirror : mirrors) EXPECT_GT(mirror->told, 10);
  EXPECT_EQ(mirrors[0]->relisted, 0);  // only whole trees can be replaced
  EXPECT_LT(mirrors[2]->relisted, 30);
}

// Numbers follow commit order, so a reader who polls while many write misses nothing.
TEST_F(Changes, APollerMissesNothingUnderManyWriters) {
  Mirror mirror{room, alice, shared, Depth::infinity, {}, "", 0, 0};
  mirror.start();
  std::atomic<int> running{6};
  std::vector<std::thread> writers;
  for (int w = 0; w < 6; ++w)
    writers.emplace_back([&, w] {
      for (int i = 0; i < 25; ++i) {
        try {
          room.put(alice, i % 3 ? shared : outside, std::to_string(w) + "-" + std::to_string(i % 7), "x");
        } catch (const Error&) {
        }
      }
      --running;
    });
  try {
    while (running > 0) mirror.sync(3);
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
  for (auto& writer : writers) writer.join();
  mirror.sync(3);
  EXPECT_EQ(mirror.relisted, 0);
  EXPECT_EQ(mirror.places, mirror.truth());
}

}  // namespace
}  // namespace welkin::files
