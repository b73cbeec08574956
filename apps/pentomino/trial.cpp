#include "trial.hpp"

#include "../common/measure.hpp"
#include "pentomino.hpp"
#include "sequential.hpp"

namespace apps::pentomino {

trial trial_of(puzzle problem, std::optional<solutions> expected) {
  const parallel::published_puzzle z(std::move(problem));
  return make_trial([z] { return sequential::search(*z); }, [z] { return parallel::search(z); },
                    [=](const solutions& found) {
                      auto text = [](const solutions& s) {
                        return std::to_string(s.distinct) + " solutions, " + std::to_string(s.all) +
                               " with their images";
                      };
                      answer a{static_cast<std::int64_t>(found.distinct), text(found)};
                      a.more = {{"with_images", static_cast<std::int64_t>(found.all)}};
                      if (expected && found != *expected) a.wrong = text(*expected);
                      return a;
                    });
}

trial default_trial() { return trial_of(puzzle(rectangle(6, 10)), solutions{9356, 2339}); }

}  // namespace apps::pentomino
