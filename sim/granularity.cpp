#include "sim/granularity.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "graph/schedule.hpp"

namespace sim {
namespace {

using cleave::detail::access_mode;
using cleave::detail::recorded_graph;

class stencil {
public:
  explicit stencil(const granularity_run& run)
      : run_(run), width_(static_cast<int>(run.ranks) * run.columns) {
    g_.nodes = run.ranks;
    g_.names = {"stencil"};
    g_.messages.sending = {run.costs.sending, 0};
    g_.messages.transit = {run.costs.transit, 0};
    g_.messages.receiving = {run.costs.receiving, 0};
    g_.bytes.assign(2 * static_cast<std::size_t>(width_), 16.0);
    for (int step = 0; step < run.steps; ++step)
      for (int column = 0; column < width_; ++column) add(step, column);
  }

  /// Microseconds of a worker for each subtask, if it computes for so many of them.
  double granularity(double computing) {
    std::mt19937_64 random(run_.seed);
    std::uniform_real_distribution<double> part(1 - run_.spread, 1 + run_.spread);
    for (auto& s : g_.subtasks) s.duration = computing * part(random) + overhead();
    std::vector<std::uint32_t> ranks;
    for (const auto& s : g_.subtasks) ranks.push_back(s.ran_on);
    return cleave::detail::simulated(g_, {run_.ranks, 1, g_.messages, nullptr}, ranks) /
           (run_.steps * run_.columns);
  }

private:
  /// For each subtask of a rank that it makes it makes some of other ranks.
  double overhead() const {
    const double others = run_.mine ? std::min(2, width_ - run_.columns) : width_ - run_.columns;
    return run_.costs.subtask + run_.costs.foreign * others / run_.columns;
  }
  std::uint32_t datum(int step, int column) const {
    return static_cast<std::uint32_t>((step & 1) * width_ + column);
  }
  void add(int step, int column) {
    for (int c = std::max(0, column - 1); c <= std::min(width_ - 1, column + 1); ++c)
      g_.uses.push_back({datum(step + 1, c), access_mode::in});
    g_.uses.push_back({datum(step, column), access_mode::out});
    g_.subtasks.push_back({0, recorded_graph::any_rank,
                           static_cast<std::uint32_t>(column / run_.columns),
                           static_cast<std::uint32_t>(g_.uses.size()), 0, 0});
  }

  const granularity_run& run_;
  const int width_;
  recorded_graph g_;
};

}  // namespace

double least_granularity(const granularity_run& run) {
  stencil graph(run);
  double shorter = 0, longer = 1;  // what half of the time computes is between the two
  while (longer < graph.granularity(longer) / 2) shorter = longer, longer *= 2;
  constexpr double close = 1.02;
  while (longer > close * shorter) {
    const double middle = shorter == 0 ? longer / 2 : std::sqrt(shorter * longer);
    (middle < graph.granularity(middle) / 2 ? shorter : longer) = middle;
  }
  return graph.granularity(longer);
}

}  // namespace sim
