#include "net/strategy.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace cleave::net {
namespace {

using candidates = std::vector<candidate>;

/// Lower is better. Who is not known to do anything comes last.
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

/// Mostly a near one, sometimes a far one: so large tasks go on coming in while the near ones share them out.
address nearest(const candidates& from, unsigned misses, random_numbers& random) {
  candidates near, far;
  for (const candidate& c : from) (c.how_far == distance::far ? far : near).push_back(c);
  if (near.empty() || far.empty()) return better_of_two(from, random);
  const char* e = getenv("NF");
  const int mode = e ? atoi(e) : 0;
  const std::size_t n = misses == 0 || (mode & 2) ? near.size() + 1 : 2;
  const auto& side = random.below(n) == 0 ? far : near;
  return (mode & 1) ? any(side, random) : better_of_two(side, random);
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

std::optional<address> choose(strategy how, const candidates& from, unsigned misses,
                              random_numbers& random) {
  if (how == strategy::relay) return relay_address;
  if (from.empty()) return std::nullopt;
  switch (how) {
    case strategy::near_first: return nearest(from, misses, random);
    case strategy::two_choices: return better_of_two(from, random);
    case strategy::least_split: return least(from, random);
    case strategy::relay:
    case strategy::random: break;
  }
  return any(from, random);
}

}  // namespace cleave::net
