#include <gtest/gtest.h>

#include "files/room.hpp"
#include "welkin/core/error.hpp"

namespace welkin::files {
namespace {

TEST(Files, HomeIsTheRootOfTheOwnDrive) {
  Room room;
  const auto alice = room.user("alice"), bob = room.user("bob");
  const auto home = run(room.files->home(alice));
  EXPECT_TRUE(home.is_root());
  EXPECT_TRUE(home.is_folder());
  EXPECT_EQ(home.rights, rights::kOwner);
  EXPECT_NE(home.id, room.root(bob));
}

TEST(Files, FolderIsCreatedFoundAndTakesItsNameOnce) {
  Room room;
  const auto alice = room.user("alice");
  const auto root = room.root(alice);
  const auto made = run(room.files->create_folder(alice, root,
                                                  "Do\xcc\x81"
                                                  "cs"));
  EXPECT_EQ(made.name,
            "D\xc3\xb3"
            "cs");
  const auto seen = run(room.files->node(alice, made.id));
  EXPECT_EQ(seen.name, made.name);
  EXPECT_EQ(seen.etag, made.etag);
  EXPECT_EQ(seen.parent, root);
  EXPECT_EQ(refusal_of([&] {
              return room.files->create_folder(alice, root,
                                               "D\xc3\xb3"
                                               "cs");
            }),
            "exists");
  EXPECT_EQ(refusal_of([&] {
              return room.files->create_folder(alice, root,
                                               "d\xc3\xb3"
                                               "cs");
            }),
            "");
  EXPECT_EQ(refusal_of([&] { return room.files->create_folder(alice, NodeId{999'999}, "x"); }), "not_found");
}

TEST(Files, EveryAncestorRisesWithAWriteAndHoldsTheSum) {
  Room room;
  const auto alice = room.user("alice");
  const auto root = room.root(alice);
  const auto a = room.folder(alice, root, "a"), b = room.folder(alice, a, "b"),
             other = room.folder(alice, root, "o");
  const auto before_root = run(room.files->node(alice, root)).etag;
  const auto before_other = run(room.files->node(alice, other)).etag;
  room.put(alice, b, "x", std::string(1000, 'x'));
  for (const auto id : {root, a, b}) EXPECT_EQ(run(room.files->node(alice, id)).size_bytes, 1000u);
  EXPECT_NE(run(room.files->node(alice, root)).etag, before_root);
  EXPECT_EQ(run(room.files->node(alice, other)).etag, before_other);
  EXPECT_EQ(room.wrong_folder_sums(), 0);
  EXPECT_EQ(room.miscounted_bytes(), 0);
}

TEST(Files, AncestorsAndPathLeadFromTheRoot) {
  Room room;
  const auto alice = room.user("alice");
  const auto a = room.folder(alice, room.root(alice), "a"), b = room.folder(alice, a, "b");
  const auto file = room.put(alice, b, "f.txt", "hello").node.id;
  const auto chain = run(room.files->ancestors(alice, file));
  ASSERT_EQ(chain.size(), 4u);
  EXPECT_TRUE(chain[0].is_root());
  EXPECT_EQ(chain[1].name, "a");
  EXPECT_EQ(chain[3].id, file);
  EXPECT_EQ(run(room.files->path(alice, file)), "/a/b/f.txt");
  EXPECT_EQ(run(room.files->path(alice, room.root(alice))), "/");
  EXPECT_EQ(run(room.files->by_path(alice, {"a", "b", "f.txt"})).id, file);
  EXPECT_EQ(run(room.files->by_path(alice, {})).id, room.root(alice));
  EXPECT_EQ(refusal_of([&] { return room.files->by_path(alice, {"a", "x"}); }), "not_found");
  EXPECT_EQ(refusal_of([&] { return room.files->by_path(alice, {"a", "b", "f.txt", "g"}); }), "not_found");
}

TEST(Files, MovesAndRenamesKeepIdAndContent) {
  Room room;
  const auto alice = room.user("alice");
  const auto root = room.root(alice);
  const auto a = room.folder(alice, root, "a"), b = room.folder(alice, root, "b");
  const auto file = room.put(alice, a, "f", "12345").node;
  Files::Move to;
  to.parent = b;
  to.name = "g";
  const auto moved = run(room.files->move(alice, file.id, to)).node;
  EXPECT_EQ(moved.id, file.id);
  EXPECT_EQ(moved.parent, b);
  EXPECT_EQ(moved.name, "g");
  EXPECT_EQ(room.get(alice, file.id), "12345");
  EXPECT_EQ(run(room.files->node(alice, a)).size_bytes, 0u);
  EXPECT_EQ(run(room.files->node(alice, b)).size_bytes, 5u);
  EXPECT_EQ(run(room.files->node(alice, root)).size_bytes, 5u);
  EXPECT_EQ(room.wrong_folder_sums(), 0);
  room.put(alice, b, "taken", "");
  Files::Move onto;
  onto.name = "taken";
  EXPECT_EQ(refusal_of([&] { return room.files->move(alice, file.id, onto); }), "exists");
}

TEST(Files, AFolderMovesNeitherIntoItselfNorBelow) {
  Room room;
  const auto alice = room.user("alice");
  const auto root = room.root(alice);
  const auto a = room.folder(alice, root, "a"), b = room.folder(alice, a, "b");
  Files::Move into;
  into.parent = b;
  EXPECT_EQ(refusal_of([&] { return room.files->move(alice, a, into); }), "into_itself");
  into.parent = a;
  EXPECT_EQ(refusal_of([&] { return room.files->move(alice, a, into); }), "into_itself");
  EXPECT_EQ(refusal_of([&] { return room.files->move(alice, root, into); }), "is_root");
  into.parent = room.put(alice, root, "file", "").node.id;
  EXPECT_EQ(refusal_of([&] { return room.files->move(alice, a, into); }), "not_found");
}

TEST(Files, FoldersNestUpToTheLimit) {
  Room room;
  const auto alice = room.user("alice");
  auto at = room.root(alice);
  int depth = 1;
  std::string slug;
  while (slug.empty() && depth < 200) {
    slug = refusal_of([&]() -> Task<> { at = (co_await room.files->create_folder(alice, at, "d")).id; });
    ++depth;
  }
  EXPECT_EQ(slug, "too_deep");
  EXPECT_EQ(depth, 130);
  EXPECT_EQ(run(room.files->ancestors(alice, at)).size(), 129u);
}

TEST(Files, AMoveStacksNoTreesBeyondTheLimit) {
  Room room;
  const auto alice = room.user("alice");
  const auto root = room.root(alice);
  std::vector<NodeId> tops, bottoms;
  for (const char* name : {"a", "b"}) {
    auto at = room.folder(alice, root, name);
    tops.push_back(at);
    for (int i = 1; i < 70; ++i) at = room.folder(alice, at, "d");
    bottoms.push_back(at);
  }
  Files::Move to;
  to.parent = bottoms[0];
  EXPECT_EQ(refusal_of([&] { return room.files->move(alice, tops[1], to); }), "too_deep");
  to.parent = tops[0];
  EXPECT_EQ(refusal_of([&] { return room.files->move(alice, tops[1], to); }), "");
}

TEST(Files, TrashTakesTheWholeTreeOutOfSight) {
  Room room;
  const auto alice = room.user("alice");
  const auto root = room.root(alice);
  const auto a = room.folder(alice, root, "a");
  const auto file = room.put(alice, a, "f", "12345").node.id;
  run(room.files->trash(alice, a));
  EXPECT_EQ(refusal_of([&] { return room.files->node(alice, a); }), "not_found");
  EXPECT_EQ(refusal_of([&] { return room.files->open(alice, file); }), "not_found");
  EXPECT_EQ(refusal_of([&] { return room.files->trash(alice, a); }), "not_found");
  EXPECT_EQ(refusal_of([&] { return room.files->create_folder(alice, a, "x"); }), "not_found");
  EXPECT_EQ(refusal_of([&] { return room.files->list(alice, a, {}); }), "not_found");
  EXPECT_EQ(run(room.files->node(alice, root)).size_bytes, 0u);
  EXPECT_EQ(room.number("select count(*) from trash where from_name = 'a' and bytes = 5"), 1);
  EXPECT_EQ(room.miscounted_bytes(), 0);  // the trash still counts
  EXPECT_EQ(room.wrong_folder_sums(), 0);
  EXPECT_EQ(refusal_of([&] { return room.files->create_folder(alice, root, "a"); }), "");
  EXPECT_EQ(refusal_of([&] { return room.files->trash(alice, root); }), "is_root");
}

TEST(Files, PreconditionsGuardMoveAndTrash) {
  Room room;
  const auto alice = room.user("alice");
  const auto root = room.root(alice);
  const auto file = room.put(alice, root, "f", "1").node;
  const auto folder = run(room.files->create_folder(alice, root, "d"));
  Expect stale{Expect::Kind::etag_is, {"00"}};
  EXPECT_EQ(refusal_of([&] { return room.files->trash(alice, file.id, stale); }), "precondition_failed");
  Files::Move to;
  to.name = "g";
  to.expect = stale;
  EXPECT_EQ(refusal_of([&] { return room.files->move(alice, file.id, to); }), "precondition_failed");
  to.expect = {Expect::Kind::etag_is, {"00", file.etag}};
  EXPECT_EQ(refusal_of([&] { return room.files->move(alice, file.id, to); }), "");
  EXPECT_EQ(
      refusal_of([&] { return room.files->trash(alice, folder.id, {Expect::Kind::etag_is, {folder.etag}}); }),
      "");
}

TEST(Files, LocksAreObeyed) {
  Room room;
  const auto alice = room.user("alice");
  const auto root = room.root(alice);
  const auto a = room.folder(alice, root, "a"), b = room.folder(alice, a, "b");
  const auto file = room.put(alice, b, "f", "1").node;
  room.sql(
      "insert into locks (token, node_id, drive_id, expires_at, depth_infinity, exclusive, app) values "
      "('00000000-0000-0000-0000-000000000001', " +
      std::to_string(b.value) + ", 1, now() + interval '1 hour', true, true, 1)");
  UploadOptions options;
  options.target = {b, "f", {}};
  EXPECT_THROW(room.put(alice, options, "2"), Error);
  EXPECT_EQ(refusal_of([&] { return room.files->create_folder(alice, b, "x"); }), "lock_token_submitted");
  EXPECT_EQ(refusal_of([&] { return room.files->trash(alice, file.id); }), "lock_token_submitted");
  EXPECT_EQ(refusal_of([&] { return room.files->trash(alice, a); }), "lock_token_submitted");  // b goes along
  Files::Move to;
  to.name = "z";
  EXPECT_EQ(refusal_of([&] { return room.files->move(alice, a, to); }), "lock_token_submitted");
  db::Uuid token{};
  token[15] = 1;
  options.lock_tokens = {token};
  room.put(alice, options, "2");
  EXPECT_EQ(room.get(alice, file.id), "2");
  to.lock_tokens = {token};
  EXPECT_EQ(refusal_of([&] { return room.files->move(alice, a, to); }), "");
  room.sql("update locks set expires_at = now() - interval '1 second'");
  EXPECT_EQ(refusal_of([&] { return room.files->trash(alice, file.id); }), "");
}

TEST(Files, OneTokenOfASharedLockIsEnough) {
  Room room;
  const auto alice = room.user("alice");
  const auto a = room.folder(alice, room.root(alice), "a");
  for (const char* n : {"1", "2"})
    room.sql(
        std::string(
            "insert into locks (token, node_id, drive_id, expires_at, depth_infinity, exclusive, app) values "
            "('00000000-0000-0000-0000-00000000000") +
        n + "', " + std::to_string(a.value) + ", 1, now() + interval '1 hour', true, false, 1)");
  Files::Move to;
  to.name = "z";
  EXPECT_EQ(refusal_of([&] { return room.files->move(alice, a, to); }), "lock_token_submitted");
  db::Uuid token{};
  token[15] = 2;
  to.lock_tokens = {token};
  EXPECT_EQ(refusal_of([&] { return room.files->move(alice, a, to); }), "");
}

}  // namespace
}  // namespace welkin::files
