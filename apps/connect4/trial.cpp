#include "trial.hpp"

#include <bit>
#include <memory>
#include <string>

#include "../common/measure.hpp"
#include "connect4.hpp"
#include "sequential.hpp"

namespace apps::connect4 {

trial trial_of(position p, limits l, std::optional<int> expected_score) {
  const int stones = std::popcount(p.all);
  // The time to make a table is no part of the search.
  return make_trial(
      [=](stopwatch& time) {
        sequential::game g(l);
        time.restart();
        const solution found = sequential::solve(g, p, stones);
        time.stop();
        return found;
      },
      [=](stopwatch& time) {
        const parallel::published_game g(std::make_shared<const parallel::game>(l));
        static_cast<void>(g->table());
        time.restart();
        const solution found = parallel::solve(g, p, stones);
        time.stop();
        return found;
      },
      [=](const solution& found) {
        answer a{std::int64_t{found.score}, "score " + std::to_string(found.score) + ", move " +
                                                std::to_string(found.column + 1) + "; " +
                                                std::to_string(found.nodes) + " nodes"};
        a.more = {{"move", std::int64_t{found.column + 1}},
                  {"visited", static_cast<std::int64_t>(found.nodes)}};
        if (expected_score && found.score != *expected_score)
          a.wrong = "score " + std::to_string(*expected_score);
        return a;
      });
}

}  // namespace apps::connect4
