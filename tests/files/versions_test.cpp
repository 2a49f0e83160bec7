#include "welkin/files/versions.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "files/room.hpp"

namespace welkin::files {
namespace {

struct FileVersions : ::testing::Test {
  Room room;
  Caller alice = room.user("alice"), bob = room.user("bob");
  NodeId root = room.root(alice), folder = room.folder(alice, root, "d");
  Versions& versions = room.files->versions();
  NodeId file;

  void SetUp() override {
    for (const char* body : {"one", "second", "third one"}) file = write(alice, body).id;
  }
  Node write(const Caller& who, const std::string& body, const std::string& type = "") {
    UploadOptions options;
    options.target = {folder, "f.txt", {}};
    options.mime_type = type;
    return room.put(who, options, body).node;
  }
  std::vector<Version> list(const Caller& who) { return run(versions.list(who, file)).items; }
  std::string body(const Caller& who, VersionId id) {
    const auto opened = run(versions.open(who, file, id));
    const auto bytes = run(room.store->read_all(opened.content, 1 << 20));
    return std::string(as_text(bytes));
  }
  void grant(const Caller& to_whom, std::int32_t rights) {
    room.sql("insert into grants (node_id, user_id, rights) values (" + std::to_string(folder.value) + ", " +
             std::to_string(to_whom.user.value) + ", " + std::to_string(rights) +
             "); update nodes set flags = flags | 1 where id = " + std::to_string(folder.value));
  }
  std::int64_t used() { return room.number("select used_bytes from drives where id = 1"); }
  void expect_sound() {
    EXPECT_EQ(room.wrong_folder_sums(), 0);
    EXPECT_EQ(room.miscounted_bytes(), 0);
  }
};

TEST_F(FileVersions, AreWhatWasNewestFirst) {
  const auto all = list(alice);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].size_bytes, 6u);
  EXPECT_EQ(all[0].author, alice.user);
  EXPECT_EQ(all[0].author_name, "alice");
  EXPECT_EQ(all[0].mime_type, "text/plain");
  EXPECT_TRUE(all[0].sha256);
  EXPECT_EQ(body(alice, all[0].id), "second");
  EXPECT_EQ(body(alice, all[1].id), "one");
  const auto page = run(versions.list(alice, file, {}, 1));
  EXPECT_EQ(page.next, all[0].id);
  EXPECT_EQ(run(versions.list(alice, file, page.next, 1)).items[0].id, all[1].id);
  EXPECT_FALSE(run(versions.list(alice, file, all[0].id, 1)).next);
}

TEST_F(FileVersions, AnEmptyContentIsNone) {
  write(alice, "");
  write(alice, "after");
  EXPECT_EQ(list(alice).size(), 3u);  // "third one" came to them, the empty one did not
  EXPECT_EQ(room.number("select count(*) from content_gc"), 1);
  expect_sound();
}

TEST_F(FileVersions, RestoringSwapsAndCountsNothingTwice) {
  const auto before = run(room.files->node(alice, file));
  const auto bytes = used();
  const auto all = list(alice);
  const auto restored = run(versions.restore(alice, file, all[1].id));
  EXPECT_EQ(restored.id, file);
  EXPECT_NE(restored.etag, before.etag);
  EXPECT_GE(restored.modified_at, before.modified_at);
  EXPECT_EQ(restored.creator, alice.user);
  EXPECT_EQ(room.get(alice, file), "one");
  EXPECT_EQ(used(), bytes);
  const auto now = list(alice);
  ASSERT_EQ(now.size(), 2u);
  EXPECT_EQ(body(alice, now[0].id), "third one");
  EXPECT_EQ(refusal_of([&] { return versions.restore(alice, file, all[1].id); }), "not_found");
  EXPECT_EQ(run(room.files->node(alice, root)).size_bytes, 3u);
  EXPECT_EQ(room.number("select count(*) from changes where op = 2"), 3);
  expect_sound();
}

TEST_F(FileVersions, ALabelKeepsThemAlsoThroughARestore) {
  const auto oldest = list(alice).back().id;
  EXPECT_EQ(run(versions.label(alice, file, oldest, "final")).label, "final");
  EXPECT_EQ(refusal_of([&] { return versions.label(alice, file, oldest, std::string(256, 'x')); }),
            "bad_label");
  EXPECT_EQ(refusal_of([&] { return versions.label(alice, file, oldest, "a\nb"); }), "bad_label");
  EXPECT_EQ(refusal_of([&] { return versions.label(alice, file, oldest, "\xff"); }), "bad_label");
  const auto bytes = used();
  run(versions.restore(alice, file, oldest));
  EXPECT_EQ(used(), bytes + 3);  // it is kept beside the present one
  EXPECT_EQ(list(alice).back().label, "final");
  EXPECT_EQ(run(versions.label(alice, file, oldest, "")).label, "");
  room.sql("update drives set quota_bytes = used_bytes");
  run(versions.label(alice, file, oldest, "kept"));
  EXPECT_EQ(refusal_of([&] { return versions.restore(alice, file, oldest); }), "quota_not_exceeded");
  expect_sound();
}

