// welkin_test_cluster COMMAND ARGS...: starts a throw-away PostgreSQL cluster without fsync, runs the command
// with WELKIN_TEST_DATABASE_URL set and ends the cluster. Exits with the command's status (128 + signal when
// killed).
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "support/temp_folder.hpp"
#include "welkin/db/cluster.hpp"

namespace {

int run(char** argv) {
  const pid_t child = fork();
  if (child == 0) {
    execvp(argv[0], argv);
    std::perror(argv[0]);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s COMMAND ARGS...\n", argv[0]);
    return 2;
  }
  try {
    const welkin::tests::TempFolder folder;
    welkin::db::Cluster::Options options;
    options.directory = folder.path() + "/pg";
    options.durable = false;
    options.max_connections = 200;
    options.run_as = welkin::tests::ordinary_user();
    const welkin::db::Cluster cluster(options);
    setenv("WELKIN_TEST_DATABASE_URL", cluster.url("postgres").c_str(), 1);
    return run(argv + 1);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
