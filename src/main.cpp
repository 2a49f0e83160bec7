#include <string>
#include <vector>

#include "app/cli.hpp"

int main(int argc, char** argv) {
  return welkin::app::run_cli(argc > 1 ? std::vector<std::string>(argv + 1, argv + argc)
                                       : std::vector<std::string>());
}
