#pragma once
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

extern char** environ;

namespace welkin::tests {

/// A process of welkin_db_child (db_child.cpp), to be killed in the middle of what it does.
class Child {
 public:
  explicit Child(std::vector<std::string> words) {
    const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    words.insert(words.begin(), (folder / "welkin_db_child").string());
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    if (posix_spawn(&pid_, argv[0], nullptr, nullptr, argv.data(), environ) != 0) {
      throw std::runtime_error("cannot run " + words[0]);
    }
  }
  ~Child() { kill(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void kill() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
};

}  // namespace welkin::tests
