#include "graph/replanning.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "graph/recorder.hpp"

namespace cleave::detail {
namespace {

/// Where the first limit is, for all members, and how far it is from what they have done while
/// nobody knows how long a step is.
constexpr std::uint64_t first_limit = 512;
/// How far the limit is from what all have done: so many steps, and so many subtasks.
constexpr std::uint64_t steps_ahead = 3, least_ahead = 256;

}  // namespace

replanning::replanning(team_node& of, const machine_model& on, unsigned steps,
                       std::vector<std::byte> prefix)
    : node_(of), prefix_(std::move(prefix)), times_(roles_), limit_(first_limit) {
  own_.stop = first_limit;
  if (node_.rank != 0) return;
  all_done_.resize(node_.size);
  planner_ = std::make_unique<replanner>(on, steps, roles_);
}

// ---- the owner

std::optional<unsigned> replanning::next(std::span<const datum_use> uses,
                                         std::optional<unsigned> asked) {
  own_.role = roles_.next(uses, asked);
  if (roles_.began_step()) begin_step();
  mark();
  ++own_.made;
  if (own_.role >= ranks_.size() || ranks_[own_.role] == recorded_graph::any_rank) return {};
  return ranks_[own_.role];
}

std::uint32_t replanning::placed(unsigned rank) {
  if (rank == node_.rank) done_.runs_here();
  if (planner_ != nullptr) planner_->steps.add(own_.role, rank, roles_.began_step());
  return own_.role;
}

/// Has the first node be told when what was made is done, some times before the limit.
void replanning::mark() {
  const std::uint64_t least = std::max(least_ahead / 4, own_.step_length / 2);
  if (own_.made < done_.marked() + least) return;
  if (const auto done = done_.mark(own_.made)) tell_done(*done);
}

void replanning::all_done() {
  done_.all_ran();
  tell_done(own_.made);
}

void replanning::begin_step() {
  own_.step_length = own_.made - std::exchange(own_.step_began, own_.made);
  if (planner_ == nullptr || !planner_->asks(roles_.step(), recorder::now())) return;
  const std::lock_guard lock(node_.mutex);
  for (unsigned to = 1; to < node_.size; ++to) node_.send(to, begin(message::asks));
  node_.flush();
  report();
}

/// Tells the first node that so many subtasks are done.
void replanning::tell_done(std::uint64_t subtasks) {
  if (node_.rank == 0) {
    {
      const std::lock_guard lock(node_.mutex);
      if (!has_done(0, subtasks)) return;
    }
    return node_.tell();
  }
  auto m = begin(message::done);
  byte_writer w(m);
  w.put<std::uint32_t>(node_.rank), w.put(subtasks);
  node_.send(0, m);
  node_.flush();
}

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
  node_.send(0, m);
  node_.flush();
}

/// Called with the team's mutex, on the first node. Returns whether the limit is raised.
bool replanning::has_done(unsigned rank, std::uint64_t subtasks) {
  all_done_[rank] = std::max(all_done_[rank], subtasks);
  const std::uint64_t step = planner_->steps.length();
  const std::uint64_t ahead = step == 0 ? first_limit : std::max(least_ahead, steps_ahead * step);
  const std::uint64_t next = *std::ranges::min_element(all_done_) + ahead;
  if (next < limit_.load(std::memory_order_relaxed) + ahead / 8) return false;
  auto anew = planner_->take_plan();
  auto m = begin(message::limit);
  byte_writer w(m);
  w.put(next), w.put(anew.has_value());
  if (anew) w.put_length(anew->size()), w.put_all(anew->data(), anew->size());
  for (unsigned to = 1; to < node_.size; ++to) node_.send(to, m);
  node_.flush();
  raise(next, std::move(anew));
  return true;
}

/// Called with the team's mutex.
void replanning::raise(std::uint64_t limit, std::optional<role_ranks> with) {
  if (with) plans_.push_back({limit_.load(std::memory_order_relaxed), std::move(*with)});
  limit_.store(limit, std::memory_order_release);  // partner: may_go_on()
}

void replanning::receive(byte_reader& r) {
  switch (static_cast<message>(r.get<std::uint8_t>())) {
    case message::done: {
      const auto rank = r.get<std::uint32_t>();
      if (planner_ == nullptr || rank >= all_done_.size()) r.fail("a member of the team");
      has_done(rank, r.get<std::uint64_t>());
      return;
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