TEST_F(FileVersions, AreForWhoMayChangeTheFile) {
  const auto one = list(alice)[0].id;
  EXPECT_EQ(refusal_of([&] { return versions.list(bob, file); }), "not_found");
  EXPECT_EQ(refusal_of([&] { return versions.open(bob, file, one); }), "not_found");
  EXPECT_EQ(refusal_of([&] { return versions.restore(bob, file, one); }), "not_found");
  grant(bob, rights::kRead);
  EXPECT_EQ(refusal_of([&] { return versions.list(bob, file); }), "forbidden");
  EXPECT_EQ(refusal_of([&] { return versions.open(bob, file, one); }), "forbidden");
  EXPECT_EQ(refusal_of([&] { return versions.restore(bob, file, one); }), "forbidden");
  EXPECT_EQ(refusal_of([&] { return versions.label(bob, file, one, "x"); }), "forbidden");
  room.sql("update grants set rights = " + std::to_string(rights::kEditor));
  EXPECT_EQ(body(bob, one), "second");
  // What alice can fall back on is not bob's to destroy.
  EXPECT_EQ(refusal_of([&] { return versions.remove(bob, file, one); }), "forbidden");
  EXPECT_EQ(run(versions.restore(bob, file, one)).author, bob.user);
  EXPECT_EQ(run(room.files->node(alice, file)).creator, alice.user);
  Caller reader = alice;
  reader.rights_mask = rights::kRead;
  EXPECT_EQ(refusal_of([&] { return versions.list(reader, file); }), "forbidden");
  Caller limited = alice;
  limited.root_limit = room.folder(alice, root, "elsewhere");
  EXPECT_EQ(refusal_of([&] { return versions.list(limited, file); }), "not_found");
}

TEST_F(FileVersions, BelongToTheirFile) {
  const auto other = room.put(alice, root, "other", "1").node.id;
  const auto one = list(alice)[0].id;
  EXPECT_EQ(refusal_of([&] { return versions.open(alice, other, one); }), "not_found");
  EXPECT_EQ(refusal_of([&] { return versions.restore(alice, other, one); }), "not_found");
  EXPECT_EQ(refusal_of([&] { return versions.label(alice, other, one, "x"); }), "not_found");
  EXPECT_EQ(refusal_of([&] { return versions.remove(alice, other, one); }), "not_found");
  EXPECT_EQ(refusal_of([&] { return versions.list(alice, folder); }), "not_a_file");
  EXPECT_EQ(refusal_of([&] { return versions.restore(alice, folder, one); }), "not_a_file");
  run(room.files->trash(alice, file));
  EXPECT_EQ(refusal_of([&] { return versions.list(alice, file); }), "not_found");
}

TEST_F(FileVersions, RemovingGivesBytesBack) {
  const auto all = list(alice);
  const auto bytes = used();
  run(versions.remove(alice, file, all[0].id));
  EXPECT_EQ(used(), bytes - 6);
  EXPECT_EQ(list(alice).size(), 1u);
  EXPECT_EQ(room.number("select count(*) from content_gc"), 1);
  EXPECT_EQ(room.get(alice, file), "third one");
  expect_sound();
}

TEST_F(FileVersions, LocksAndPreconditionsGuardARestore) {
  const auto one = list(alice)[0].id;
  room.sql(
      "insert into locks (token, node_id, drive_id, expires_at, depth_infinity, exclusive, app) values "
      "('00000000-0000-0000-0000-000000000001', " +
      std::to_string(file.value) + ", 1, now() + interval '1 hour', true, true, 1)");
  EXPECT_EQ(refusal_of([&] { return versions.restore(alice, file, one); }), "lock_token_submitted");
  db::Uuid token{};
  token[15] = 1;
  const Expect stale{Expect::Kind::etag_is, {"00"}};
  EXPECT_EQ(refusal_of([&] { return versions.restore(alice, file, one, stale, {token}); }),
            "precondition_failed");
  EXPECT_EQ(refusal_of([&] { return versions.restore(alice, file, one, {}, {token}); }), "");
}

TEST_F(FileVersions, AgeEndsAllButTheNewestAndTheLabelled) {
  for (int i = 0; i < 20; ++i) write(alice, "body " + std::to_string(i));
  const auto all = list(alice);
  ASSERT_EQ(all.size(), 22u);
  run(versions.label(alice, file, all[21].id, "kept"));
  const auto turns = [&] {
    while (versions.expire_turn()) {
    }
  };
  turns();
  EXPECT_EQ(list(alice).size(), 22u);  // all of them are young
  room.sql("update versions set replaced_at = now() - interval '31 days' where id < " +
           std::to_string(all[4].id.value));
  turns();
  const auto left = list(alice);
  ASSERT_EQ(left.size(), 11u);  // ten newest, and the one with a label
  EXPECT_EQ(left[9].id, all[9].id);
  EXPECT_EQ(left[10].label, "kept");
  turns();
  EXPECT_EQ(list(alice).size(), 11u);
  expect_sound();
}

TEST_F(FileVersions, OverwritesAndRestoresAtOnceLoseNothing) {
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  threads.reserve(4);
  for (int w = 0; w < 4; ++w)
    threads.emplace_back([&, w] {
      for (int i = 0; i < 10; ++i) {
        try {
          if (w % 2 == 0) {
            write(alice, "w" + std::to_string(w) + "-" + std::to_string(i));
          } else {
            const auto all = list(alice);
            run(versions.restore(alice, file, all[static_cast<std::size_t>(i) % all.size()].id));
          }
        } catch (const Error& e) {
          if (e.slug() != std::string("not_found")) ++failed;  // another one was restored first
        }
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(failed, 0);
  // Every content that was ever written is the present one or a version.
  EXPECT_EQ(
      room.number("select count(*) from (select content_id from versions union select content_id from nodes "
                  "where content_id is not null) x"),
      23);
  expect_sound();
}

}  // namespace
}  // namespace welkin::files
