#include "graph/worth.hpp"

#include <algorithm>

namespace cleave::detail {
namespace {
/// What the messages of a loan cost a node, besides the values that they carry, in microseconds.
constexpr double messages = 10;
/// What is known is believed for so long, in microseconds.
constexpr double long_ago = 20'000;
/// Fewer measurements are not enough: a thread may lose its CPU meanwhile.
constexpr unsigned enough_runs = 4;
/// How much the newest measurement counts.
constexpr double newest = 0.25;
}  // namespace

bool worth::is(std::type_index what, double now) const noexcept {
  const auto at = known_.find(what);
  if (at == known_.end() || at->second.count < enough_runs || now - at->second.at > long_ago)
    return true;
  return at->second.run > messages + 2 * at->second.cost;
}

void worth::note(std::type_index what, double run, double cost, double now) {
  const auto [at, is_first] = known_.try_emplace(what, experience{run, cost, now});
  if (is_first) return;
  experience& e = at->second;
  ++e.count;
  e.run += newest * (run - e.run);
  e.cost = std::min(cost, (1 + newest) * e.cost);
  e.at = now;
}

}  // namespace cleave::detail
