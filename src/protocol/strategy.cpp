#include "protocol/strategy.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <tuple>

#include "machine/settings.hpp"

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

/// The choice of the root of all servers: one of its children, each as likely as the other. A
/// server passes the request on to one of its nodes.
address by_root_server(const candidates& nodes, const candidates& elsewhere, random_numbers& random,
                       const server_tree& servers) {
  std::map<std::uint64_t, candidates> others;
  for (const candidate& c : elsewhere) others[c.site].push_back(c);
  const bool assumed = servers.site_nodes != 0 && !nodes.empty();
  const std::size_t children = assumed ? servers.site_nodes : nodes.size();
  const std::size_t child = random.below(children + others.size());
  if (child < children) return any(nodes, random);
  return any(std::next(others.begin(), static_cast<std::ptrdiff_t>(child - children))->second,
             random);
}

/// A site's server passes a request up with probability 1/(n + 1) for n nodes, and when no node
/// below can have anything.
address by_servers(const candidates& from, random_numbers& random, const server_tree& servers) {
  candidates near, far;
  for (const candidate& c : from) (c.how_far == distance::far ? far : near).push_back(c);
  if (servers.at_root) return by_root_server(near, far, random, servers);
  const std::size_t n = servers.site_nodes != 0 ? servers.site_nodes : servers.nodes;
  const bool up = random.below(n + 1) == 0;
  if (far.empty() || (!up && !near.empty())) return any(near, random);
  const auto others = std::partition(
      far.begin(), far.end(), [&](const candidate& c) { return c.site == servers.root_site; });
  return by_root_server({far.begin(), others}, {others, far.end()}, random, servers);
}

std::string expected_names() {
  std::string all;
  for (const auto& [name, how] : strategy_names) {
    if (!all.empty()) all += how == strategy::relay_random ? " or " : ", ";
    all += name;
  }
  return all + "[,N]";
}

}  // namespace

preference read_preference(std::string_view setting, std::string_view text) {
  const std::size_t comma = std::min(text.find(','), text.size());
  const auto* const named =
      std::find_if(std::begin(strategy_names), std::end(strategy_names),
                   [&](const strategy_name& n) { return n.name == text.substr(0, comma); });
  const bool has_number = comma != text.size();
  if (named == std::end(strategy_names) || (has_number && named->how != strategy::relay_random)) {
    throw std::invalid_argument(std::string(setting) + ": expected " + expected_names() +
                                ", got '" + std::string(text) + "'");
  }
  preference p{named->how, 0};
  if (has_number) {
    p.site_nodes = static_cast<unsigned>(machine::whole_number(
        std::string(setting) + ": relay-random,N", text.substr(comma + 1), 1, most_site_nodes));
  }
  return p;
}

std::optional<preference> preference_of_environment() {
  constexpr const char* setting = "CLEAVE_ASK";
  const char* const text = std::getenv(setting);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return read_preference(setting, text);
}

std::string to_string(const preference& p) {
  const auto* const named = std::find_if(std::begin(strategy_names), std::end(strategy_names),
                                         [&](const strategy_name& n) { return n.how == p.how; });
  std::string text(named->name);
  return p.site_nodes == 0 ? text : text + "," + std::to_string(p.site_nodes);
}

std::optional<address> choose(strategy how, const candidates& from, random_numbers& random,
                              const server_tree& servers) {
  if (how == strategy::relay) return relay_address;
  if (from.empty()) return std::nullopt;
  switch (how) {
    case strategy::near_first: return nearest(from, random);
    case strategy::two_choices: return better_of_two(from, random);
    case strategy::least_split: return least(from, random);
    case strategy::relay_random: return by_servers(from, random, servers);
    case strategy::relay:
    case strategy::random: break;
  }
  return any(from, random);
}

}  // namespace cleave::net
