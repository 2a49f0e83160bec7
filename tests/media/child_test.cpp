#include "media/child.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/temp_folder.hpp"

namespace welkin::media {
namespace {

struct Child : ::testing::Test {
  tests::TempFolder folder;
  ChildResult sh(const std::string& script, const ChildLimits& limits = {}) {
    return run_child({"/bin/sh", "-c", script}, folder.path(), limits);
  }
};

TEST_F(Child, SaysWhatItSaidAndHowItEnded) {
  const auto fine = sh("printf hello; pwd");
  EXPECT_TRUE(fine.ok);
  EXPECT_EQ(fine.output, "hello" + std::filesystem::canonical(folder.path()).string() + "\n");
  EXPECT_FALSE(sh("exit 3").ok);
  EXPECT_FALSE(sh("kill -SEGV $$").ok);
  EXPECT_FALSE(run_child({"/nonexistent/program"}, folder.path(), {}).ok);
  EXPECT_FALSE(run_child({"/bin/true"}, "/nonexistent/folder", {}).ok);
}

TEST_F(Child, HasNothingOfTheServers) {
  setenv("WELKIN_TEST_SECRET", "secret", 1);
  const auto seen = sh("env; ls /proc/self/fd | wc -l");
  EXPECT_TRUE(seen.ok);
  EXPECT_EQ(seen.output.find("secret"), std::string::npos) << seen.output;
  const auto last = seen.output.substr(seen.output.rfind('\n', seen.output.size() - 2) + 1);
  EXPECT_LE(std::stoi(last), 5) << "descriptors: the standard three, and that of the listing";
}

TEST_F(Child, EndsAtItsDeadlineWithAllItStarted) {
  ChildLimits limits;
  limits.deadline = std::chrono::milliseconds(300);
  EXPECT_FALSE(sh("sleep 600 & sleep 600", limits).ok);
  EXPECT_FALSE(sh("exec >&-; sleep 600", limits).ok) << "also when it has closed its output";
  EXPECT_FALSE(sh("while :; do :; done", limits).ok);
}

TEST_F(Child, EndsWhenItIsStopped) {
  std::atomic<bool> stop = true;
  ChildLimits limits;
  limits.deadline = std::chrono::hours(1);
  limits.stop = &stop;
  EXPECT_FALSE(sh("sleep 600", limits).ok);
}

TEST_F(Child, GetsNoMoreThanItsLimits) {
  ChildLimits limits;
  limits.output_bytes = 1000;
  EXPECT_EQ(sh("yes | head -c 100000; true", limits).output.size(), 1000u);
  limits.file_bytes = 4096;
  EXPECT_FALSE(sh("yes | head -c 100000 > big", limits).ok);
  EXPECT_LE(std::filesystem::file_size(folder.path() + "/big"), 4096u);
  limits.memory_bytes = 64 << 20;
  EXPECT_FALSE(sh("x=$(yes xxxxxxx | head -c 100000000); test ${#x} -gt 90000000", limits).ok);
}

/// Landlock may be missing in a kernel or a container; then nothing is promised.
TEST_F(Child, SeesNoFilesButItsOwn) {
  tests::TempFolder other;
  std::ofstream(other.path() + "/secret") << "secret";
  std::ofstream(folder.path() + "/own") << "own";
  EXPECT_EQ(sh("cat own").output, "own");
  EXPECT_TRUE(sh("echo x > new").ok);
  const auto reached = sh("cat " + other.path() + "/secret");
  const auto status = sh("cat /sys/kernel/security/lsm").output;
  if (status.find("landlock") == std::string::npos && reached.ok) return;
  EXPECT_FALSE(reached.ok);
  EXPECT_FALSE(sh("echo x > " + other.path() + "/new").ok);
}

TEST(FindProgram, KnowsWhatIsInstalled) {
  EXPECT_EQ(find_program("sh").substr(find_program("sh").rfind('/')), "/sh");
  EXPECT_EQ(find_program("no-such-program-of-welkin"), "");
}

}  // namespace
}  // namespace welkin::media
