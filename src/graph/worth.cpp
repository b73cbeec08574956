#include "graph/worth.hpp"

namespace cleave::detail {
namespace {
/// What the messages of a loan cost a node, besides the values that they carry, in microseconds.
constexpr double messages = 10;
constexpr std::uint32_t one_of = 1024;
/// How much the newest measurement counts.
constexpr double newest = 0.25;
}  // namespace

bool worth::is(std::type_index what) const noexcept {
  const auto at = known_.find(what);
  return at == known_.end() || at->second.run > messages + 2 * at->second.cost;
}

bool worth::is_tried(std::type_index what) noexcept {
  const auto at = known_.find(what);
  return at != known_.end() && ++at->second.refused % one_of == 0;
}

void worth::note(std::type_index what, double run, double cost) {
  const auto [at, is_first] = known_.try_emplace(what);
  experience& e = at->second;
  const double share = is_first ? 1 : newest;
  e.run += share * (run - e.run), e.cost += share * (cost - e.cost);
}

}  // namespace cleave::detail
