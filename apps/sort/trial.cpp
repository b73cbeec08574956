#include "trial.hpp"

#include <memory>
#include <tuple>

#include "../common/measure.hpp"
#include "dealt.hpp"
#include "problem.hpp"
#include "sampled.hpp"
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

struct sampling {
  int n = 0, nodes = 1;
  auto input() { return std::tie(n, nodes); }
  team_result<sampled::findings> run(cleave::team& all) const {
    sampled::sorter s(static_cast<std::size_t>(n), nodes, all);
    const auto cost = timed([&] { return s.sort(), 0; }).first;
    auto found = s.look();
    found.seconds = cost.seconds;
    return {cost, std::move(found)};
  }
};

answer answer_of(int nodes, const sampled::findings& found) {
  answer a{std::int64_t{found.middle}, "median " + std::to_string(found.middle)};
  std::uint64_t all = 0, most = 0;
  double computing = 0;
  for (const auto& s : found.after) {
    all += s.count;
    most = std::max(most, s.count);
    computing = std::max(computing, s.sampling + s.sorting);
  }
  a.more = {{"sampled_by", std::int64_t{nodes}},
            {"largest_part", static_cast<double>(most * found.after.size()) / double(all)},
            {"computing_seconds", computing},
            {"sending_and_waiting_seconds", std::max(0.0, found.seconds - computing)}};
  a.wrong = wrong_with(found);
  return a;
}

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

trial trial_of_sampling(int n, int nodes) {
  const auto sequentially = [n](stopwatch& time) {
    sampled::part all{random_values(static_cast<std::size_t>(n)), 0, 0};
    sampled::findings found;
    found.before = {summary_of(all)};
    time.restart();
    sampled::sort(all.values);
    time.stop();
    found.after = {summary_of(all)};
    found.middle = all.values[all.values.size() / 2];
    found.seconds = time.seconds();
    return found;
  };
  return make_team_trial(sequentially, sampling{n, nodes},
                         [nodes](const auto& found) { return answer_of(nodes, found); });
}

}  // namespace apps::sort
