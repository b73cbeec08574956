#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/replay.hpp"
#include "graph/transfers.hpp"

// What the subtasks of a round come after.
namespace cleave::detail {
namespace {

/// A subtask in one of two rounds that follow each other.
struct instance {
  replayed* of;
  int round;
};

struct edge_of_round {
  replayed *from, *to;
  bool same_round;
};

bool is_sending(const replayed* n) noexcept { return n->transfers != 0; }

/// What datum_uses keeps, for subtasks that are all still to run.
class uses_in_turn {
public:
  template <class F>
  void each_before(access_mode mode, F f) const {
    const auto& these = mode == access_mode::in                        ? writers_
                        : mode == access_mode::add && goes_on_adding() ? before_
                        : readers_.empty()                             ? writers_
                                                                       : readers_;
    std::ranges::for_each(these, f);
  }
  void enter(access_mode mode, instance by) {
    if (mode == access_mode::in) return readers_.push_back(by);
    if (mode != access_mode::add || !goes_on_adding()) {
      std::swap(before_, readers_.empty() ? writers_ : readers_);
      readers_.clear(), writers_.clear();
      adding_ = mode == access_mode::add;
    }
    writers_.push_back(by);
  }

private:
  bool goes_on_adding() const noexcept { return adding_ && readers_.empty(); }
  std::vector<instance> writers_, readers_, before_;
  bool adding_ = false;
};

}  // namespace

vertex_ref replay::record(std::unique_ptr<subtask> s, std::span<const datum_use> uses,
                          std::span<const vertex_ref> after, std::uint64_t number) {
  replayed& n = all_.emplace_back(std::move(s), *this, all_.size());
  subtask& its = *n.of;
  its.replayed_ = &n, its.completed_ = true;
  its.in_graph().number = number;
  const auto adds = std::ranges::count(uses, access_mode::add, &datum_use::mode);
  if (adds != 0) its.adds_to_ = std::make_unique<datum_uses*[]>(static_cast<std::size_t>(adds));
  for (const datum_use& u : uses) {
    uses_[u.of].push_back({u.mode, &n});
    if (u.mode == access_mode::add) its.adds_to_[its.adds_++] = &u.of->uses;
  }
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
/// the first; in the first it is what is of the same round.
static std::vector<edge_of_round> edges_of(const replay::uses_by_datum& uses_of) {
  std::vector<edge_of_round> edges;
  for (const auto& [datum, uses] : uses_of) {
    uses_in_turn its;
    for (const int round : {0, 1}) {
      for (auto u = uses.begin(); u != uses.end();) {
        // A subtask may use the datum in several ways, and does not come after itself.
        const auto next = std::find_if(u, uses.end(), [&](const auto& o) { return o.by != u->by; });
        for (auto each = u; round == 1 && each != next; ++each)
          its.each_before(each->mode, [&](const instance& b) {
            if (b.of != each->by) edges.push_back({b.of, each->by, b.round == 1});
          });
        for (; u != next; ++u) its.enter(u->mode, {u->by, round});
      }
    }
  }
  return edges;
}

void replay::order() {
  auto edges = edges_of(uses_);
  for (const auto& [before, after] : named_) {
    edges.push_back({before, after, true});
    edges.push_back({after, before, false});  // they, too, run in turns
  }
  uses_.clear(), named_.clear();
  // Who comes after another one of the same round comes after its last run anyway.
  std::ranges::sort(edges, [](const edge_of_round& a, const edge_of_round& b) {
    return std::tuple(a.from->place, a.to->place, !a.same_round) <
           std::tuple(b.from->place, b.to->place, !b.same_round);
  });
  const auto is_same = [](const auto& a, const auto& b) {
    return a.from == b.from && a.to == b.to;
  };
  edges.erase(std::unique(edges.begin(), edges.end(), is_same), edges.end());
  for (const auto& e : edges) {
    (e.same_round ? e.from->same_round : e.from->next_round).push_back(e.to);
    ++e.to->all;
    if (e.same_round) e.to->unmet.fetch_add(1, std::memory_order_relaxed);
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
