#include "welkin/files/check.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "files/room.hpp"

// Faults of the tree, one of each kind: found without a change, repaired when asked, clean afterwards,
// nothing lost.
namespace welkin::files {
namespace {

using blobs::Finding;
using blobs::Inspection;

class TreeCheckTest : public testing::Test {
 protected:
  TreeCheckTest() : ada(room.user("ada")), root(room.root(ada)) {
    docs = room.folder(ada, root, "docs");
    deep = room.folder(ada, docs, "deep");
    file = room.put(ada, deep, "a.txt", "twelve bytes").node.id;
    room.put(ada, deep, "b.txt", "some more");
    run(room.files->trash(ada, room.folder(ada, root, "old")));
  }

  struct Seen {
    std::vector<Finding> findings;
    bool clean = false;
    std::set<std::string> kinds() const {
      std::set<std::string> out;
      for (const auto& f : findings) out.insert(f.kind);
      return out;
    }
    std::string text() const {
      std::string out;
      for (const auto& f : findings)
        out += f.kind + " " + f.subject + ": " + f.detail + " -> " + f.action + "\n";
      return out;
    }
  };
  Seen check(bool repair) {
    Seen seen;
    Inspection inspection(room.database.db(),
                          {.data_dir = room.directory.string(), .repair = repair, .grace_seconds = {}},
                          [&](const Finding& f) { seen.findings.push_back(f); });
    check_tree(inspection);
    inspection.finish();
    seen.clean = inspection.clean();
    return seen;
  }
  std::string state() {
    std::string out;
    for (const std::string table :
         {"nodes", "folders", "trash", "versions", "drives", "uploads", "changes"}) {
      const std::string text =
          "select coalesce(string_agg(t::text, e'\\n' order by t::text), '') from " + table + " t";
      out += table + ":\n" + room.database.db().read_now([&](db::Tx& tx) {
        const db::Stmt stmt{table.c_str(), text.c_str()};
        return tx.one(stmt)[0].str(0);
      }) + "\n";
    }
    return out;
  }
  /// @param also  kinds that follow from the fault, like sums
  void prove(const std::string& kind, std::set<std::string> also = {}) {
    also.insert(kind);
    const auto before = state();
    const auto look = check(false);
    EXPECT_EQ(look.kinds(), also) << look.text();
    EXPECT_EQ(state(), before) << "a look changes nothing";
    const auto mend = check(true);
    EXPECT_TRUE(mend.clean) << mend.text();
    for (const auto& f : mend.findings) EXPECT_EQ(f.outcome, Finding::Outcome::repaired) << mend.text();
    const auto again = check(false);
    EXPECT_TRUE(again.findings.empty()) << again.text();
    EXPECT_EQ(room.wrong_folder_sums(), 0);
    EXPECT_EQ(room.miscounted_bytes(), 0);
  }
  static std::string text(NodeId id) { return std::to_string(id.value); }
  std::string parent_name(NodeId id) {
    return room.database.db().read_now([&](db::Tx& tx) {
      static constexpr db::Stmt kNames{"test.place", R"(
        select p.id = d.root_id, n.name from nodes n join nodes p on p.id = n.parent_id join drives d on d.id = n.drive_id
         where n.id = $1)"};
      const auto row = tx.one(kNames, id);
      return std::string(row[0].boolean(0) ? "root/" : "elsewhere/") + row[0].str(1);
    });
  }

