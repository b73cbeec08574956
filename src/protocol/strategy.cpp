#include "protocol/strategy.hpp"

#include <algorithm>
#include <tuple>

namespace cleave::net {
namespace {

using candidates = std::vector<candidate>;

/// A key of which the lower is the better. A candidate that is not known to do anything comes last.
auto by_split(const candidate& c) {
  const bool unknown = !c.heard || c.state.busy == 0;
  return std::tuple(unknown, c.state.depth, -static_cast<std::int64_t>(c.state.busy));
}

address any(const candidates& from, random_numbers& random) {
  return from[random.below(from.size())].at;
}

address better_of_two(const candidates& from, random_numbers& random) {
  const candidate& a = from[random.below(from.size())];
  const candidate& b = from[random.below(from.size())];
  return by_split(b) < by_split(a) ? b.at : a.at;
}

/// Chooses mostly a near candidate; once in so many times, as there are near ones, a far one: so
/// large tasks go on coming in while the near ones share them out (Tascell's servers do it so, by
/// chance alone). Of either the better of two.
address nearest(const candidates& from, random_numbers& random) {
  candidates near, far;
  for (const candidate& c : from) (c.how_far == distance::far ? far : near).push_back(c);
  if (near.empty() || far.empty()) return better_of_two(from, random);
  return better_of_two(random.below(near.size() + 1) == 0 ? far : near, random);
}

address least(const candidates& from, random_numbers& random) {
  const auto rank = [](const candidate& c) {
    return std::tuple_cat(by_split(c), std::tuple(c.how_far));
  };
  candidates best;
  for (const candidate& c : from) {
    if (!best.empty() && rank(best.front()) < rank(c)) continue;
    if (!best.empty() && rank(c) < rank(best.front())) best.clear();
    best.push_back(c);
  }
  return any(best, random);
}

}  // namespace

std::optional<address> choose(strategy how, const candidates& from, random_numbers& random) {
  if (how == strategy::relay) return relay_address;
  if (from.empty()) return std::nullopt;
  switch (how) {
    case strategy::near_first: return nearest(from, random);
    case strategy::two_choices: return better_of_two(from, random);
    case strategy::least_split: return least(from, random);
    case strategy::relay:
    case strategy::random: break;
  }
  return any(from, random);
}

}  // namespace cleave::net
