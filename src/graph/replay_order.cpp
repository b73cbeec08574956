#include <algorithm>
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

bool is_sending(const replayed* n) noexcept { return n->transfers != 0; }

}  // namespace

vertex_ref replay::record(std::unique_ptr<subtask> s, std::span<const datum_use> uses,
                          std::span<const vertex_ref> after, std::uint64_t number) {
  replayed& n = all_.emplace_back(std::move(s), *this, all_.size());
  subtask& its = *n.of;
  its.replayed_ = &n, its.completed_ = true;
  its.in_graph().number = number;
  n.uses.assign(uses.begin(), uses.end());
  for (const vertex_ref& v : after)
    if (vertex* const before = v.get())
      if (replayed* const other = subtask::of(*before).replayed_) named_.push_back({other, &n});
  if (its.kind_ == subtask::kind::send) {
    auto& sends = static_cast<distribution::send&>(its);
    ++sent_[sends.to];
  } else if (its.kind_ == subtask::kind::receive) {
    n.arrived = std::make_unique<replayed::arrivals>();
    receives_[static_cast<distribution::receive_values&>(its).from].push_back(&n);
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
      for (const datum_use& u : n.uses) uses_of[u.of].make_room(link);
      before.clear();
      for (const datum_use& u : n.uses) uses_of[u.of].collect(u.mode, link, before);
      for (vertex* const b : before) {
        replayed* const other = subtask::of(*b).replayed_;
        if (is_second && other != &n) edges.push_back({other, &n});
      }
      vertex& its = n.of->in_graph();
      for (const datum_use& u : n.uses) uses_of[u.of].enter(u.mode, {&its, its.number, 0});
    }
  }
  for (const auto& [first, second] : named_) {
    edges.push_back({first, second});
    edges.push_back({second, first});  // they, too, run in turns
  }
  named_.clear();
  const auto places = [](const edge_of_round& e) { return std::pair(e.from->place, e.to->place); };
  std::ranges::sort(edges, {}, places);
  const auto is_same = [&](const auto& a, const auto& b) { return places(a) == places(b); };
  edges.erase(std::unique(edges.begin(), edges.end(), is_same), edges.end());
  for (const auto& [from, to] : edges) {
    const bool is_same_round = from->place < to->place;
    (is_same_round ? from->same_round : from->next_round).push_back(to);
    ++to->all;
    if (is_same_round) to->unmet.fetch_add(1, std::memory_order_relaxed);
  }
  for (replayed& n : all_) {
    if (n.all == 0) n.next_round.push_back(&n), ++n.all;  // nothing else keeps two runs apart
    if (n.arrived == nullptr) continue;
    ++n.all;
    n.unmet.fetch_add(1, std::memory_order_relaxed);
  }
  choose_first();
}

/// Of what a subtask makes ready, what is told last runs first: what goes to another node, then
/// what leads to it, then the earliest.
void replay::choose_first() {
  for (replayed& n : all_)
    if (n.of->kind_ == subtask::kind::send)
      n.transfers = sent_[static_cast<distribution::send&>(*n.of).to];
  for (replayed& n : all_)
    n.is_awaited = is_sending(&n) || std::ranges::any_of(n.same_round, is_sending) ||
                   std::ranges::any_of(n.next_round, is_sending);
  const auto runs_later = [](const replayed* a, const replayed* b) {
    return std::tuple(is_sending(a), a->is_awaited, b->place) <
           std::tuple(is_sending(b), b->is_awaited, a->place);
  };
  for (replayed& n : all_) {
    std::ranges::sort(n.same_round, runs_later);
    std::ranges::sort(n.next_round, runs_later);
  }
}

}  // namespace cleave::detail