  Room room;
  Caller ada;
  NodeId root, docs, deep, file;
};

TEST_F(TreeCheckTest, ASoundTreeIsClean) {
  UploadOptions over;
  over.target.file = file;
  room.put(ada, over, "overwritten");
  const auto before = state();
  const auto look = check(true);
  EXPECT_TRUE(look.findings.empty()) << look.text();
  EXPECT_EQ(state(), before);
}

TEST_F(TreeCheckTest, WrongSumsOfAFolder) {
  room.sql("update folders set bytes_below = bytes_below + 5 where node_id = " + text(deep));
  prove("folder.bytes");
}

TEST_F(TreeCheckTest, WrongSumsEverywhere) {
  room.sql("update folders set bytes_below = 0; update drives set used_bytes = 1, reserved_bytes = 7");
  prove("folder.bytes", {"drive.used", "drive.reserved"});
}

TEST_F(TreeCheckTest, AWrongQuotaCount) {
  room.sql("update drives set used_bytes = used_bytes + 1000");
  prove("drive.used");
}

TEST_F(TreeCheckTest, ReservationsThatDoNotAddUp) {
  room.sql(
      "insert into uploads (drive_id, parent_id, reserved, expires_at, name) select id, root_id, 100, now() "
      "+ interval "
      "'1 hour', 'x' from drives");
  prove("drive.reserved");
  EXPECT_EQ(room.number("select reserved_bytes from drives"), 100);
}

TEST_F(TreeCheckTest, AWrongSizeOfAFile) {
  room.sql("update nodes set size = 1 where id = " + text(file));
  prove("node.size", {"folder.bytes", "drive.used"});
  EXPECT_EQ(room.number("select size from nodes where id = " + text(file)), 12);
}

TEST_F(TreeCheckTest, AWrongSizeOfAVersion) {
  UploadOptions over;
  over.target.file = file;
  room.put(ada, over, "overwritten");
  room.sql("update versions set size = 1");
  prove("version.size", {"drive.used"});
}

TEST_F(TreeCheckTest, ACycleComesBackIntoTheRoot) {
  room.sql("update nodes set parent_id = " + text(deep) + " where id = " + text(docs));
  prove("node.cycle", {"folder.bytes"});
  EXPECT_EQ(parent_name(docs), "root/recovered " + text(docs));
  EXPECT_EQ(parent_name(deep), "elsewhere/deep") << "one cut is enough";
  EXPECT_EQ(room.get(ada, file), "twelve bytes");
}

TEST_F(TreeCheckTest, ANodeWithoutAParent) {
  room.sql("update nodes set parent_id = null where id = " + text(deep));
  prove("node.unrooted", {"folder.bytes"});
  EXPECT_EQ(parent_name(deep), "root/recovered " + text(deep));
  EXPECT_EQ(room.get(ada, file), "twelve bytes");
}

TEST_F(TreeCheckTest, ANodeInAFile) {
  const auto stray = room.put(ada, root, "stray", "x").node.id;
  room.sql("update nodes set parent_id = " + text(file) + " where id = " + text(stray));
  prove("node.parent_is_file", {"folder.bytes"});
  EXPECT_EQ(parent_name(stray), "root/recovered " + text(stray));
}

TEST_F(TreeCheckTest, ANodeInAnotherDriveThanItsFolder) {
  const auto bob = room.user("bob");
  room.sql("update nodes set drive_id = (select max(id) from drives) where id in (" + text(deep) + ", " +
           text(file) + ")");
  prove("node.drive", {"drive.used"});
  EXPECT_EQ(room.number("select count(distinct drive_id) from nodes where id in (" + text(docs) + ", " +
                        text(file) + ")"),
            1);
  EXPECT_EQ(room.get(ada, file), "twelve bytes");
  EXPECT_TRUE(bob.user);
}

TEST_F(TreeCheckTest, AFolderWithoutSumsAndAFileWithThem) {
  room.sql("delete from folders where node_id = " + text(deep));
  prove("folder.row_missing", {"folder.bytes"});
  room.sql("insert into folders (node_id, etag_seq, changed_at) values (" + text(file) + ", 1, 1)");
  prove("folder.row_surplus");
}

TEST_F(TreeCheckTest, TrashThatDoesNotListWhatLiesInIt) {
  room.sql("delete from trash");
  prove("trash.unlisted");
  EXPECT_EQ(room.number("select count(*) from trash"), 1);
}

TEST_F(TreeCheckTest, TrashThatListsWhatLiesElsewhere) {
  room.sql(
      "insert into trash (node_id, drive_id, from_parent_id, bytes, from_name) select id, drive_id, "
      "parent_id, 12, name"
      " from nodes where id = " +
      text(file));
  prove("trash.outside");
  EXPECT_EQ(room.get(ada, file), "twelve bytes");
}

TEST_F(TreeCheckTest, TrashOfAnotherDrive) {
  room.sql("update trash set drive_id = drive_id + 1000");
  prove("trash.drive");
}

TEST_F(TreeCheckTest, ADriveWithoutARootIsSaidAndKnown) {
  room.user("bob");
  room.sql("update drives set trash_id = null where id = (select max(id) from drives)");
  const auto look = check(false);
  EXPECT_TRUE(look.kinds().contains("drive.root")) << look.text();
  const auto mend = check(true);
  EXPECT_FALSE(mend.clean);
  EXPECT_TRUE(check(false).clean);
  room.sql(
      "update nodes set parent_id = null, name = '' where name like 'recovered %'; update drives d set "
      "trash_id = (select"
      " id from nodes n where n.drive_id = d.id and n.parent_id is null and n.id <> d.root_id) where "
      "trash_id is null");
  EXPECT_TRUE(check(true).clean);
  EXPECT_EQ(room.number("select count(*) from known_damage where kind = 'drive.root'"), 0);
}

TEST_F(TreeCheckTest, LiveTrafficIsNoFault) {
  constexpr int kWriters = 3, kRounds = 40;
  std::atomic<int> left = kWriters;
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w)
    threads.emplace_back([&, w] {
      const auto mine = room.folder(ada, w % 2 ? docs : deep, "w" + std::to_string(w));
      for (int i = 0; i < kRounds; ++i) {
        const auto made =
            room.put(ada, mine, "f" + std::to_string(i % 7), std::string(static_cast<std::size_t>(i), 'x'));
        if (i % 3 == 0) run(room.files->trash(ada, made.node.id));
      }
      --left;
    });
  int looks = 0;
  for (; left > 0 || looks < 3; ++looks) {
    const auto look = check(looks % 2 == 1);
    EXPECT_TRUE(look.findings.empty()) << look.text();
  }
  for (auto& thread : threads) thread.join();
  RecordProperty("looks", looks);
}

}  // namespace
}  // namespace welkin::files
