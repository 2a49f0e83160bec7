#include "welkin/files/events.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "files/room.hpp"

namespace welkin::files {
namespace {

// As many streams as a server gives, from as many users as that takes; one more is refused until one has
// ended.
TEST(EventStreams, AreAThousandAtMost) {
  Room room;
  const auto hub = std::make_shared<EventHub>(room.database.db());
  const EventHub::Limits limits;
  std::vector<std::unique_ptr<EventHub::Stream>> open;
  Caller user;
  while (open.size() < limits.streams) {
    if (open.size() % limits.streams_of_user == 0) user = room.user("user" + std::to_string(open.size()));
    open.push_back(run(EventHub::subscribe(hub, user, "")));
  }
  const auto late = room.user("late");
  const auto subscribe = [&]() -> Task<> { co_await EventHub::subscribe(hub, late, ""); };
  EXPECT_EQ(limits.streams, 1'000u);
  EXPECT_EQ(refusal_of(subscribe), "too_many_streams");
  EXPECT_EQ(refusal_of(subscribe), "too_many_streams");
  open.pop_back();
  EXPECT_EQ(refusal_of(subscribe), "");
  // They are woken all the same.
  const auto first = room.number("select id from users where name = 'user0'");
  Caller caller;
  caller.user = UserId{first};
  caller.name = "user0";
  caller.subjects = {first};
  room.folder(caller, room.root(caller), "new");
  for (std::size_t i = 0; i < limits.streams_of_user; ++i)
    EXPECT_EQ(run(open[i]->next(std::chrono::seconds(60))).folders.size(), 1u) << i;
  hub->close();
  EXPECT_EQ(refusal_of(subscribe), "closing");
  open.clear();
}

}  // namespace
}  // namespace welkin::files
