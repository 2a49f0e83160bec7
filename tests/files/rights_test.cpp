#include <gtest/gtest.h>

#include "files/room.hpp"
#include "welkin/core/error.hpp"

namespace welkin::files {
namespace {

/// Somebody's relation to a folder of Alice, and what he may do there. "r" read, "c" create in it, "u" rename
/// it, "w" overwrite a file in it, "d" delete a file in it.
struct Case {
  const char* who;
  const char* may;
};

struct Rights : ::testing::Test {
  Room room;
  Caller alice = room.user("alice"), bob = room.user("bob");
  NodeId root = room.root(alice), above = room.folder(alice, root, "above"),
         shared = room.folder(alice, above, "shared"), below = room.folder(alice, shared, "below"),
         sibling = room.folder(alice, above, "sibling");
  int made = 0;

  void grant(const std::string& subject_column, std::int64_t subject, NodeId node, int mask,
             const std::string& until = "null") {
    room.sql("insert into grants (node_id, " + subject_column + ", rights, expires_at) values (" +
             std::to_string(node.value) + ", " + std::to_string(subject) + ", " + std::to_string(mask) +
             ", " + until +
             ");"
             "update nodes set flags = flags | 1 where id = " +
             std::to_string(node.value));
  }

  /// Tries everything in `folder`; what is refused for lack of a right must be forbidden where he may read,
  /// else not found.
  std::string may(const Caller& caller, NodeId folder) {
    std::string out;
    const std::string refused =
        refusal_of([&] { return room.files->node(caller, folder); }).empty() ? "forbidden" : "not_found";
    if (refused == "forbidden") out += "r";
    const auto attempt = [&](const char* letter, auto f) {
      const auto slug = refusal_of(f);
      if (slug.empty())
        out += letter;
      else
        EXPECT_EQ(slug, refused) << letter;
    };
    const std::string n = std::to_string(++made);
    const auto victim = room.put(alice, folder, "victim" + n, "x").node;
    attempt("c", [&] { return room.files->create_folder(caller, folder, "new" + n); });
    attempt("w", [&]() -> Task<> {
      UploadOptions options;
      options.target.file = victim.id;
      const auto upload = co_await room.files->begin_upload(caller, options);
      co_await upload->write(as_bytes("y"));
      co_await upload->finish();
    });
    attempt("u", [&] {
      Files::Move to;
      to.name = "renamed" + n;
      return room.files->move(caller, victim.id, to);
    });
    attempt("d", [&] { return room.files->trash(caller, victim.id); });
    return out;
  }
};

TEST_F(Rights, FollowTheRoleAtTheFolderAndBelowAndNowhereElse) {
  const struct {
    int mask;
    const char* may;
  } roles[] = {{rights::kViewer, "r"},
               {rights::kCommenter, "r"},
               {rights::kContributor, "rc"},
               {rights::kEditor, "rcwud"},
               {rights::kOwner, "rcwud"}};
  for (const auto& role : roles) {
    room.sql("delete from grants");
    grant("user_id", bob.user.value, shared, role.mask);
    EXPECT_EQ(may(bob, shared), role.may) << role.mask;
    EXPECT_EQ(may(bob, below), role.may) << role.mask;
    EXPECT_EQ(may(bob, above), "") << role.mask;
    EXPECT_EQ(may(bob, sibling), "") << role.mask;
  }
  room.sql("delete from grants");
  EXPECT_EQ(may(bob, shared), "");
}

TEST_F(Rights, AddUpOverGroupsAndExpire) {
  room.sql("insert into groups (id, name, display_name) values (100, 'g', 'G')");
  grant("group_id", 100, shared, rights::kViewer);
  EXPECT_EQ(may(bob, below), "");
  bob.subjects.push_back(100);
  EXPECT_EQ(may(bob, below), "r");
  grant("user_id", bob.user.value, below, rights::kContributor);
  EXPECT_EQ(may(bob, below), "rc");
  room.sql("update grants set expires_at = now() - interval '1 second' where user_id is not null");
  EXPECT_EQ(may(bob, below), "r");
}

TEST_F(Rights, OfMembersCoverTheDrive) {
  room.sql("insert into drive_members (drive_id, user_id, rights) select id, " +
           std::to_string(bob.user.value) +
           ", 13 from drives where owner_id = " + std::to_string(alice.user.value));
  EXPECT_EQ(may(bob, root), "rcwu");
  EXPECT_EQ(run(room.files->path(bob, below)), "/above/shared/below");
}

TEST_F(Rights, AGrantOnAFileOpensThatFileOnly) {
  const auto file = room.put(alice, shared, "one", "1").node.id;
  grant("user_id", bob.user.value, file, rights::kRead | rights::kUpdate);
  EXPECT_EQ(room.get(bob, file), "1");
  EXPECT_EQ(may(bob, shared), "");
  UploadOptions options;
  options.target.file = file;
  room.put(bob, options, "2");
  EXPECT_EQ(room.get(alice, file), "2");
  const auto chain = run(room.files->ancestors(bob, file));
  ASSERT_EQ(chain.size(), 1u);  // the way up is not his to see
  EXPECT_EQ(run(room.files->path(bob, file)), "");
}

TEST_F(Rights, CredentialsNarrowThem) {
  Caller reader = alice;
  reader.rights_mask = rights::kRead;
  EXPECT_EQ(may(reader, shared), "r");
  Caller limited = alice;
  limited.root_limit = shared;
  EXPECT_EQ(may(limited, below), "rcwud");
  EXPECT_EQ(may(limited, above), "");
  EXPECT_EQ(may(limited, sibling), "");
  EXPECT_EQ(room.root(limited), shared);
  EXPECT_EQ(run(room.files->by_path(limited, {"below"})).id, below);
  Files::Move out;
  out.parent = root;
  EXPECT_EQ(refusal_of([&] { return room.files->move(limited, below, out); }), "not_found");
  Files::Move rename;
  rename.name = "x";
  EXPECT_EQ(refusal_of([&] { return room.files->move(limited, shared, rename); }), "is_root");
  EXPECT_EQ(refusal_of([&] { return room.files->trash(limited, shared); }), "is_root");
}

TEST_F(Rights, ALinkReachesItsNodeAndBelow) {
  Caller link;
  link.credential = Credential::link;
  link.link_node = shared;
  link.link_rights = rights::kEditor;
  EXPECT_EQ(may(link, below), "rcwud");
  EXPECT_EQ(may(link, above), "");
  EXPECT_EQ(may(link, sibling), "");
  EXPECT_EQ(run(room.files->home(link)).id, shared);
  link.link_rights = rights::kRead;
  EXPECT_EQ(may(link, shared), "r");
}

TEST_F(Rights, AFileDropTakesFilesAndShowsNothing) {
  Caller drop;
  drop.credential = Credential::link;
  drop.link_node = shared;
  drop.link_rights = rights::kCreate;
  const auto made = room.put(drop, shared, "dropped", "secret");
  EXPECT_EQ(room.get(alice, made.node.id), "secret");
  EXPECT_EQ(refusal_of([&] { return room.files->node(drop, made.node.id); }), "not_found");
  EXPECT_EQ(refusal_of([&] { return room.files->list(drop, shared, {}); }), "not_found");
  UploadOptions again;
  again.target = {shared, "dropped", {}};
  EXPECT_THROW(room.put(drop, again, "other"), Error);
  EXPECT_EQ(room.get(alice, made.node.id), "secret");
}

TEST_F(Rights, MountsShowASharedNodeInTheOwnTree) {
  const auto file = room.put(alice, below, "f", "1").node.id;
  room.sql("insert into mounts (user_id, parent_id, target_id, name) values (" +
           std::to_string(bob.user.value) + ", " + std::to_string(room.root(bob).value) + ", " +
           std::to_string(shared.value) + ", 'from alice')");
  // A mount opens nothing by itself.
  EXPECT_EQ(refusal_of([&] { return room.files->by_path(bob, {"from alice", "below", "f"}); }), "not_found");
  grant("user_id", bob.user.value, above, rights::kViewer);  // above the mounted node
  EXPECT_EQ(run(room.files->by_path(bob, {"from alice", "below", "f"})).id, file);
  EXPECT_EQ(refusal_of([&] { return room.files->by_path(alice, {"from alice"}); }), "not_found");
}

TEST_F(Rights, NobodyHasNone) {
  EXPECT_EQ(may(Caller{}, shared), "");
  EXPECT_EQ(refusal_of([&] { return room.files->home(Caller{}); }), "not_found");
}

}  // namespace
}  // namespace welkin::files
