#include "trial.hpp"

#include <memory>
#include <tuple>

#include "../common/measure.hpp"
#include "dealt.hpp"
#include "problem.hpp"
#include "sequential.hpp"
#include "sort.hpp"

namespace apps::sort {
namespace {

using values = std::vector<std::uint32_t>;

answer answer_of(const values& sorted, const values& input) {
  const auto middle = sorted[sorted.size() / 2];
  answer a{std::int64_t{middle}, "median " + std::to_string(middle)};
  if (!std::is_sorted(sorted.begin(), sorted.end())) a.wrong = "an ascending order";
  if (checksum(sorted) != checksum(input)) a.wrong = "the numbers that were given";
  return a;
}

std::shared_ptr<const values> numbers(int n) {
  return std::make_shared<const values>(random_values(static_cast<std::size_t>(n)));
}

struct dealing {
  int n = 0, nodes = 1;
  auto input() { return std::tie(n, nodes); }
  team_result<dealt::findings> run(cleave::team& all) const {
    const auto input = all.rank() == 0 ? numbers(n) : nullptr;
    auto [cost, sorted] = timed([&] { return dealt::sort_all(input, nodes, all); });
    return {cost, {std::move(sorted), cost.seconds}};
  }
};

}  // namespace

trial trial_of(int n) {
  auto input = numbers(n);
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
                    [input](const values& sorted) { return answer_of(sorted, *input); });
}

trial trial_of_dealing(int n, int nodes) {
  const auto input = numbers(n);
  const auto sequentially = [input](stopwatch& time) {
    dealt::part all = dealt::share(*input, 0, 1);
    time.restart();
    dealt::sort(all);
    time.stop();
    const double seconds = time.seconds();
    return dealt::findings{std::move(all), seconds};
  };
  return make_team_trial(sequentially, dealing{n, nodes}, [input, nodes](const auto& found) {
    answer a = answer_of(found.all.values, *input);
    a.more = {{"dealt_to", std::int64_t{nodes}},
              {"sorting_seconds", found.all.sorting},
              {"merging_seconds", found.all.merging},
              {"sending_and_waiting_seconds", found.rest()}};
    return a;
  });
}

}  // namespace apps::sort
