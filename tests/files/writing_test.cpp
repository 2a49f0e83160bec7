#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "files/room.hpp"
#include "welkin/core/crypto.hpp"
#include "welkin/core/error.hpp"

namespace welkin::files {
namespace {

struct Writing : ::testing::Test {
  Room room;
  Caller alice = room.user("alice");
  NodeId root = room.root(alice);

  /// Runs `work(i)` on `n` threads.
  template <class F>
  void together(int n, F work) {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) threads.emplace_back([&work, i] { work(i); });
    for (auto& t : threads) t.join();
  }
  void expect_sound() {
    EXPECT_EQ(room.wrong_folder_sums(), 0);
    EXPECT_EQ(room.miscounted_bytes(), 0);
    EXPECT_EQ(room.number("select coalesce(sum(reserved_bytes), 0)::bigint from drives"), 0);
  }
};

TEST_F(Writing, EverySizeComesBack) {
  for (const std::size_t size : {0u, 1u, 65'535u, 65'536u, 65'537u, 1'048'576u, 1'048'577u, 5'000'000u}) {
    std::string body(size, '\0');
    for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>((i * 2654435761u) >> 13);
    const auto written = room.put(alice, root, "f" + std::to_string(size), body);
    EXPECT_TRUE(written.created);
    EXPECT_EQ(written.node.size_bytes, size);
    EXPECT_EQ(*written.node.sha256, crypto::sha256(body));
    EXPECT_EQ(room.get(alice, written.node.id), body) << size;
    EXPECT_EQ(run(room.files->node(alice, written.node.id)).etag, written.node.etag);
  }
  expect_sound();
}

TEST_F(Writing, OverwritingKeepsIdAndTheOldContentAsAVersion) {
  const auto first = room.put(alice, root, "f", "one");
  const auto second = room.put(alice, root, "f", "three");
  EXPECT_FALSE(second.created);
  EXPECT_EQ(second.node.id, first.node.id);
  EXPECT_NE(second.node.etag, first.node.etag);
  EXPECT_EQ(second.node.created_at, first.node.created_at);
  EXPECT_EQ(room.get(alice, first.node.id), "three");
  EXPECT_EQ(room.number("select count(*) from versions"), 1);
  EXPECT_EQ(run(room.files->node(alice, root)).size_bytes, 5u);
  expect_sound();
}

TEST_F(Writing, PreconditionsDecide) {
  const auto file = room.put(alice, root, "f", "1").node;
  const auto with = [&](const char* name, Expect expect, bool overwrite = true) -> std::string {
    UploadOptions options;
    options.target = {root, name, {}};
    options.expect = std::move(expect);
    options.overwrite = overwrite;
    try {
      room.put(alice, options, "2");
    } catch (const Error& e) {
      return e.slug();
    }
    return "";
  };
  using K = Expect::Kind;
  EXPECT_EQ(with("f", {K::must_be_new, {}}), "precondition_failed");
  EXPECT_EQ(with("f", {}, false), "exists");
  EXPECT_EQ(with("f", {K::etag_is, {"0"}}), "precondition_failed");
  EXPECT_EQ(with("f", {K::etag_is, {"x," + file.etag}}), "precondition_failed");
  EXPECT_EQ(with("f", {K::etag_is_not, {file.etag}}), "precondition_failed");
  EXPECT_EQ(with("new", {K::must_exist, {}}), "precondition_failed");
  EXPECT_EQ(with("new", {K::etag_is, {file.etag}}), "precondition_failed");
  EXPECT_EQ(room.number("select count(*) from nodes where kind = 1"), 1);
  EXPECT_EQ(with("f", {K::etag_is, {file.etag}}), "");
  EXPECT_EQ(with("new", {K::must_be_new, {}}), "");
  EXPECT_EQ(with("f", {K::must_exist, {}}), "");
  room.folder(alice, root, "d");
  EXPECT_EQ(with("d", {}), "is_a_folder");
}

TEST_F(Writing, WhoIsDisabledMeanwhileWritesNothing) {
  UploadOptions options;
  options.target = {root, "f", {}};
  const auto slug = refusal_of([&]() -> Task<> {
    const auto upload = co_await room.files->begin_upload(alice, options);
    co_await upload->write(as_bytes("x"));
    room.sql("update users set is_disabled = true");
    co_await upload->finish();
  });
  EXPECT_EQ(slug, "forbidden");
  EXPECT_EQ(room.number("select count(*) from nodes where kind = 1"), 0);
}

// Signed out, revoked or run out: what such a credential had begun to send is not stored.
TEST_F(Writing, WhoseCredentialHasEndedMeanwhileWritesNothing) {
  room.sql(
      "insert into sessions (user_id, access_hash, access_expires_at, refresh_hash, refresh_expires_at, "
      "ends_at, "
      "address, user_agent) select id, sha256('a'), now(), sha256('r'), now() + '1 day', now() + '1 day', "
      "'', '' from "
      "users; insert into app_passwords (user_id, label, prefix, secret_hash, protocol_mask) select id, 'x', "
      "'x', "
      "sha256('s'), 31 from users");
  Caller by_session = alice, by_password = alice;
  by_session.session = SessionId{room.number("select id from sessions")};
  by_password.credential = Credential::app_password;
  by_password.app_password = AppPasswordId{room.number("select id from app_passwords")};
  const auto store = [&](const Caller& caller, const std::string& name, std::size_t size,
                         const std::string& between) {
    return refusal_of([&]() -> Task<> {
      UploadOptions options;
      options.target = {root, name, {}};
      options.size_hint = size;
      const auto upload = co_await room.files->begin_upload(caller, options);
      co_await upload->write(as_bytes(std::string(size, 'x')));
      if (!between.empty()) room.sql(between);
      co_await upload->finish();
    });
  };
  EXPECT_EQ(store(by_session, "a", 10, ""),
            "");  // the access token may run out meanwhile, the session goes on
  EXPECT_EQ(store(by_password, "b", 10, ""), "");
  for (const std::size_t size : {10u, 200'000u}) {
    EXPECT_EQ(store(by_session, "c", size, "update sessions set ends_at = now()"), "signed_out");
    room.sql("update sessions set ends_at = now() + interval '1 day'");
    for (const char* end : {"revoked_at = now()", "expires_at = now()"}) {
      EXPECT_EQ(store(by_password, "c", size, "update app_passwords set " + std::string(end)), "signed_out")
          << end;
      room.sql("update app_passwords set revoked_at = null, expires_at = null");
    }
  }
  EXPECT_EQ(store(by_session, "c", 10, "delete from sessions"), "signed_out");
  EXPECT_EQ(store(by_password, "c", 10, "delete from app_passwords"), "signed_out");
  EXPECT_EQ(run(room.files->list(alice, root, {})).items.size(), 2u);
  expect_sound();
}

TEST_F(Writing, ABodyOfUnknownLengthStopsAtTheQuota) {
  const auto poor = room.user("poor", 100'000);
  UploadOptions options;
  options.target = {room.root(poor), "f", {}};
  const auto slug = refusal_of([&]() -> Task<> {
    const auto upload = co_await room.files->begin_upload(poor, options);
    for (int i = 0; i < 2; ++i) co_await upload->write(as_bytes(std::string(80'000, 'x')));
    ADD_FAILURE() << "written beyond the quota";
  });
  EXPECT_EQ(slug, "quota_not_exceeded");
}

TEST_F(Writing, LostRacesCostNoNumbersOfTypes) {
  for (int round = 0; round < 3; ++round) {
    together(6, [&](int w) {
      UploadOptions options;
      options.target = {root, std::to_string(round) + "-" + std::to_string(w), {}};
      options.mime_type = "x/type-" + std::to_string(round);
      room.put(alice, options, "x");
    });
  }
  EXPECT_EQ(room.number("select max(id)::bigint from mime_types"), 3);
}

TEST_F(Writing, NobodyFillsTheDictionaryOfTypes) {
  const Caller bob = room.user("bob");
  const auto type_of = [&](const Caller& who, const std::string& name, const std::string& type) {
    UploadOptions options;
    options.target.parent = room.root(who);
    options.target.name = name;
    options.mime_type = type;
    return room.put(who, options, "x").node.mime_type;
  };
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(type_of(alice, std::to_string(i), "x/" + std::to_string(i)), "x/" + std::to_string(i));
  EXPECT_EQ(type_of(alice, "a", "x/one-too-many"), "application/octet-stream");
  EXPECT_EQ(type_of(alice, "b", "x/7"), "x/7") << "what is there serves everybody";
  EXPECT_EQ(type_of(alice, "c", "image/png"), "image/png") << "what the server knows always gets in";
  EXPECT_EQ(type_of(bob, "a", "x/bobs"), "x/bobs");
  EXPECT_EQ(type_of(alice, "d", "x/bobs"), "x/bobs");
}

TEST_F(Writing, AWrongDigestStoresNothing) {
  UploadOptions options;
  options.target = {root, "f", {}};
  options.sha256 = crypto::sha256("something else");
  EXPECT_THROW(room.put(alice, options, "body"), Error);
  EXPECT_EQ(room.number("select count(*) from nodes where kind = 1"), 0);
  options.sha256 = crypto::sha256("body");
  room.put(alice, options, "body");
}

// W5 of the durability contract: of any number of writers on one path, every acknowledged content stays
// reachable.
TEST_F(Writing, WritersOnOnePathLoseNothing) {
  constexpr int kWriters = 8, kRounds = 25;
  std::atomic<int> acknowledged{0};
  together(kWriters, [&](int w) {
    for (int r = 0; r < kRounds; ++r) {
      room.put(alice, root, "f", "writer " + std::to_string(w) + " round " + std::to_string(r));
      ++acknowledged;
    }
  });
  EXPECT_EQ(acknowledged, kWriters * kRounds);
  EXPECT_EQ(room.number("select count(distinct content_id) from (select content_id from versions union all "
                        "select content_id from nodes where kind = 1) x"),
            kWriters * kRounds);
  EXPECT_EQ(room.number("select count(distinct b.body) from inline_bodies b"), kWriters * kRounds);
  expect_sound();
}

TEST_F(Writing, OfManyWithTheSameEtagOneWins) {
  auto etag = room.put(alice, root, "f", "0").node.etag;
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> won{0}, failed{0};
    together(8, [&](int) {
      UploadOptions options;
      options.target = {root, "f", {}};
      options.expect = {Expect::Kind::etag_is, {etag}};
      try {
        room.put(alice, options, "x");
        ++won;
      } catch (const Error& e) {
        if (e.code() == Errc::precondition_failed) ++failed;
      }
    });
    EXPECT_EQ(won, 1);
    EXPECT_EQ(failed, 7);
    etag = run(room.files->by_path(alice, {"f"})).etag;
  }
  expect_sound();
}

TEST_F(Writing, ManyNewNamesAtOnceAreGathered) {
  const auto before = room.number("select seq from drives where id = 1");
  together(8, [&](int w) {
    for (int i = 0; i < 30; ++i)
      room.put(alice, root, std::to_string(w) + "-" + std::to_string(i), std::string(100, 'x'));
  });
  EXPECT_EQ(room.number("select count(*) from nodes where kind = 1"), 240);
  EXPECT_EQ(room.number("select count(*) from changes where op = 1"), 240);
  EXPECT_LT(room.number("select seq from drives where id = 1") - before, 240);
  expect_sound();
}

TEST_F(Writing, NoBurstPassesTheQuota) {
  const auto poor = room.user("poor", 10'000);
  const auto home = room.root(poor);
  std::atomic<int> stored{0}, refused{0};
  together(16, [&](int w) {
    for (int i = 0; i < 4; ++i) {
      try {
        room.put(poor, home, std::to_string(w) + "-" + std::to_string(i), std::string(1000, 'x'));
        ++stored;
      } catch (const Error& e) {
        if (e.code() == Errc::quota_exceeded) ++refused;
      }
    }
  });
  EXPECT_EQ(stored, 10);
  EXPECT_EQ(refused, 54);
  EXPECT_EQ(room.number("select used_bytes from drives where owner_id = " + std::to_string(poor.user.value)),
            10'000);
  expect_sound();
}

TEST_F(Writing, OneThatFitsPassesBesideOneThatDoesNot) {
  const auto poor = room.user("poor", 1500);
  const auto home = room.root(poor);
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> stored{0};
    together(4, [&](int w) {
      try {
        room.put(poor, home, std::to_string(round) + "-" + std::to_string(w),
                 std::string(w == 0 ? 100 : 1400, 'x'));
        if (w == 0) ++stored;
      } catch (const Error&) {
      }
    });
    room.sql(
        "delete from nodes where kind = 1; update drives set used_bytes = 0; update folders set bytes_below "
        "= 0");
  }
  expect_sound();
}

TEST_F(Writing, AnAbandonedUploadGivesItsReservationBack) {
  UploadOptions options;
  options.target = {root, "big", {}};
  options.size_hint = 20 << 20;
  run([](Room& room, Caller caller, UploadOptions options) -> Task<> {
    auto upload = co_await room.files->begin_upload(caller, options);
    co_await upload->write(as_bytes(std::string(100'000, 'x')));
  }(room, alice, options));
  room.files->close();  // waits for the cleaner
  EXPECT_EQ(room.number("select count(*) from uploads"), 0);
  EXPECT_EQ(room.number("select count(*) from nodes where kind = 1"), 0);
  expect_sound();
}

TEST_F(Writing, ExpiredUploadsAreDropped) {
  room.sql("select begin_upload(" + std::to_string(alice.user.value) + ", 1, " + std::to_string(root.value) +
           ", 'x', 1000, -1)");
  EXPECT_EQ(room.number("select reserved_bytes from drives where id = 1"), 1000);
  EXPECT_FALSE(room.files->expire_uploads());
  EXPECT_EQ(room.number("select count(*) from uploads"), 0);
  expect_sound();
}

TEST_F(Writing, ConcurrentMovesNeverMakeACycle) {
  const auto a = room.folder(alice, root, "a"), b = room.folder(alice, root, "b");
  for (int round = 0; round < 30; ++round) {
    together(2, [&](int w) {
      Files::Move to;
      to.parent = w == 0 ? b : a;
      refusal_of([&] { return room.files->move(alice, w == 0 ? a : b, to); });
    });
    // Both still hang on the root.
    EXPECT_EQ(run(room.files->ancestors(alice, a))[0].id, root);
    EXPECT_EQ(run(room.files->ancestors(alice, b))[0].id, root);
    for (const auto id : {a, b}) {
      Files::Move home;
      home.parent = root;
      refusal_of([&] { return room.files->move(alice, id, home); });
    }
  }
  expect_sound();
}

TEST_F(Writing, AMixOfChangesLeavesASoundTree) {
  std::vector<NodeId> folders{root};
  for (int i = 0; i < 6; ++i)
    folders.push_back(room.folder(alice, folders[static_cast<std::size_t>(i / 2)], "d" + std::to_string(i)));
  std::atomic<int> internal{0};
  together(6, [&](int w) {
    std::uint32_t seed = static_cast<std::uint32_t>(w) * 7919 + 1;
    const auto next = [&seed](std::uint32_t n) {
      return (seed = seed * 1664525u + 1013904223u) / 65536u % n;
    };
    for (int i = 0; i < 40; ++i) {
      try {
        const auto at = folders[next(7)];
        switch (next(4)) {
          case 0:
          case 1:
            room.put(alice, at, "f" + std::to_string(next(5)), std::string(next(2000), 'x'));
            break;
          case 2: {
            Files::Move to;
            to.parent = at;
            run(room.files->move(alice, folders[1 + next(6)], to));
            break;
          }
          default: {
            const auto page = run(room.files->list(alice, at, {OrderBy::name, false, false, true, 50, ""}));
            if (!page.items.empty()) run(room.files->trash(alice, page.items.front().id));
          }
        }
      } catch (const Error& e) {
        if (e.code() == Errc::internal || e.code() == Errc::unavailable) ++internal;
      }
    }
  });
  EXPECT_EQ(internal, 0);
  for (const auto id : folders) EXPECT_EQ(run(room.files->ancestors(alice, id))[0].id, root);
  expect_sound();
}

}  // namespace
}  // namespace welkin::files
