#include <cleave/detail/graph/distribution.hpp>

#include <cleave/detail/travel/bytes.hpp>

#include <stdexcept>
#include <string>
#include <utility>

// A part of a graph of which each node makes only what concerns it (team_graph::for_mine).
namespace cleave::detail {
namespace {

/// The numbers that each position in program order has for its subtasks and their transfers.
constexpr std::uint64_t stride = 4096;

}  // namespace

void distribution::refuse_in_mine(const char* what) {
  throw std::logic_error(std::string("cleave::team_graph::for_mine: ") + what);
}

void distribution::require_at_home(std::span<const datum_use> uses, unsigned to) {
  for (const datum_use& u : uses)
    if (u.mode != access_mode::in && u.of->place.home != to)
      refuse_in_mine("a datum is written at its home");
}

void distribution::require_newest_at_homes() const {
  for (const datum_place* const d : mine_.data)
    if (!d->holders.empty() && d->holders.front() != d->home)
      refuse_in_mine("the newest value of each datum is at its home");
}

void distribution::begin_mine() {
  if (mine_.is_on) refuse_in_mine("within itself");
  if (!planning_.file.empty() || planning_.plan != nullptr || planning_.recording != nullptr)
    refuse_in_mine("a graph with a plan is made by all");
  if (replanning_ != nullptr) refuse_in_mine("a graph that is planned anew is made by all");
  if (graph_.lends != nullptr) refuse_in_mine("a graph whose nodes lend subtasks is made by all");
  require_newest_at_homes();
  mine_.is_on = mine_.was_on = true;
  mine_.begun = graph_.made_, mine_.next = 0;
}

void distribution::next_of_mine(std::uint64_t i, std::uint64_t n) {
  if (i < mine_.next || i >= n) refuse_in_mine("numbers below n, in ascending order");
  if (graph_.made_ > mine_.begun + mine_.next * stride)
    refuse_in_mine("too many uses at one number");
  mine_.next = i + 1;
  graph_.made_ = mine_.begun + i * stride;
}

void distribution::end_mine(std::uint64_t n) {
  mine_.is_on = false;
  made_.all.add(entry::mine), made_.all.add(n);
  graph_.made_ = mine_.begun + n * stride;
  if (graph_.replay_ != nullptr) mine_.lengths.push_back(n);
  reset_to_homes();
}

/// Nobody knows who has read what of whom; but all know who has the newest values.
void distribution::reset_to_homes() noexcept {
  for (datum_place* const d : mine_.data) {
    d->holders.assign(1, d->home);
    d->is_here = d->home == rank();
    d->read_at.clear(), d->read_before_at.clear();
  }
}

/// Tells each node with which there are transfers how many: what one does not make another would
/// wait for. Called when this node has joined an agreement.
void distribution::tell_transfers() {
  if (!mine_.was_on) return;
  std::uint64_t round;
  {
    const std::lock_guard lock(node_.mutex);
    round = mine_.counted = rounds_.joined;
    mine_.sent = between_.sent;
    mine_.made.clear();
    for (const lane& from : between_.from) mine_.made.push_back(from.made());
    compare_transfers();
  }
  for (unsigned to = 0; to < size(); ++to) {
    if (mine_.sent[to] == 0 && mine_.made[to] == 0) continue;
    auto message = begin(kind::transfers);
    byte_writer w(message);
    w.put(round), w.put<std::uint32_t>(rank()), w.put(mine_.sent[to]), w.put(mine_.made[to]);
    node_.send(to, message);
  }
  node_.flush();
}

/// Called with the team's mutex.
void distribution::compare_transfers() {
  std::erase_if(mine_.told, [this](const partly_made::counts& its) {
    if (its.round > mine_.counted) return false;
    const bool same =
        its.from < size() && its.made == mine_.sent[its.from] && its.sent == mine_.made[its.from];
    if (same || its.round < mine_.counted) return true;
    if (rank() == 0) return differ(its.round), true;
    auto message = begin(kind::differing);
    byte_writer(message).put(its.round);
    node_.send(0, message);
    return node_.flush(), true;
  });
}

// ---- the graph

void graph_scope::begin_mine() {
  if (nodes != nullptr) nodes->begin_mine();
}
void graph_scope::next_of_mine(std::uint64_t i, std::uint64_t n) {
  if (nodes != nullptr) nodes->next_of_mine(i, n);
}
void graph_scope::end_mine(std::uint64_t n) {
  if (nodes != nullptr) nodes->end_mine(n);
}

}  // namespace cleave::detail
