#include <algorithm>
#include <numeric>

#include "graph/by_home.hpp"
#include "graph/schedule.hpp"

namespace cleave::detail {
namespace {

/// Fills one part after the other up to `most`. Returns how many parts that are.
std::uint32_t fill(const std::vector<double>& work, double most, std::vector<std::uint32_t>& part) {
  std::uint32_t last = 0;
  double has = 0;
  part.clear();
  for (const double w : work) {
    if (has > 0 && has + w > most) ++last, has = 0;
    has += w;
    part.push_back(last);
  }
  return last + 1;
}

}  // namespace

std::vector<std::uint32_t> in_order(const recorded_graph& g, const machine_model& on) {
  const auto work = work_of_homes(g);
  std::vector<std::uint32_t> part;
  // With so much in each part there are few enough; with so little there are too many.
  double enough = std::accumulate(work.begin(), work.end(), 0.0), too_little = 0;
  constexpr double close = 1e-3;
  while (enough - too_little > close * enough) {
    const double middle = (enough + too_little) / 2;
    (fill(work, middle, part) <= on.nodes ? enough : too_little) = middle;
  }
  fill(work, enough, part);
  return ranks_by_home(g, on.nodes, part);
}

}  // namespace cleave::detail
