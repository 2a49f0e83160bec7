#include "app/data_lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "app/privileges.hpp"
#include "app/scratch.hpp"

namespace welkin::app {
namespace {

using namespace std::chrono_literals;

TEST(DataLock, OneHolderAtATime) {
  const Scratch scratch;
  EXPECT_FALSE(DataLock::holder(scratch.path()));
  auto lock = DataLock::take(scratch.path(), "serve");
  ASSERT_TRUE(lock);
  EXPECT_FALSE(DataLock::take(scratch.path(), "user add"));
  lock->announce("127.0.0.1:1234", true);
  const auto holder = DataLock::holder(scratch.path());
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->role, "serve");
  EXPECT_EQ(holder->pid, ::getpid());
  EXPECT_EQ(holder->address, "127.0.0.1:1234");
  EXPECT_TRUE(holder->tls);
  lock.reset();
  EXPECT_FALSE(DataLock::holder(scratch.path()));
  EXPECT_TRUE(DataLock::take(scratch.path(), "user add"));
}

TEST(DataLock, WaitingForAServerIsRefusedAtOnce) {
  const Scratch scratch;
  const auto server = DataLock::take(scratch.path(), "serve");
  try {
    DataLock::wait(scratch.path(), "serve", 60s);
    FAIL();
  } catch (const StartError& e) {
    EXPECT_THAT(e.what(),
                ::testing::HasSubstr("in use by the server with process id " + std::to_string(::getpid())));
  }
}

TEST(DataLock, WaitsForACommand) {
  const Scratch scratch;
  auto command = DataLock::take(scratch.path(), "user add");
  std::thread ends([&] {
    std::this_thread::sleep_for(200ms);
    command.reset();
  });
  EXPECT_NO_THROW(DataLock::wait(scratch.path(), "serve", 60s));
  ends.join();
  const auto again = DataLock::take(scratch.path(), "user add");
  EXPECT_THROW(DataLock::wait(scratch.path(), "serve", 0s), StartError);
}

TEST(DataLock, DiesWithItsProcess) {
  const Scratch scratch;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const auto child = ::fork();
  if (child == 0) {
    const auto lock = DataLock::take(scratch.path(), "serve");
    const char said = lock ? 'y' : 'n';
    (void)!::write(ready[1], &said, 1);
    ::pause();
    ::_exit(0);
  }
  char said = 0;
  ASSERT_EQ(::read(ready[0], &said, 1), 1);
  EXPECT_EQ(said, 'y');
  EXPECT_TRUE(DataLock::holder(scratch.path()));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(DataLock::holder(scratch.path()));
  EXPECT_TRUE(DataLock::take(scratch.path(), "serve"));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(DataLock, DoesNotFollowALink) {
  const Scratch scratch;
  const auto elsewhere = scratch.write("victim", "keep me");
  ASSERT_EQ(::symlink(elsewhere.c_str(), (scratch.path() + "/welkin.lock").c_str()), 0);
  EXPECT_THROW(DataLock::take(scratch.path(), "serve"), StartError);
}

}  // namespace
}  // namespace welkin::app
