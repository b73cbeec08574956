#include "../common/driver.hpp"
#include "parse.hpp"
#include "trial.hpp"

int main(int argc, char** argv) try {
  using namespace apps::pentomino;
  std::string file;
  apps::driver app("pentomino", "Counts the ways to cover a board with pieces, each used once.",
                   "pentomino --board apps/pentomino/boards/8x8-hole.txt --workers 2",
                   board_format);
  app.option("--board", "FILE", file,
             "What to cover, and with what (default: 6 x 10 with the twelve pentominoes)");
  app.parse(argc, argv);
  return app.run(file.empty() ? default_trial() : trial_of(load(file), std::nullopt));
} catch (...) { return apps::failed("pentomino"); }
