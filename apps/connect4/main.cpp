#include <bit>

#include "../common/driver.hpp"
#include "parse.hpp"
#include "trial.hpp"

int main(int argc, char** argv) try {
  using namespace apps::connect4;
  std::string moves;
  limits l;
  l.table_mib = 64;
  int depth = 0;
  apps::driver app(
      "connect4", "Finds the best move in a position of Connect Four by alpha-beta.",
      "connect4 444552617265 --workers 2",
      R"(The score is how many stones the winner has left when he wins, the winning one included,
if both play as well as they can: 1 if he wins by his last stone. It is negative if the
player whose turn it is loses, and 0 for a draw. Of several best moves the one is told that the
search tries first. Nodes are the positions visited: more with several workers, as some are
visited for nothing. In a job of several processes they are those of the first process.
)");
  app.optional_text("POSITION", moves,
                    "the columns played so far, from 1 to 7: 444 is three stones in the middle\n"
                    "(default: the empty board)");
  app.option_number("--table", l.table_mib, 0, 16384,
                    "Size of the transposition table in MiB; 0: none (default: 64)");
  app.option_number("--depth", depth, 1, squares,
                    "Search so many stones ahead, and estimate what comes then");
  app.parse(argc, argv);
  const position p = parse(moves);
  if (depth > 0) l.last = std::popcount(p.all) + depth;
  return app.run(trial_of(p, l));
} catch (...) { return apps::failed("connect4"); }
