#include "welkin/files/batch.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "files/room.hpp"
#include "welkin/files/changes.hpp"
#include "welkin/files/trash.hpp"

namespace welkin::files {
namespace {

struct BatchChanges : ::testing::Test {
  Room room;
  Caller alice = room.user("alice"), bob = room.user("bob");
  NodeId root = room.root(alice);
  NodeId from = room.folder(alice, root, "from"), to = room.folder(alice, root, "to");

  NodeId file(NodeId parent, const std::string& name, const std::string& body = "12345") {
    return room.put(alice, parent, name, body).node.id;
  }
  static Batch batch(Batch::Op op, std::vector<NodeId> items, NodeId target = {}) {
    Batch b;
    b.op = op;
    b.items = std::move(items);
    b.target = target;
    return b;
  }
  std::vector<Batched> change(const Caller& who, const Batch& b) {
    return run(room.files->batches().run(who, b));
  }
  /// One word an item: "ok" or the slug it was refused with.
  static std::string words(const std::vector<Batched>& answers) {
    std::string out;
    for (const auto& a : answers)
      out += (out.empty() ? "" : " ") + std::string(a.error ? a.error->slug() : "ok");
    return out;
  }
  std::vector<std::string> names(NodeId folder) {
    std::vector<std::string> out;
    for (const auto& n : run(room.files->list(alice, folder, {})).items) out.push_back(n.name);
    return out;
  }
  void expect_sound() {
    EXPECT_EQ(room.wrong_folder_sums(), 0);
    EXPECT_EQ(room.miscounted_bytes(), 0);
  }
};

using Op = Batch::Op;

TEST_F(BatchChanges, EachItemHasItsOwnVerdictAndTheRestGoesOn) {
  const auto a = file(from, "a"), b = file(from, "b"), c = file(from, "c");
  file(to, "b");
  const auto answers = change(alice, batch(Op::move, {a, b, NodeId{999'999}, from, c, a}, to));
  EXPECT_EQ(words(answers), "ok exists not_found ok ok ok");
  EXPECT_EQ(answers[0].node->parent, to);
  EXPECT_EQ(*answers[0].node->path, "/to/a");
  EXPECT_EQ(answers[3].kind, Kind::folder);
  EXPECT_NE(std::string(answers[1].error->what()).find("b"), std::string::npos);
  EXPECT_EQ(names(to), (std::vector<std::string>{"from", "a", "b", "c"}));
  expect_sound();
}

TEST_F(BatchChanges, ATakenNameIsRefusedReplacedOrCountedUp) {
  const auto a = file(from, "a.txt");
  file(to, "a.txt", "old");
  auto b = batch(Op::copy, {a}, to);
  EXPECT_EQ(words(change(alice, b)), "exists");
  b.conflict = Batch::Conflict::rename;
  EXPECT_EQ(change(alice, b)[0].node->name, "a (2).txt");
  b.conflict = Batch::Conflict::replace;
  EXPECT_EQ(change(alice, b)[0].node->name, "a.txt");
  EXPECT_EQ(room.number("select count(*) from trash"), 1);
  b = batch(Op::move, {a}, from);
  b.conflict = Batch::Conflict::rename;
  EXPECT_EQ(change(alice, b)[0].node->name, "a.txt");  // it has its own name already
  b.op = Op::copy;                                     // beside itself
  EXPECT_EQ(change(alice, b)[0].node->name, "a (2).txt");
  expect_sound();
}

TEST_F(BatchChanges, ManyCopiesAreNumberedInOrder) {
  const auto a = file(from, "a.txt");
  auto b = batch(Op::copy, std::vector<NodeId>(150, a), to);
  b.conflict = Batch::Conflict::rename;
  const auto answers = change(alice, b);
  std::set<std::string> made;
  for (const auto& answer : answers) made.insert(answer.node->name);
  EXPECT_EQ(made.size(), 150u);
  EXPECT_TRUE(made.contains("a.txt"));
  for (int i = 2; i <= 150; ++i) EXPECT_TRUE(made.contains("a (" + std::to_string(i) + ").txt")) << i;
  room.sql("delete from nodes where parent_id = " + std::to_string(to.value) +
           " and name in ('a (3).txt', 'a (70).txt')");
  b.items = {a, a};
  const auto again = change(alice, b);
  EXPECT_EQ(room.number("select count(*) from nodes where parent_id = " + std::to_string(to.value)), 150);
  EXPECT_NE(again[0].node->name, again[1].node->name);
}

TEST_F(BatchChanges, CopiesOfFoldersSayHowMuch) {
  file(from, "a");
  file(room.folder(alice, from, "below"), "b");
  const auto answers = change(alice, batch(Op::copy, {from}, to));
  EXPECT_EQ(words(answers), "ok");
  EXPECT_EQ(answers[0].folders, 2);
  EXPECT_EQ(answers[0].files, 2);
  EXPECT_EQ(words(change(alice, batch(Op::copy, {root, to}, to))), "not_found into_itself");
  expect_sound();
}

TEST_F(BatchChanges, EverythingInAFolderExcept) {
  const auto a = file(from, "a"), b = file(from, "b");
  const auto below = room.folder(alice, from, "below");
  auto all = batch(Op::move, {b}, to);
  all.all_in = from;
  const auto answers = change(alice, all);
  EXPECT_EQ(words(answers), "ok ok");
  EXPECT_EQ(answers[0].id, below);
  EXPECT_EQ(answers[1].id, a);
  EXPECT_EQ(names(from), std::vector<std::string>{"b"});
  EXPECT_EQ(refusal_of([&] { return room.files->batches().run(bob, all); }), "not_found");
  all = batch(Op::trash, {});
  all.all_in = to;
  EXPECT_EQ(words(change(alice, all)), "ok ok");
  EXPECT_TRUE(names(to).empty());
  expect_sound();
}

TEST_F(BatchChanges, TrashRestorePurgeAndDestroy) {
  const auto a = file(from, "a"), b = file(from, "b"), c = file(from, "c");
  EXPECT_EQ(words(change(alice, batch(Op::trash, {a, b}))), "ok ok");
  EXPECT_EQ(words(change(alice, batch(Op::restore, {a, c}))), "ok not_found");
  EXPECT_EQ(words(change(alice, batch(Op::purge, {b, a}))), "ok not_found");
  EXPECT_EQ(words(change(alice, batch(Op::destroy, {a, c}))), "ok ok");
  EXPECT_EQ(room.number("select count(*) from trash"), 0);
  EXPECT_EQ(room.number("select used_bytes from drives where id = 1"), 0);
  expect_sound();
}

TEST_F(BatchChanges, FoldersAreMadeInOrderAndBadNamesRefusedAlone) {
  auto b = batch(Op::create_folders, {to, to, to, NodeId{999'999}});
  b.names = {"x", "a/b", "x", "y"};
  const auto answers = change(alice, b);
  EXPECT_EQ(words(answers), "ok bad_name exists not_found");
  EXPECT_EQ(answers[0].node->name, "x");
}

TEST_F(BatchChanges, NobodyReachesWhatIsNotHis) {
  const auto a = file(from, "a"), gone = file(from, "gone");
  run(room.files->trash(alice, gone));
  const auto own = room.root(bob);
  EXPECT_EQ(words(change(bob, batch(Op::move, {a, from}, own))), "not_found not_found");
  EXPECT_EQ(words(change(bob, batch(Op::copy, {a, from}, own))), "not_found not_found");
  EXPECT_EQ(words(change(bob, batch(Op::trash, {a, from}))), "not_found not_found");
  EXPECT_EQ(words(change(bob, batch(Op::destroy, {a}))), "not_found");
  EXPECT_EQ(words(change(bob, batch(Op::restore, {gone}))), "not_found");
  EXPECT_EQ(words(change(bob, batch(Op::purge, {gone}))), "not_found");
  EXPECT_EQ(words(run(room.files->batches().get(bob, {a, from}))), "not_found not_found");
  EXPECT_EQ(words(run(room.files->batches().get(alice, {a, gone, {}}))), "ok not_found not_found");
  auto all = batch(Op::create_folders, {from});
  all.names = {"x"};
  EXPECT_EQ(words(change(bob, all)), "not_found");
  EXPECT_EQ(names(from), std::vector<std::string>{"a"});
}

/// What `what` does happens whenever a node called "c" is changed.
void plant(Room& room, const std::string& what) {
  room.sql(
      "create sequence planted_tries; create function planted() returns trigger language plpgsql as $$ begin "
      "if new.name = 'c' then " +
      what +
      " end if; return new; end $$; create trigger planted before update on nodes for each row execute "
      "function "
      "planted()");
}

// An item's own refusal concerns that item; anything else ends the transaction, and nothing has happened.
TEST_F(BatchChanges, AFaultThatIsNobodysRefusalLeavesNothing) {
  const auto a = file(from, "a"), b = file(from, "b"), c = file(from, "c"), d = file(from, "d");
  const auto before = room.number("select count(*) from changes");
  plant(room, "raise exception 'planned';");
  EXPECT_ANY_THROW(change(alice, batch(Op::move, {a, b, c, d}, to)));
  EXPECT_EQ(names(from), (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_TRUE(names(to).empty());
  EXPECT_EQ(room.number("select count(*) from changes"), before);
  expect_sound();
}

// A conflict that is nobody's fault, and a connection that breaks in the middle: the whole is run again,
// once.
TEST_F(BatchChanges, WhatIsInterruptedIsRunAgainWhole) {
  const auto a = file(from, "a"), b = file(from, "b"), c = file(from, "c");
  const std::string first = "if nextval('planted_tries') = 1 then ";
  plant(room, first + "raise exception using errcode = '40001'; end if;");
  EXPECT_EQ(words(change(alice, batch(Op::move, {a, b, c, NodeId{999'999}}, to))), "ok ok ok not_found");
  EXPECT_GT(room.number("select last_value from planted_tries"), 1);
  room.sql("drop trigger planted on nodes; drop function planted; drop sequence planted_tries");
  plant(room, first + "perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(5); end if;");
  EXPECT_EQ(words(change(alice, batch(Op::move, {c, b, a}, from))), "ok ok ok");
  EXPECT_GT(room.number("select last_value from planted_tries"), 1);
  EXPECT_EQ(names(from), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(names(to).empty());
  // Each move left one row for the old place and one for the new.
  EXPECT_EQ(room.number("select count(*) from changes where op = 3"), 6);
  expect_sound();
}

// What came of the items is looked at when the drive is free again, in several jobs.
TEST_F(BatchChanges, ManyItemsAreAnsweredInOrder) {
  room.sql(
      "insert into nodes (parent_id, mtime, etag_seq, created_at, drive_id, etag_drive, kind, name) select " +
      std::to_string(from.value) +
      ", 1, 1, 1, 1, 1, 2, 'd' || lpad(i::text, 4, '0') from generate_series(1, 250) i; "
      "insert into folders (node_id, etag_seq, changed_at) select id, 1, 1 from nodes where name like 'd0%'");
  auto all = batch(Op::move, {}, to);
  all.all_in = from;
  const auto answers = change(alice, all);
  ASSERT_EQ(answers.size(), 250u);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    ASSERT_TRUE(answers[i].node) << i;
    EXPECT_EQ(answers[i].node->id, answers[i].id);
    EXPECT_EQ(answers[i].node->parent, to);
    if (i > 0) EXPECT_LT(answers[i - 1].node->name, answers[i].node->name);
  }
  const auto refused = change(alice, all);
  EXPECT_TRUE(refused.empty());
  expect_sound();
}

// One number of the drive for all of it, however followers of the log cut it into pages; sums are written
// once, at the end, and are right even where an item's own were changed by those before it.
TEST_F(BatchChanges, ABatchIsOneChange) {
  std::vector<NodeId> items;
  for (int i = 0; i < 7; ++i) items.push_back(file(from, std::to_string(i)));
  const auto inner = room.folder(alice, from, "inner");
  items.push_back(file(inner, "x", "1234567"));
  items.push_back(inner);
  items.push_back(from);
  const auto seq = [&] { return room.number("select max(seq) from drives"); };
  const auto token = run(room.files->change_log().token(alice, to));
  auto before = seq();
  EXPECT_EQ(words(change(alice, batch(Op::move, items, to))), "ok ok ok ok ok ok ok ok ok ok");
  EXPECT_EQ(seq(), before + 1);
  expect_sound();
  std::set<std::string> seen;
  auto at = token;
  for (int page = 0; page < 20; ++page) {
    const auto changes = run(room.files->change_log().since(alice, to, at, ChangeLog::Depth::one, 3));
    for (const auto& item : changes.items) seen.insert(item.path);
    at = changes.token;
    if (!changes.truncated) break;
  }
  EXPECT_EQ(seen, (std::set<std::string>{"0", "1", "2", "3", "4", "5", "6", "x", "inner", "from"}));

  before = seq();
  EXPECT_EQ(words(change(alice, batch(Op::trash, items))), "ok ok ok ok ok ok ok ok ok ok");
  EXPECT_EQ(seq(), before + 1);
  expect_sound();
  EXPECT_EQ(words(change(alice, batch(Op::restore, items))), "ok ok ok ok ok ok ok ok ok ok");
  expect_sound();
  // An item that comes twice has two changes, which need two numbers.
  before = seq();
  EXPECT_EQ(words(change(alice, batch(Op::move, {items[0], items[1], items[0]}, from))), "ok ok ok");
  EXPECT_EQ(seq(), before + 2);
  expect_sound();
}

TEST_F(BatchChanges, TheQuotaCountsWhatTheBatchHasCopied) {
  const auto carol = room.user("carol", 5'000);
  const auto home = room.root(carol), target = room.folder(carol, home, "target");
  std::vector<NodeId> items;
  for (int i = 0; i < 4; ++i)
    items.push_back(room.put(carol, home, std::to_string(i), std::string(1'000, 'x')).node.id);
  EXPECT_EQ(words(change(carol, batch(Op::copy, items, target))),
            "ok quota_not_exceeded quota_not_exceeded quota_not_exceeded");
  EXPECT_EQ(
      room.number("select max(used_bytes) from drives where owner_id = " + std::to_string(carol.user.value)),
      5'000);
  expect_sound();
}

TEST_F(BatchChanges, TooManyAreRefusedWhole) {
  const auto a = file(from, "a");
  const std::vector<NodeId> many(Batches::kItemsMax + 1, a);
  EXPECT_EQ(refusal_of([&] { return room.files->batches().run(alice, batch(Op::trash, many)); }),
            "too_many_items");
  EXPECT_EQ(names(from), std::vector<std::string>{"a"});
}

TEST_F(BatchChanges, TwoAtOnceInOppositeDirectionsBothEnd) {
  room.sql(
      "insert into drive_members (drive_id, user_id, rights) select 1, id, 31 from users where name = 'bob'; "
      "insert into drive_members (drive_id, user_id, rights) select 2, id, 31 from users where name = "
      "'alice'");
  const auto there = room.folder(bob, room.root(bob), "there");
  std::vector<NodeId> here_items, there_items;
  for (int i = 0; i < 8; ++i) {
    here_items.push_back(file(from, "h" + std::to_string(i)));
    there_items.push_back(room.put(bob, there, "t" + std::to_string(i), "1").node.id);
  }
  std::string one, two;
  std::thread first([&] { one = words(change(alice, batch(Op::move, here_items, there))); });
  std::thread second([&] { two = words(change(bob, batch(Op::move, there_items, from))); });
  first.join();
  second.join();
  EXPECT_EQ(one, "ok ok ok ok ok ok ok ok");
  EXPECT_EQ(two, one);
  expect_sound();
}

}  // namespace
}  // namespace welkin::files
