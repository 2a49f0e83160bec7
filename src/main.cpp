#include <string>
#include <vector>

#include "app/cli.hpp"

// Read by jemalloc at start, where it is linked in: what a burst took goes back to the system while the
// server idles.
extern "C" const char* malloc_conf;
const char* malloc_conf = "background_thread:true,metadata_thp:disabled";

int main(int argc, char** argv) {
  return welkin::app::run_cli(argc > 1 ? std::vector<std::string>(argv + 1, argv + argc)
                                       : std::vector<std::string>());
}
