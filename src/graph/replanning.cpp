#include "graph/replanning.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace cleave::detail {
namespace {

/// Where the first limit is, for all members.
constexpr std::uint64_t first_limit = 512;

}  // namespace

replanning::replanning(team_node& of, const machine_model& on, unsigned steps,
                       std::vector<std::byte> prefix)
    : node_(of), prefix_(std::move(prefix)), times_(roles_), limit_(first_limit) {
  own_.stop = first_limit, own_.tell_at = first_limit / 2;
  if (node_.rank != 0) return;
  reached_.resize(node_.size);
  planner_ = std::make_unique<replanner>(on, steps, roles_);
}

// ---- the owner

std::optional<unsigned> replanning::next(std::span<const datum_use> uses,
                                         std::optional<unsigned> asked) {
  own_.role = roles_.next(uses, asked);
  if (roles_.began_step()) begin_step();
  if (++own_.made >= own_.tell_at) tell_reached();
  if (own_.role >= ranks_.size() || ranks_[own_.role] == recorded_graph::any_rank) return {};
  return ranks_[own_.role];
}

std::uint32_t replanning::placed(unsigned rank) {
  if (rank == node_.rank) ++own_.here;
  if (planner_ != nullptr) planner_->steps.add(own_.role, rank, roles_.began_step());
  return own_.role;
}

void replanning::begin_step() {
  constexpr std::uint64_t steps = 3, least = 32;
  own_.lead = std::max(least, steps * (own_.here - std::exchange(own_.before_step, own_.here)));
  if (planner_ == nullptr || !planner_->asks(roles_.step())) return;
  const std::lock_guard lock(node_.mutex);
  for (unsigned to = 1; to < node_.size; ++to) node_.send(to, begin(message::asks));
  node_.flush();
  report();
}

void replanning::tell_reached() {
  const std::uint64_t limit = limit_.load(std::memory_order_relaxed);
  own_.tell_at = own_.made + std::max<std::uint64_t>(8, (limit - std::min(limit, own_.made)) / 2);
  if (node_.rank == 0) {
    const std::lock_guard lock(node_.mutex);
    return has_reached(0, own_.made);
  }
  auto m = begin(message::reached);
  byte_writer w(m);
  w.put<std::uint32_t>(node_.rank), w.put(own_.made);
  node_.send(0, std::move(m));
  node_.flush();
}

void replanning::tell_limit() { tell_reached(); }

void replanning::go_on() {
  const std::lock_guard lock(node_.mutex);
  if (!plans_.empty() && plans_.front().from == own_.made) {
    ranks_ = std::move(plans_.front().ranks);
    plans_.pop_front();
    if (planner_ != nullptr) planner_->begins(roles_.step());
  }
  own_.stop = plans_.empty() ? limit_.load(std::memory_order_relaxed) : plans_.front().from;
}

// ---- messages

std::vector<std::byte> replanning::begin(message kind) const {
  auto m = prefix_;
  byte_writer(m).put(static_cast<std::uint8_t>(kind));
  return m;
}

/// Has the first node get what was measured here. Called with the team's mutex.
void replanning::report() {
  if (planner_ != nullptr) {
    std::vector<std::byte> contents;
    byte_writer w(contents);
    times_.put_report(w);
    return planner_->report(std::move(contents));
  }
  auto m = begin(message::report);
  byte_writer w(m);
  times_.put_report(w);
  node_.send(0, std::move(m));
  node_.flush();
}

/// Called with the team's mutex, on the first node. Raises the limit early enough that nobody waits
/// there but who would have to wait for a slower one anyway.
void replanning::has_reached(unsigned rank, std::uint64_t made) {
  constexpr std::uint64_t steps = 3, least = 128;
  reached_[rank] = std::max(reached_[rank], made);
  const std::uint64_t step = planner_->steps.length();
  const std::uint64_t window = step == 0 ? first_limit : std::max(least, steps * step);
  const std::uint64_t limit = limit_.load(std::memory_order_relaxed);
  const std::uint64_t next = *std::ranges::min_element(reached_) + window;
  if (next < limit + window / 4) return;
  auto anew = planner_->take_plan();
  auto m = begin(message::limit);
  byte_writer w(m);
  w.put(next), w.put(anew.has_value());
  if (anew) w.put_length(anew->size()), w.put_all(anew->data(), anew->size());
  for (unsigned to = 1; to < node_.size; ++to) node_.send(to, m);
  node_.flush();
  raise(next, std::move(anew));
}

/// Called with the team's mutex.
void replanning::raise(std::uint64_t limit, std::optional<role_ranks> with) {
  if (with) plans_.push_back({limit_.load(std::memory_order_relaxed), std::move(*with)});
  limit_.store(limit, std::memory_order_release);  // partner: may_go_on()
}

void replanning::receive(byte_reader& r) {
  switch (static_cast<message>(r.get<std::uint8_t>())) {
    case message::reached: {
      const auto rank = r.get<std::uint32_t>();
      if (planner_ == nullptr || rank >= reached_.size()) r.fail("a member of the team");
      return has_reached(rank, r.get<std::uint64_t>());
    }
    case message::limit: {
      const auto limit = r.get<std::uint64_t>();
      std::optional<role_ranks> anew;
      if (r.get<bool>()) {
        const std::size_t n = r.get_length();
        if (n > r.left() / sizeof(std::uint32_t)) r.fail("the ranks of subtasks");
        anew.emplace(n);
        r.get_all(anew->data(), n);
        for (const std::uint32_t rank : *anew)
          if (rank >= node_.size && rank != recorded_graph::any_rank) r.fail("a rank");
      }
      return raise(limit, std::move(anew));
    }
    case message::asks: return report();
    case message::report: {
      if (planner_ == nullptr) r.fail("a message to this node");
      const auto contents = r.raw(r.left());
      return planner_->report({contents.begin(), contents.end()});
    }
  }
  r.fail("a kind of message of planning");
}

}  // namespace cleave::detail
