// What other processes of the database tests do until they are killed.
//   welkin_db_child cluster DIRECTORY   runs a private cluster
//   welkin_db_child migrate URL         brings a database up to date
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>

#include "support/temp_folder.hpp"
#include "welkin/db/cluster.hpp"
#include "welkin/db/migrate.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string what = argv[1], argument = argv[2];
  try {
    if (what == "cluster") {
      welkin::db::Cluster::Options options;
      options.directory = argument;
      options.durable = false;
      options.run_as = welkin::tests::ordinary_user();
      const welkin::db::Cluster cluster(options);
      std::this_thread::sleep_for(std::chrono::seconds(60));
    } else {
      welkin::db::migrate(argument, welkin::db::bundled_migrations(), welkin::db::bundled_functions());
    }
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
