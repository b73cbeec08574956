#include "trial.hpp"

#include <memory>

#include "../common/measure.hpp"
#include "problem.hpp"
#include "sequential.hpp"
#include "sort.hpp"

namespace apps::sort {

trial trial_of(int n) {
  using values = std::vector<std::uint32_t>;
  auto input = std::make_shared<const values>(random_values(static_cast<std::size_t>(n)));
  auto on_a_copy = [input](auto sort_values) {
    return [=](stopwatch& time) {
      values copy = *input, other(input->size());
      time.restart();
      sort_values(copy.data(), other.data(), copy.size(), false);
      time.stop();
      return copy;
    };
  };
  return make_trial(on_a_copy([](auto... a) { sequential::sort(a...); }),
                    on_a_copy([](auto... a) { parallel::sort(a...); }),
                    [input](const values& sorted) {
                      const auto middle = sorted[sorted.size() / 2];
                      answer a{std::int64_t{middle}, "median " + std::to_string(middle)};
                      if (!std::is_sorted(sorted.begin(), sorted.end()))
                        a.wrong = "an ascending order";
                      if (checksum(sorted) != checksum(*input))
                        a.wrong = "the numbers that were given";
                      return a;
                    });
}

}  // namespace apps::sort
