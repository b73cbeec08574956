#include "sim/workers.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/node_of_workers.hpp"

/// What workers do with their time: visits, joins, and the ends of parts.
namespace sim {

workers_result node_of_workers::run() {
  const std::uint32_t root = shared_.add_part(none, {0, size_, 0, none}, none);
  begin(0, root, 0);
  for (std::uint32_t i = 1; i < threads_.size(); ++i) find_work(i, 0);
  while (end_ == never) act(agenda_.first());
  return finished();
}

loop_stack& node_of_workers::stack_of(const thread& w) { return stacks_[w.stack]; }

bool node_of_workers::anybody_asks() const {
  return std::any_of(threads_.begin(), threads_.end(), [](const thread& w) { return w.asks; });
}

void node_of_workers::act(std::uint32_t i) {
  thread& w = threads_[i];
  const nanoseconds t = agenda_.at(i);
  if (w.is == thread::state::computing) return answers_now(w, t) ? poll(i, t) : go_on(i, t);
  if (w.is == thread::state::joining && w.rung_at <= t) return serve_in_join(i, t);
  spend_wait(w, t);
  if (w.given != none) return begin(i, std::exchange(w.given, none), t);
  if (w.is == thread::state::joining && is_done(stack_of(w).awaits)) return joined(i, t);
  if (!w.asks) return w.lingers ? (w.lingers = false, ask_in_join(i, t)) : ask(i, none, none, t);
  for (std::uint32_t j = 0; j < threads_.size(); ++j)
    if (j != i && threads_[j].is != thread::state::idle) ring(j, t + how_.costs.line);
  agenda_.set(i, t + how_.costs.press);
}

bool node_of_workers::answers_now(const thread& w, nanoseconds t) const {
  constexpr nanoseconds at_once = 500'000;
  return w.rung_at <= t && w.computes_until - t <= at_once;
}

void node_of_workers::poll(std::uint32_t i, nanoseconds t) {
  thread& w = threads_[i];
  const nanoseconds took = serve(i, t) + how_.costs.look;
  spent_.answering += took;
  w.computes_until = std::max(w.computes_until, t) + 5 * std::min<nanoseconds>(took, 50'000);
  agenda_.set(i, t + took);
}

void node_of_workers::go_on(std::uint32_t i, nanoseconds t) {
  thread& w = threads_[i];
  loop_stack& on = stack_of(w);
  const open_loop& loop = on.loops.back();
  if (loop.next < loop.end) {
    ++result_.visited;
    spent_.computing += how_.costs.node;
    if (shared_.visit(on)) {
      if (std::exchange(w.parked, false)) w.rung_at = t;
      result_.deepest = std::max<std::uint64_t>(result_.deepest, on.loops.size());
    }
    return agenda_.set(i, t + how_.costs.node);
  }
  if (loop.last_part != none) return join(i, loop.last_part, t);
  const bool last = on.parts.back().base + 1 == on.loops.size();
  on.loops.pop_back();
  if (last) end_part(i, t);
}

bool node_of_workers::is_done(std::uint32_t p) { return shared_[p].is == part::state::done; }

void node_of_workers::join(std::uint32_t i, std::uint32_t p, nanoseconds t) {
  thread& w = threads_[i];
  loop_stack& on = stack_of(w);
  if (is_done(p)) {
    on.loops.back().last_part = shared_[p].before;
    shared_.free(p);
    spent_.waiting += how_.costs.line;
    return agenda_.set(i, t + how_.costs.line);
  }
  if (take_back(p, t)) return begin(i, p, t + how_.costs.line);
  on.awaits = p;
  if (how_.waits == meanwhile::leave) {
    on.left = true;
    w.stack = free_stack();
    w.parked = false;
    return find_work(i, t + how_.costs.line);
  }
  w.is = thread::state::joining;
  w.lingers = true;
  w.waits_since = t;
  agenda_.set(i, t + how_.costs.linger);
}

void node_of_workers::joined(std::uint32_t i, nanoseconds t) {
  thread& w = threads_[i];
  w.asks = w.lingers = false;
  stack_of(w).awaits = none;
  w.is = thread::state::computing;
  agenda_.set(i, t);
}

bool node_of_workers::take_back(std::uint32_t p, nanoseconds t) {
  part& taken = shared_[p];
  thread& holder = threads_[taken.runner];
  if (taken.is == part::state::ready) {
    holder.ready.erase(std::find(holder.ready.begin(), holder.ready.end(), p));
  } else {
    if (taken.is != part::state::handed || t >= taken.at) return false;
    holder.given = none;
    agenda_.set(taken.runner, taken.at);  // it then finds nothing, and asks again
  }
  ++result_.taken_back;
  return true;
}

void node_of_workers::ask_in_join(std::uint32_t i, nanoseconds t) {
  const std::uint32_t awaits = stack_of(threads_[i]).awaits;
  ask(i, awaits, shared_[awaits].runner, t);
}

void node_of_workers::serve_in_join(std::uint32_t i, nanoseconds t) {
  thread& w = threads_[i];
  spend_wait(w, t);
  const nanoseconds then = t + serve(i, t) + how_.costs.look;
  spent_.answering += then - t;
  w.parked = false;
  w.waits_since = then;
  nanoseconds next = then + (w.lingers ? how_.costs.linger : how_.costs.press);
  if (w.given != none) next = std::max(then, shared_[w.given].at);
  if (is_done(stack_of(w).awaits)) next = then;
  agenda_.set(i, next);
}

void node_of_workers::spend_wait(thread& w, nanoseconds t) {
  auto& sum = w.is == thread::state::joining ? spent_.waiting : spent_.idle;
  sum += std::max<nanoseconds>(t - w.waits_since, 0);
  w.waits_since = std::max(t, w.waits_since);
}

void node_of_workers::begin(std::uint32_t i, std::uint32_t p, nanoseconds t) {
  thread& w = threads_[i];
  shared_[p].runner = i;
  shared_.begin(stack_of(w), p);
  w.is = thread::state::computing;
  w.wanted = none;
  if (anybody_asks()) w.rung_at = std::min(w.rung_at, t);
  agenda_.set(i, t);
}

void node_of_workers::end_part(std::uint32_t i, nanoseconds t) {
  thread& w = threads_[i];
  loop_stack& on = stack_of(w);
  const std::uint32_t p = on.parts.back().which;
  on.parts.pop_back();
  part& ended = shared_[p];
  ended.is = part::state::done;
  if (ended.stack == none) {
    end_ = t;
    return;
  }
  loop_stack& owner = stacks_[ended.stack];
  if (owner.left && owner.awaits == p) return take_up(i, ended.stack, t);
  if (how_.waits != meanwhile::leave && owner.awaits == p)
    agenda_.advance(ended.stack, t + how_.costs.line);  // a stack is its worker's
  if (on.parts.empty()) return find_work(i, t);
  w.is = thread::state::computing;  // it looks at its join again
  agenda_.set(i, t);
}

void node_of_workers::take_up(std::uint32_t i, std::uint32_t stack, nanoseconds t) {
  thread& w = threads_[i];
  free_stacks_.push_back(std::exchange(w.stack, stack));
  loop_stack& on = stack_of(w);
  on.left = false;
  on.awaits = none;
  t += 2 * how_.costs.line;
  if (anybody_asks()) w.rung_at = std::min(w.rung_at, t);
  agenda_.set(i, t);
}

std::uint32_t node_of_workers::free_stack() {
  if (free_stacks_.empty()) {
    stacks_.emplace_back();
    return static_cast<std::uint32_t>(stacks_.size() - 1);
  }
  const std::uint32_t stack = free_stacks_.back();
  free_stacks_.pop_back();
  return stack;
}

workers_result node_of_workers::finished() {
  if (result_.visited != size_) throw std::logic_error("sim: not every node was visited once");
  const double all = static_cast<double>(end_) * static_cast<double>(threads_.size());
  result_.seconds = 1e-9 * static_cast<double>(end_);
  result_.speedup = static_cast<double>(how_.costs.node) * size_ / static_cast<double>(end_);
  result_.computing = static_cast<double>(spent_.computing) / all;
  result_.answering = static_cast<double>(spent_.answering) / all;
  result_.waiting = static_cast<double>(spent_.waiting) / all;
  result_.idle = static_cast<double>(spent_.idle) / all;
  result_.stacks = stacks_.size();
  return result_;
}

workers_result run_workers(const tree& work, const workers_run& run) {
  return node_of_workers(work, run).run();
}

}  // namespace sim
