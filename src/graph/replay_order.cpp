#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/replay.hpp"
#include "graph/transfers.hpp"

// What the subtasks of a round come after.
namespace cleave::detail {
namespace {

struct edge_of_round {
  replayed *from, *to;
};

bool is_sending(const replayed* n) noexcept { return n->sends; }

}  // namespace

vertex_ref replay::record(std::unique_ptr<subtask> s, std::span<const datum_use> uses,
                          std::span<const vertex_ref> after, std::uint64_t number) {
  replayed& n = all_.emplace_back(std::move(s), *this, all_.size());
  subtask& its = *n.of;
  its.replayed_ = &n, its.completed_ = true;
  its.in_graph().number = number;
  recorded_.uses.emplace_back(uses.begin(), uses.end());
  for (const vertex_ref& v : after)
    if (vertex* const before = v.get())
      if (replayed* const other = subtask::of(*before).replayed_)
        recorded_.before.push_back({other, &n});
  n.is_call = its.kind_ == subtask::kind::call;
  if (its.kind_ == subtask::kind::send) {
    auto& sends = static_cast<distribution::send&>(its);
    sends.within = &between_->letter(sends.to);
    n.sends = true;
  } else if (its.kind_ == subtask::kind::receive) {
    n.arrived = std::make_unique<round_arrivals>();
    between_->add_receive(static_cast<distribution::receive_values&>(its).from, n);
  }
  return {&its.in_graph(), number, graph_.nodes != nullptr ? graph_.nodes->rank() : 0};
}

/// Goes through two rounds: what comes before a subtask of the second one is the same in each but
/// the first. What is in front of it in the program is of the same round, all else of the one
/// before.
void replay::order() {
  std::vector<edge_of_round> edges;
  std::unordered_map<const any_datum*, datum_uses> uses_of;
  std::vector<vertex*> before;
  for (const bool is_second : {false, true}) {
    for (replayed& n : all_) {
      const std::uint64_t link = ++graph_.links_;
      for (const datum_use& u : recorded_.uses[n.place]) uses_of[u.of].make_room(link);
      before.clear();
      for (const datum_use& u : recorded_.uses[n.place])
        uses_of[u.of].collect(u.mode, link, before);
      for (vertex* const b : before) {
        replayed* const other = subtask::of(*b).replayed_;
        if (is_second && other != &n) edges.push_back({other, &n});
      }
      vertex& its = n.of->in_graph();
      for (const datum_use& u : recorded_.uses[n.place])
        uses_of[u.of].enter(u.mode, {&its, its.number, 0});
    }
  }
  for (const auto& [first, second] : recorded_.before) {
    edges.push_back({first, second});
    edges.push_back({second, first});  // they, too, run in turns
  }
  recorded_ = {};
  const auto places = [](const edge_of_round& e) { return std::pair(e.from->place, e.to->place); };
  std::ranges::sort(edges, {}, places);
  const auto is_same = [&](const auto& a, const auto& b) { return places(a) == places(b); };
  edges.erase(std::unique(edges.begin(), edges.end(), is_same), edges.end());
  for (const auto& [from, to] : edges) {
    const bool is_same_round = from->place < to->place;
    (is_same_round ? from->later.same_round : from->later.next_round).push_back(to);
    ++to->all;
    if (is_same_round) to->unmet.fetch_add(1, std::memory_order_relaxed);
  }
  for (replayed& n : all_) {
    if (n.all == 0) n.later.next_round.push_back(&n), ++n.all;  // nothing else keeps two runs apart
    if (n.arrived == nullptr) continue;
    ++n.all;
    n.unmet.fetch_add(1, std::memory_order_relaxed);
  }
  group_sends();
  choose_first();
}

/// What goes to the same node and has as many subtasks before it in the round is ready at about the
/// same time.
void replay::group_sends() {
  if (between_ == nullptr) return;
  std::vector<std::size_t> depths(all_.size());
  const auto raise = [&depths](std::size_t depth, const std::vector<replayed*>& after) {
    for (const replayed* const n : after) depths[n->place] = std::max(depths[n->place], depth + 1);
  };
  for (unsigned round = 0; round < 3; ++round) {
    for (const replayed& n : all_) raise(depths[n.place], n.later.same_round);
    for (const replayed& n : all_) raise(depths[n.place], n.later.next_round);
  }
  for (const replayed& n : all_) raise(depths[n.place], n.later.same_round);
  std::map<std::pair<unsigned, std::size_t>, std::size_t> groups;  // by node and depth
  for (replayed& n : all_) {
    const std::size_t depth = depths[n.place];
    if (!n.sends) continue;
    auto& its = static_cast<distribution::send&>(*n.of);
    its.group = groups.try_emplace({its.to, depth}, its.within->groups()).first->second;
    its.within->add_to_group(its.group);
  }
}

/// Of what a subtask makes ready, what is told last runs first: what goes to another node, then
/// what leads to it, then the earliest.
void replay::choose_first() {
  for (replayed& n : all_)
    n.is_awaited = is_sending(&n) || std::ranges::any_of(n.later.same_round, is_sending) ||
                   std::ranges::any_of(n.later.next_round, is_sending);
  const auto runs_later = [](const replayed* a, const replayed* b) {
    return std::tuple(is_sending(a), a->is_awaited, b->place) <
           std::tuple(is_sending(b), b->is_awaited, a->place);
  };
  for (replayed& n : all_) {
    std::ranges::sort(n.later.same_round, runs_later);
    std::ranges::sort(n.later.next_round, runs_later);
  }
}

}  // namespace cleave::detail
