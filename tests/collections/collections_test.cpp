#include "welkin/collections/collections.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "support/run.hpp"
#include "support/test_db.hpp"
#include "welkin/collections/check.hpp"
#include "welkin/collections/upkeep.hpp"
#include "welkin/core/error.hpp"

namespace welkin::collections {
namespace {

using tests::run;

tests::TestDb& database() {
  static tests::TestDb db;
  return db;
}

constexpr db::Stmt kUser{"test.user",
                         "insert into users (name, login, display_name) values ($1, $1, $1) returning id"};
constexpr db::Stmt kDefaults{"test.defaults", "select create_default_collections($1)"};

struct CollectionsTest : ::testing::Test {
  db::Db& db = database().db();
  Collections collections{db};
  Objects objects = collections.objects();
  Caller alice = user("alice"), bob = user("bob");
  Collection personal = run(collections.find(alice, Kind::calendar, "personal")).value();

  Caller user(const std::string& stem) {
    static int n = 0;
    Caller caller;
    caller.name = stem + std::to_string(++n);
    db.write_now([&](db::Tx& tx) {
      caller.user = tx.one(kUser, caller.name)[0].id<UserId>(0);
      tx.one(kDefaults, caller.user);
    });
    caller.subjects = {caller.user.value};
    return caller;
  }
  void share(const Collection& what, const Caller& with, int access) {
    database().script("insert into collection_shares (collection_id, user_id, access) values (" +
                      std::to_string(what.id.value) + ", " + std::to_string(with.user.value) + ", " +
                      std::to_string(access) + ")");
  }
  Objects::Written put(const Caller& caller, const Collection& in, const std::string& name,
                       const std::string& uid, const std::string& data = "data", Expect expect = {}) {
    Objects::NewObject object;
    object.name = name;
    object.facts.uid = uid;
    object.facts.component = in.kind == Kind::calendar ? component::kEvent : std::int16_t{0};
    object.facts.first = 1000;
    object.facts.last = 2000;
    object.data = data;
    object.expect = expect;
    return run(objects.put(caller, in.id, object));
  }
  Collection again(const Collection& c) { return run(collections.require(alice, c.id)); }
  std::map<std::string, bool> since(const Collection& c, std::int64_t seq) {  // name: is it there
    auto list = objects.list(c.sight(), {.after = seq, .until = {}, .tombstones = true, .components = 0}, {});
    std::map<std::string, bool> out;
    run([](ObjectList& l, std::map<std::string, bool>& to) -> Task<> {
      for (auto page = co_await l.next(); !page.empty(); page = co_await l.next())
        for (const auto& row : page) to[std::string(row.name)] = !row.deleted;
    }(list, out));
    return out;
  }
  template <class F>
  std::string refusal(F f) {
    try {
      f();
    } catch (const Error& e) {
      return e.slug();
    }
    return "";
  }
};

using Verdict = Objects::Written::Verdict;

TEST_F(CollectionsTest, EveryoneBeginsWithTheSame) {
  const auto calendars = run(collections.home(alice, Kind::calendar));
  ASSERT_EQ(calendars.size(), 2u);
  EXPECT_EQ(calendars[0].path, "personal");
  EXPECT_EQ(calendars[0].components, component::kAll);
  EXPECT_EQ(calendars[1].path, "tasks");
  EXPECT_EQ(calendars[1].components, component::kTodo);
  EXPECT_EQ(calendars[0].access, Access::own);
  const auto books = run(collections.home(alice, Kind::book));
  ASSERT_EQ(books.size(), 1u);
  EXPECT_EQ(books[0].path, "contacts");
  EXPECT_EQ(books[0].uid.size(), 36u);
}

TEST_F(CollectionsTest, PutKeepsTheBytesAndRaisesTheNumber) {
  EXPECT_TRUE(put(alice, personal, "a.ics", "u1", "line\r\n\0x").created);
  const auto object = run(objects.find(personal.sight(), "a.ics")).value();
  EXPECT_EQ(object.data, "line\r\n\0x");
  EXPECT_EQ(object.etag, etag_of(object.data));
  EXPECT_EQ(parse_etag(etag_text(object.etag)), object.etag);
  EXPECT_FALSE(put(alice, personal, "a.ics", "u1", "longer data").created);
  const auto now = again(personal);
  EXPECT_EQ(now.seq, personal.seq + 2);
  EXPECT_EQ(now.objects, 1);
  EXPECT_EQ(now.bytes, 11);
}

TEST_F(CollectionsTest, EqualBytesAreANewNumberAndTheSameEtag) {
  put(alice, personal, "a.ics", "u1");
  const auto before = again(personal);
  const auto etag = run(objects.find(personal.sight(), "a.ics"))->etag;
  put(alice, personal, "a.ics", "u1");
  EXPECT_EQ(again(personal).seq, before.seq + 1);
  EXPECT_EQ(run(objects.find(personal.sight(), "a.ics"))->etag, etag);
}

TEST_F(CollectionsTest, AUidIsThereOnce) {
  put(alice, personal, "a.ics", "u1");
  const auto before = again(personal).seq;
  const auto twin = put(alice, personal, "b.ics", "u1");
  EXPECT_EQ(twin.verdict, Verdict::uid_conflict);
  EXPECT_EQ(twin.holder, "a.ics");
  const auto other = put(alice, personal, "a.ics", "u2");
  EXPECT_EQ(other.verdict, Verdict::uid_conflict);
  EXPECT_EQ(other.holder, "a.ics");
  EXPECT_EQ(again(personal).seq, before) << "nothing was changed";
  EXPECT_FALSE(run(objects.find(personal.sight(), "b.ics")));
}

TEST_F(CollectionsTest, ExpectationsAreLookedAtUnderTheLock) {
  put(alice, personal, "a.ics", "u1", "one");
  const auto etag = etag_of("one");
  using K = Expect::Kind;
  EXPECT_EQ(refusal([&] { put(alice, personal, "a.ics", "u1", "x", {K::must_be_new, {}}); }),
            "precondition_failed");
  EXPECT_EQ(refusal([&] { put(alice, personal, "n.ics", "u9", "x", {K::must_exist, {}}); }),
            "precondition_failed");
  EXPECT_EQ(refusal([&] { put(alice, personal, "a.ics", "u1", "x", {K::etag_is, etag_of("two")}); }),
            "precondition_failed");
  EXPECT_EQ(refusal([&] { run(objects.remove(alice, personal.id, "a.ics", {K::etag_is, etag_of("two")})); }),
            "precondition_failed");
  EXPECT_EQ(put(alice, personal, "a.ics", "u1", "x", {K::etag_is, etag}).verdict, Verdict::done);
}

TEST_F(CollectionsTest, ComponentsOutsideTheSetAreRefused) {
  const auto tasks = run(collections.find(alice, Kind::calendar, "tasks")).value();
  EXPECT_EQ(put(alice, tasks, "a.ics", "u1").verdict, Verdict::component);
  put(alice, personal, "a.ics", "u1");
  EXPECT_EQ(run(objects.transfer(alice, {personal.id, tasks.id, "a.ics", "x", false, true, {}})).verdict,
            Verdict::component);
  EXPECT_TRUE(run(objects.find(personal.sight(), "a.ics")));
}

TEST_F(CollectionsTest, WhatIsDeletedIsATombstoneAndInTheTrash) {
  put(alice, personal, "a.ics", "u1", "the bytes");
  const auto before = again(personal);
  run(objects.remove(alice, personal.id, "a.ics", {}));
  EXPECT_EQ(refusal([&] { run(objects.remove(alice, personal.id, "a.ics", {})); }), "not_found");
  const auto now = again(personal);
  EXPECT_EQ(now.objects, 0);
  EXPECT_EQ(now.bytes, 0);
  EXPECT_EQ(since(personal, before.seq), (std::map<std::string, bool>{{"a.ics", false}}));
  put(alice, personal, "a.ics", "u2");
  EXPECT_EQ(since(personal, before.seq), (std::map<std::string, bool>{{"a.ics", true}})) << "one row a name";
}

TEST_F(CollectionsTest, AMoveIsToldInBothCollections) {
  collections::NewCollection wanted;
  wanted.path = "second";
  wanted.components = component::kEvent;
  const auto second = run(collections.require(alice, run(collections.create(alice, wanted))));
  put(alice, personal, "a.ics", "u1", "bytes");
  const auto from = again(personal).seq;
  const auto moved =
      run(objects.transfer(alice, {personal.id, second.id, "a.ics", "b.ics", false, true, {}}));
  EXPECT_EQ(moved.verdict, Verdict::done);
  EXPECT_TRUE(moved.created);
  EXPECT_EQ(since(personal, from), (std::map<std::string, bool>{{"a.ics", false}}));
  EXPECT_EQ(since(second, 0), (std::map<std::string, bool>{{"b.ics", true}}));
  EXPECT_EQ(run(objects.find(second.sight(), "b.ics"))->etag, etag_of("bytes"));
  EXPECT_EQ(again(personal).bytes + again(second).bytes, 5);

  put(alice, personal, "twin.ics", "u1");
  const auto twin = run(objects.transfer(alice, {second.id, personal.id, "b.ics", "c.ics", false, true, {}}));
  EXPECT_EQ(twin.verdict, Verdict::uid_conflict);
  EXPECT_EQ(twin.holder, "twin.ics");
  EXPECT_EQ(
      run(objects.transfer(alice, {personal.id, personal.id, "twin.ics", "d.ics", true, true, {}})).verdict,
      Verdict::uid_conflict)
      << "a copy beside itself";
  EXPECT_EQ(
      run(objects.transfer(alice, {personal.id, personal.id, "twin.ics", "e.ics", false, true, {}})).verdict,
      Verdict::done);
  EXPECT_EQ(again(personal).objects, 1);
}

TEST_F(CollectionsTest, ADeletedNameIsFreeAtOnceAndAnotherCollection) {
  put(alice, personal, "a.ics", "u1");
  EXPECT_EQ(refusal([&] { run(collections.remove(alice, personal.id, "1-999")); }), "precondition_failed");
  run(collections.remove(alice, personal.id, ""));
  EXPECT_FALSE(run(collections.find(alice, Kind::calendar, "personal")));
  EXPECT_EQ(refusal([&] { put(alice, personal, "b.ics", "u2"); }), "not_found");
  collections::NewCollection wanted;
  wanted.path = "personal";
  const auto made = run(collections.require(alice, run(collections.create(alice, wanted))));
  EXPECT_NE(made.uid, personal.uid);
  EXPECT_EQ(put(alice, made, "a.ics", "u1").verdict, Verdict::done);
  EXPECT_EQ(refusal([&] { run(collections.create(alice, wanted)); }), "exists");
  wanted.path = "shared-1";
  EXPECT_EQ(refusal([&] { run(collections.create(alice, wanted)); }), "bad_collection_name");
}

TEST_F(CollectionsTest, OthersSeeNothingUnlessItIsShared) {
  put(alice, personal, "a.ics", "u1");
  EXPECT_EQ(refusal([&] { run(collections.require(bob, personal.id)); }), "not_found");
  EXPECT_EQ(refusal([&] { put(bob, personal, "b.ics", "u2"); }), "not_found");
  EXPECT_EQ(refusal([&] { run(objects.remove(bob, personal.id, "a.ics", {})); }), "not_found");
  EXPECT_EQ(refusal([&] { run(collections.patch(bob, personal.id, {{"n", "x", "v"}})); }), "not_found");
  EXPECT_EQ(refusal([&] { run(collections.remove(bob, personal.id, "")); }), "not_found");
  const auto his = run(collections.find(bob, Kind::calendar, "personal")).value();
  EXPECT_EQ(
      refusal([&] { run(objects.transfer(bob, {personal.id, his.id, "a.ics", "a.ics", true, true, {}})); }),
      "not_found");

  share(personal, bob, 1);
  const auto seen = run(collections.home(bob, Kind::calendar)).at(2);
  EXPECT_EQ(seen.id, personal.id);
  EXPECT_EQ(seen.path, "shared-" + std::to_string(personal.id.value));
  EXPECT_EQ(seen.access, Access::read);
  EXPECT_EQ(run(collections.find(bob, Kind::calendar, seen.path))->id, personal.id);
  EXPECT_FALSE(run(collections.find(alice, Kind::calendar, seen.path))) << "one name for everybody";
  EXPECT_EQ(refusal([&] { put(bob, personal, "b.ics", "u2"); }), "forbidden");
  EXPECT_EQ(refusal([&] { run(objects.remove(bob, personal.id, "a.ics", {})); }), "forbidden");
  EXPECT_EQ(
      refusal([&] { run(objects.transfer(bob, {personal.id, his.id, "a.ics", "a.ics", false, true, {}})); }),
      "forbidden");
  EXPECT_EQ(run(objects.transfer(bob, {personal.id, his.id, "a.ics", "a.ics", true, true, {}})).verdict,
            Verdict::done);
  run(collections.remove(bob, personal.id, ""));
  EXPECT_EQ(refusal([&] { run(collections.require(bob, personal.id)); }), "not_found") << "he has left";
  EXPECT_EQ(again(personal).access, Access::own);

  share(personal, bob, 2);
  EXPECT_EQ(put(bob, personal, "b.ics", "u2").verdict, Verdict::done);
  auto reader = bob;
  reader.rights_mask = rights::kRead;
  EXPECT_EQ(refusal([&] { put(reader, personal, "c.ics", "u3"); }), "forbidden");
  EXPECT_EQ(run(collections.require(reader, personal.id)).access, Access::read);
}

TEST_F(CollectionsTest, EachUserSeesHisOwnProperties) {
  run(collections.patch(alice, personal.id, {{"n", "colour", "red"}, {"n", "name", "Hers"}}));
  share(personal, bob, 1);
  const auto before = again(personal).seq;
  run(collections.patch(bob, personal.id, {{"n", "colour", "blue"}}));
  EXPECT_EQ(again(personal).seq, before) << "what he sees is no change of the calendar";
  const auto values = [&](const Caller& who) {
    std::map<std::string, std::string> out;
    for (const auto& p : run(collections.properties(who, {personal.id}, {}))) out[p.name] = p.value;
    return out;
  };
  EXPECT_EQ(values(alice), (std::map<std::string, std::string>{{"colour", "red"}, {"name", "Hers"}}));
  EXPECT_EQ(values(bob), (std::map<std::string, std::string>{{"colour", "blue"}, {"name", "Hers"}}));
  run(collections.patch(bob, personal.id, {{"n", "colour", {}}}));
  EXPECT_EQ(values(bob)["colour"], "red");
  EXPECT_EQ(run(collections.properties(alice, {personal.id}, {{"n", "name"}, {"n", "none"}})).size(), 1u);
}

TEST_F(CollectionsTest, TooManyPropertiesAreRefusedWhole) {
  std::vector<PropertyChange> many;
  for (int i = 0; i <= Collections::kPropertiesMax; ++i) many.push_back({"n", "p" + std::to_string(i), "v"});
  EXPECT_EQ(refusal([&] { run(collections.patch(alice, personal.id, many)); }), "too_many_properties");
  EXPECT_TRUE(run(collections.properties(alice, {personal.id}, {})).empty());
  EXPECT_EQ(refusal([&] { run(collections.patch_home(alice, Kind::calendar, many)); }),
            "too_many_properties");
  EXPECT_TRUE(run(collections.home_properties(alice, Kind::calendar)).empty());
}

TEST_F(CollectionsTest, SpansFindWhatOverlaps) {
  put(alice, personal, "a.ics", "u1");  // 1000 to 2000
  const auto found = [&](std::int64_t from, std::int64_t to) {
    return run(objects.within(personal.sight(), component::kEvent, from, to)).size();
  };
  EXPECT_EQ(found(1500, 1600), 1u);
  EXPECT_EQ(found(0, 500), 0u);
  EXPECT_EQ(found(2001, 9000), 0u);
  EXPECT_EQ(found(0, INT64_MAX), 1u);
  EXPECT_EQ(run(objects.within(personal.sight(), component::kTodo, 0, 9000)).size(), 0u);
  database().script("update collection_objects set t1 = 9223372036854775807 where collection_id = " +
                    std::to_string(personal.id.value));
  EXPECT_EQ(found(1'000'000'000, 1'000'000'001), 1u) << "endless";
  EXPECT_EQ(found(0, 500), 0u);
  const auto keys = run(objects.within(personal.sight(), 0, 0, 9000));
  EXPECT_EQ(run(objects.by_keys(personal.sight(), keys)).at(0).name, "a.ics");
  EXPECT_TRUE(run(objects.by_keys(run(collections.find(bob, Kind::calendar, "personal"))->sight(), keys)).empty());
}

TEST_F(CollectionsTest, TheTrashEndsByAge) {
  put(alice, personal, "a.ics", "u1");
  run(objects.remove(alice, personal.id, "a.ics", {}));
  put(alice, personal, "b.ics", "u2");
  const auto tasks = run(collections.find(alice, Kind::calendar, "tasks")).value();
  run(collections.remove(alice, personal.id, ""));
  const auto left = [&](const std::string& table, const Collection& of) {
    const auto sql = "select count(*) from " + table + " where " +
                     (table == "collections" ? "id" : "collection_id") + " = " + std::to_string(of.id.value);
    const auto name = table + sql;
    return db.read_now([&](db::Tx& tx) { return tx.one(db::Stmt{name.c_str(), sql.c_str()})[0].i64(0); });
  };
  purge_trash(db);
  EXPECT_EQ(left("collections", personal), 1) << "not yet";
  EXPECT_EQ(left("collection_trash", personal), 1);
  database().script("update collections set deleted_at = now() - interval '31 days' where id = " +
                    std::to_string(personal.id.value));
  while (purge_trash(db)) {
  }
  EXPECT_EQ(left("collections", personal), 0);
  EXPECT_EQ(left("collection_objects", personal), 0);
  EXPECT_EQ(left("collections", tasks), 1);
}

// Numbers follow commit order: a poller that goes on from the state it read misses nothing.
TEST_F(CollectionsTest, APollerAmongWritersMissesNothing) {
  constexpr int kWriters = 4, kEach = 40;
  std::atomic<int> running = kWriters;
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      for (int i = 0; i < kEach; ++i) {
        const auto n = std::to_string(w) + "-" + std::to_string(i);
        put(alice, personal, n + ".ics", n);
        if (i % 5 == 4) run(objects.remove(alice, personal.id, n + ".ics", {}));
      }
      --running;
    });
  }
  std::map<std::string, bool> seen;
  std::int64_t token = 0;
  bool last_round = false;
  while (!last_round) {
    last_round = running == 0;
    const auto state = again(personal).seq;
    auto list =
        objects.list(personal.sight(), {.after = token, .until = state, .tombstones = true, .components = 0}, {});
    run([](ObjectList& l, std::map<std::string, bool>& to) -> Task<> {
      for (auto page = co_await l.next(); !page.empty(); page = co_await l.next())
        for (const auto& row : page) to[std::string(row.name)] = !row.deleted;
    }(list, seen));
    token = state;
  }
  for (auto& writer : writers) writer.join();
  EXPECT_EQ(seen, since(personal, 0));
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kWriters * kEach));
  EXPECT_EQ(again(personal).objects, kWriters * kEach * 4 / 5);
}

TEST_F(CollectionsTest, ACheckFindsAndMendsWhatIsCountedWrong) {
  put(alice, personal, "a.ics", "u1", "12345");
  const auto subject = "collection " + std::to_string(personal.id.value);
  const auto findings = [&](bool repair) {
    int found = 0;
    blobs::Inspection inspection(db, {.data_dir = "", .deep = false, .repair = repair, .grace_seconds = {}},
                                 [&](const blobs::Finding& f) {
                                   found += f.subject == subject && f.kind == "collection.count";
                                 });
    check_collections(inspection);
    return found;
  };
  EXPECT_EQ(findings(false), 0);
  database().script("update collection_state set bytes = 99, object_count = 7 where collection_id = " +
                    std::to_string(personal.id.value));
  EXPECT_EQ(findings(false), 1);
  EXPECT_EQ(findings(true), 1);
  EXPECT_EQ(findings(false), 0);
  EXPECT_EQ(again(personal).bytes, 5);
  EXPECT_EQ(again(personal).objects, 1);
}

}  // namespace
}  // namespace welkin::collections
