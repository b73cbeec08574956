#include "graph/replay.hpp"

#include <cleave/detail/clock.hpp>
#include <cleave/detail/set_while.hpp>
#include <cleave/poll.hpp>

#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/pool.hpp"
#include "core/watch.hpp"
#include "core/worker.hpp"
#include "graph/transfers.hpp"

namespace cleave::detail {
namespace {

/// Ticks: a subtask that takes longer is worth a task.
std::uint64_t longest_short() noexcept { return 20 * ticks_per_microsecond(); }

/// Ticks: during a subtask that takes longer, the driver's thread receives what comes.
std::uint64_t longest_watched() noexcept { return 100 * ticks_per_microsecond(); }

/// Ticks for which a value waits for the others of its group. A message costs its two nodes about a
/// fifth of that, and who has all that it needs loses less by waiting than by as many messages.
std::uint64_t longest_held() noexcept { return 8 * ticks_per_microsecond(); }

/// Ticks for which a value waits that is the last one of its group, if another one will soon go to
/// some node.
std::uint64_t longest_held_alone() noexcept { return ticks_per_microsecond() / 2; }

/// The time of so many short subtasks is taken together.
constexpr unsigned timed_together = 8;

}  // namespace

// ---- its tasks

/// Runs subtasks that are ready, and what they make ready.
class replay::runner final : public group_task {
public:
  runner(replay& r, replayed* ready) noexcept : group_task(r.graph_), of_(r), ready_(ready) {
    name = "repeat";
  }
  void take(replayed* ready) noexcept { ready_ = ready; }
  void execute() noexcept override { of_.run_all(std::exchange(ready_, nullptr)); }
  /// Where it has not run, others find what it had: or they see that the graph is cancelled.
  void dispose() noexcept override {
    of_.make_all_ready(ready_);
    delete this;
  }

private:
  replay& of_;
  replayed* ready_;
};

/// It is pending as long as any subtask has rounds to run.
class replay::last_of_all final : public group_task {
public:
  explicit last_of_all(replay& r) noexcept : group_task(r.graph_) {}
  void execute() noexcept override {}
  void dispose() noexcept override {}
};

// ---- the owner

replay::replay(graph_scope& g, std::uint64_t rounds)
    : graph_(g),
      rounds_(rounds),
      begun_(g.made_),
      between_(g.nodes != nullptr
                   ? std::make_unique<round_transfers>(*g.nodes, *this, rounds, workers_of(g) > 1)
                   : nullptr),
      unlisted_(g, *this),
      usual_(longest_short()),
      last_(std::make_unique<last_of_all>(*this)) {}

replay::~replay() = default;

void replay::run() {
  order();
  numbers_ = graph_.made_ - begun_;
  graph_.made_ = begun_ + rounds_ * numbers_;
  left_.store(all_.size(), std::memory_order_relaxed);
  if (all_.empty()) over_.store(true, std::memory_order_relaxed);
  else graph_.pending.begin();
  replayed* ready = nullptr;
  for (auto n = all_.rbegin(); n != all_.rend(); ++n)
    if (n->unmet.load(std::memory_order_relaxed) == 0) n->next = std::exchange(ready, &*n);
  try {
    if (between_ != nullptr) graph_.nodes->enter_replay(*between_);
    run_here(ready);
    end();
  } catch (...) {
    abandon();
    end();
    throw;
  }
}

void replay::end() noexcept {
  if (between_ != nullptr) graph_.nodes->leave_replay();
  detail::wait(graph_);
}

void replay::run_here(replayed* ready) noexcept {
  runner own(*this, nullptr);
  const bool alone = workers_of(graph_) == 1 && !graph_.owner->of.cpus.oversubscribed;
  watch messages(alone ? graph_.from_nodes : nullptr);
  auto is_over = [this] { return over_.load(std::memory_order_acquire); };
  auto has_more = [&] { return unlisted_.any() || is_over(); };
  while (!is_over()) {
    bool found;
    {
      const scope_frame inside(own);
      const set_while running(unlisted_.owner_takes);
      run_all(std::exchange(ready, nullptr), &messages);
      const auto is_told = [] { return (rung_signals() & attention) != 0; };
      found = is_over() || messages.until([&] { return has_more() || is_told(); });
      if (is_told() && !answer(nullptr)) abandon();
    }
    if (!found) {
      messages.end();
      detail::wait(graph_, has_more);
      messages.has_slept();
    }
    if (detail::stopped(&graph_)) abandon();
  }
}

// ---- any thread

void unlisted_subtasks::add(replayed* first) noexcept {
  replayed* last = first;
  while (last->next != nullptr) last = last->next;
  last->next = first_.load(std::memory_order_relaxed);
  // Release: what made them ready. Partner: take().
  while (!first_.compare_exchange_weak(last->next, first, std::memory_order_release,
                                       std::memory_order_relaxed)) {}
  if (here.self != of_.graph_.owner || !owner_takes) wake();
}

void unlisted_subtasks::wake() noexcept {
  if (is_pending_.exchange(true, std::memory_order_acq_rel)) return;
  of_.graph_.pending.begin();
  detail::make_ready(*this);
}

void unlisted_subtasks::execute() noexcept { of_.run_all(nullptr); }

void unlisted_subtasks::dispose() noexcept {
  is_pending_.exchange(false, std::memory_order_acq_rel);
  if (of_.over_.load(std::memory_order_relaxed)) return;
  if (detail::stopped(&of_.graph_)) return of_.abandon();
  if (any()) wake();
}

void unlisted_subtasks::take(replayed*& ready) noexcept {
  if (!any()) return;
  replayed* last = first_.exchange(nullptr, std::memory_order_acquire);
  if (last == nullptr) return;  // another worker was first
  replayed* const first = last;
  while (last->next != nullptr) last = last->next;
  last->next = std::exchange(ready, first);
}

void replay::make_all_ready(replayed* first) noexcept {
  if (first != nullptr) unlisted_.add(first);
}

void replay::abandon() noexcept {
  if (!over_.exchange(true, std::memory_order_acq_rel)) detail::make_ready(*last_);
}

/// Whether what was sent leaves now, and is not held for what follows.
bool replay::is_to_leave(const replayed& next, std::uint64_t held_since) const noexcept {
  if (next.sends) return false;
  const bool awaits_more = between_->awaits_more();
  if (!next.is_awaited && !awaits_more) return true;
  const std::uint64_t takes = next.is_call ? usual_.load(std::memory_order_relaxed) : 0;
  const std::uint64_t longest = awaits_more ? longest_held() : longest_held_alone();
  return ticks() - held_since + takes >= longest;
}

/// Runs these, and what becomes ready by them, in a task of the graph. `messages` is a watch that
/// this worker has, or null.
void replay::run_all(replayed* ready, watch* messages) noexcept {
  std::uint64_t since = ticks();
  unsigned timed = 0;            // calls since then
  bool has_called = false;       // since it has looked for messages
  std::uint64_t held_since = 0;  // when the first of the values was sent that wait; 0: none
  while (!over_.load(std::memory_order_relaxed)) {
    // What goes to another node goes first, then what a message has made ready: others may wait for
    // what comes after it.
    if (ready == nullptr || !ready->sends) {
      const bool looks = std::exchange(has_called, false) && messages != nullptr;
      if (looks && ready != nullptr && !has_unsent()) messages->look();
      unlisted_.take(ready);
    }
    if (ready == nullptr) break;
    replayed& n = *std::exchange(ready, ready->next);
    if (!has_locks(n)) continue;
    const std::uint64_t usual = usual_.load(std::memory_order_relaxed);
    const bool are_long = usual >= longest_short();
    if (messages != nullptr && usual >= longest_watched()) messages->end();
    if (are_long && workers_of(graph_) > 1) spawn_all(ready);
    if (!run(n)) return abandon();
    ready = complete(n, ready);
    timed += n.is_call, has_called |= n.is_call;
    if (timed >= (are_long ? 1 : timed_together)) {
      const std::uint64_t now = ticks();
      usual_.store((now - since) / std::exchange(timed, 0), std::memory_order_relaxed);
      since = now;
      // Who always has something to run never waits, and so would not begin to watch: then each
      // message would wake the driver's thread.
      if (messages != nullptr && usual < longest_watched()) messages->begin();
    }
    if (has_unsent()) {
      if (held_since == 0) held_since = ticks();
      if (ready != nullptr && is_to_leave(*ready, held_since)) between_->flush(), held_since = 0;
    }
    if (rung_signals() != 0 && !answer(ready)) [[unlikely]]
      return abandon();
  }
  if (has_unsent()) between_->flush();
}

bool replay::has_unsent() const noexcept {
  return between_ != nullptr && graph_.nodes->has_unflushed();
}

/// Whether it has those that it needs; else it is made ready when it has got them.
bool replay::has_locks(replayed& n) noexcept {
  return n.of->adds_ == 0 || n.of->locked_ || graph_.lock(*n.of);
}

bool replay::count_off(replayed& n) noexcept {
  // acq_rel: what was done, to those after it. Partners: the others that count off. Nobody else
  // changes a 1, which is this one.
  return n.unmet.load(std::memory_order_acquire) == 1 ||
         n.unmet.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

/// Returns false if the graph is cancelled.
bool replay::run(replayed& n) noexcept {
  subtask& s = *n.of;
  n.unmet.store(n.all, std::memory_order_relaxed);
  if (n.arrived != nullptr) take_arrival(n);
  const std::uint64_t number = s.in_graph().number;
  if (graph_.error.is_before(number)) {
    s.skip();
    return true;
  }
  try {
    graph_.nodes != nullptr ? graph_.nodes->run(s) : s.call();
  } catch (const cancelled&) { return false; } catch (...) {
    graph_.keep(number, std::current_exception());
  }
  return true;
}

/// Puts what this makes ready in front of the list, and returns it.
replayed* replay::complete(replayed& n, replayed* ready) noexcept {
  subtask& s = *n.of;
  const bool is_last = ++n.round == rounds_;
  s.in_graph().number += numbers_;
  if (n.sends) static_cast<distribution::send&>(s).next_round();
  if (s.locked_) graph_.unlock(s);
  const auto tell = [&ready, this](replayed& to) {
    if (!count_off(to)) return;
    if (between_ == nullptr || to.sends) {
      to.next = std::exchange(ready, &to);
      return;
    }
    to.next = nullptr;
    replayed** at = &ready;
    while (*at != nullptr) at = &(*at)->next;
    *at = &to;
  };
  for (replayed* const to : n.later.same_round) tell(*to);
  if (!is_last) {
    for (replayed* const to : n.later.next_round) tell(*to);
  } else if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    abandon();
  }
  return ready;
}

/// Serves whoever has rung. Returns false if the graph is cancelled.
bool replay::answer(replayed* ready) noexcept {
  try {
    if (ready != nullptr && ready->next != nullptr) give_half(ready);
    poll();
  } catch (const cancelled&) { return false; } catch (const std::bad_alloc&) {
    // Nothing was given. All is in the list still, or where others find it.
  }
  return !detail::stopped(&graph_);
}

/// Every other one, so that neighbours, which have the same data, are on both sides.
void replay::give_half(replayed* ready) {
  auto given = std::make_unique<runner>(*this, nullptr);
  replayed* half = nullptr;
  for (replayed* n = ready; n != nullptr && n->next != nullptr; n = n->next) {
    replayed* const second = n->next;
    n->next = second->next;
    second->next = std::exchange(half, second);
  }
  given->take(half);
  spawn(*given.release());
}

void replay::spawn_all(replayed*& ready) noexcept {
  while (ready != nullptr) {
    try {
      auto given = std::make_unique<runner>(*this, nullptr);
      replayed& n = *std::exchange(ready, ready->next);
      n.next = nullptr;
      given->take(&n);
      spawn(*given.release());
    } catch (const cancelled&) {
      // The next poll tells.
    } catch (const std::bad_alloc&) { return; }
  }
}

// ---- transfers

void replay::take_arrival(replayed& n) noexcept {
  auto& r = static_cast<distribution::receive_values&>(*n.of);
  r.of_round = &n.arrived->take();
  // It is not ready by that: the subtask itself is left, or what it comes after.
  if (n.arrived->has_next()) n.unmet.fetch_sub(1, std::memory_order_relaxed);
}

// ---- the graph

bool graph_scope::begin_replay(std::uint64_t rounds) {
  refuse_in_replay("not within itself");
  if (nodes != nullptr && nodes->is_mine())
    throw std::logic_error("cleave::graph::repeat: not within for_mine()");
  // All nodes do that, also one that makes the rounds one by one.
  if (nodes != nullptr) nodes->begin_replay();
  // What subtasks take is recorded for each, and the order of those that are ready is another.
  if (owner == nullptr || owner->of.recording != nullptr || order_ != nullptr) return false;
  detail::wait(*this);
  replay_ = std::make_unique<replay>(*this, rounds);
  return true;
}

void graph_scope::run_replay() {
  const std::unique_ptr<replay> rounds = std::move(replay_);
  try {
    rounds->run();
  } catch (...) {
    if (nodes != nullptr) nodes->cancel();
    throw;
  }
  told_stopped(this);
}

void graph_scope::drop_replay() noexcept {
  replay_ = nullptr;
  if (nodes != nullptr) nodes->cancel();  // others may wait for what this node was to send
}

void graph_scope::refuse_in_replay(const char* what) const {
  if (replay_ != nullptr) throw std::logic_error(std::string("cleave::graph::repeat: ") + what);
}

}  // namespace cleave::detail
