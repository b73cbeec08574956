#include "../common/driver.hpp"
#include "parse.hpp"
#include "trial.hpp"

int main(int argc, char** argv) try {
  using namespace apps::sudoku;
  std::string file;
  bool all = false, unique = false;
  apps::driver app("sudoku", "Solves the Sudoku puzzles of a file.",
                   "sudoku apps/sudoku/puzzles/hard.txt --workers 2", puzzle_format);
  app.text("FILE", file, "the puzzles; their first solutions are printed");
  app.flag("--all", all, "Count the solutions of each puzzle");
  app.flag("--unique", unique, "Say of each puzzle whether it has exactly one solution");
  app.parse(argc, argv);
  if (all && unique) throw apps::usage_error("--unique: expected without --all, got both");
  return app.run(trial_of(load(file), all      ? question::all
                                      : unique ? question::unique
                                               : question::first));
} catch (...) { return apps::failed("sudoku"); }
