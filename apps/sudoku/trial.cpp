#include "trial.hpp"

#include <utility>

#include "../common/measure.hpp"
#include "report.hpp"
#include "sequential.hpp"
#include "sudoku.hpp"

namespace apps::sudoku {

trial trial_of(puzzles given, question asked) {
  const parallel::published_puzzles all(std::move(given));
  return make_trial([=] { return sequential::solve(*all, asked); },
                    [=] { return parallel::solve(all, asked); },
                    [=](const results& found) { return report(*all, asked, found); });
}

}  // namespace apps::sudoku
