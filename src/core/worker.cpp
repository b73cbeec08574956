#include "core/worker.hpp"

#include "core/pool.hpp"
#include "core/watch.hpp"
#include "machine/floating_point.hpp"
#include "machine/spinner.hpp"

#include <cleave/detail/clock.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <utility>

namespace cleave::detail {

worker::worker(pool& p, unsigned number) noexcept
    : of(p),
      id(number),
      box_(here.word, here.cutoff),
      self_{p.meeting, box_, number},
      cutoff_(p.cutoff),
      recordings_{p.recording ? p.recording->of(number) : nullptr,
                  p.recording ? p.recording->strands() : nullptr},
      seeking_{number * 2654435761u + 1},
      floating_(machine::floating_environment()) {
  p.meeting.boxes[number] = &box_;  // read by others after `started` of the pool
}

void worker::set(count c, std::uint64_t n) noexcept {
  counted_[c].store(n, std::memory_order_relaxed);
}
void worker::add(count c) noexcept {
  set(c, counted_[c].load(std::memory_order_relaxed) + 1);
}  // one writer

counters worker::read_counters() const noexcept {
  auto get = [&](count c) { return counted_[c].load(std::memory_order_relaxed); };
  return {get(splits), get(spawns), get(requests), get(takebacks),
          get(undone), get(sleeps), get(searched), get(deepest)};
}

// ---- finding work

void worker::work() {
  here.self = this;
  while (task* t = next_task()) {
    seeking_.from_brief_guest = t->owner != nullptr && of.is_brief_guest(t->owner->id);
    execute(*t);
    box_.forget(checking);
    if (of.check) of.check->end();
  }
  here.self = nullptr;
}

task* worker::next_task() noexcept {
  trace::recorded waiting(recordings_.trace, trace::activity::wait);
  auto stopping = [this] { return of.stopping.load(std::memory_order_acquire); };
  for (;;) {
    if (of.is_reserve(*this)) of.guests->sit_out();
    // Whoever was given the last one asks at once: if something else is there, it asks in vain.
    if (!std::exchange(seeking_.was_given, false)) {
      waiting.found = true;
      if (task* t = of.ready_for_any.take()) return t;
      if (task* t = steal_ready()) return t;
      waiting.found = false;           // a new run is nothing that was there
      if (stopping()) return nullptr;  // a group that was made elsewhere may outlive the pool
      if (task* t = of.roots.take()) {
        if (recordings_.strands != nullptr) box_.remind(profiling);
        if (of.check && of.check->begin()) box_.remind(checking);
        return t;
      }
    }
    task* const t = obtain(nullptr, task::nobody, [&] {
      return stopping() || of.has_work_for_any() || (of.is_reserve(*this) && !of.has_work());
    });
    if (t != nullptr) {
      waiting.found = seeking_.was_given = true;
      return t;
    }
  }
}

template <class Steal>
task* worker::steal_from_all(Steal steal) noexcept {
  const unsigned n = of.places();
  for (unsigned k = 0; k < n; ++k) {
    if (task* t = steal(of.at((id + k) % n).ready)) {
      if (k != 0) add(spawns);
      return t;
    }
  }
  return nullptr;
}

task* worker::steal_ready() noexcept {
  return steal_from_all([](ready_tasks& of_one) { return of_one.steal(); });
}

task* worker::find_ready(const scope& awaited) noexcept {
  task* const t = of.ready_for_any.take_within(awaited);
  return t != nullptr
             ? t
             : steal_from_all([&](ready_tasks& of_one) { return of_one.steal_within(awaited); });
}

/// How long an asker spins before it asks all, and how long before it insists and blocks; whether
/// it waits for workers that are off their CPU. Where work is very uneven, the one that is asked
/// first often has nothing, and others have: 64 simulated workers are 1.15 times as fast with UTS's
/// T3L if they ask all after 1 µs (`sim node --all-after`).
struct worker::persistence {
  static constexpr std::chrono::nanoseconds until_all = std::chrono::microseconds(1);
  explicit persistence(worker& w) noexcept
      : of(w),
        spin(w.of.cpus.oversubscribed, until_all),
        until(w.of.cpus.oversubscribed ? std::chrono::steady_clock::now() + w.of.cpus.off_cpu
                                       : std::chrono::steady_clock::time_point{}) {}

  bool spins() noexcept {
    if (spin() || (all_asked && of.of.expects_guest())) return true;
    blocks();
    return false;
  }
  void blocks() noexcept { of.add(sleeps); }
  void restart() noexcept { spin = machine::spinner(of.of.cpus.oversubscribed), all_asked = true; }
  bool patient() const noexcept { return std::chrono::steady_clock::now() < until; }

  worker& of;
  machine::spinner spin;
  bool all_asked = false;
  const std::chrono::steady_clock::time_point until;
};

/// Asks for a part of `wanted` (null: for anything) until finished() or there is a task; returns
/// the task. Asks the worker `likely` first, if there is such a one.
template <class Finished>
task* worker::obtain(const scope* wanted, unsigned likely, Finished finished) noexcept {
  trace::recorded joining(wanted != nullptr ? recordings_.trace : nullptr, trace::activity::join);
  auto serve_meanwhile = [this] { answer_while_waiting(); };
  if (wanted == nullptr) {
    wait_for_room(self_, of.cpus.most_askers, finished, serve_meanwhile);
    if (finished()) return nullptr;
  }
  if (glances != nullptr) glances->end();
  add(wanted == nullptr ? requests : takebacks);
  seeking_.random = seeking_.random * 1664525u + 1013904223u;
  const unsigned first = likely < of.places() ? likely : (seeking_.random >> 8) % of.places();
  persistence with(*this);
  // The guest is about to leave, and to find the request when it is back.
  const bool quiet = wanted == nullptr && seeking_.from_brief_guest && !of.cpus.oversubscribed;
  open_request<native> asking(self_, wanted, first, !of.cpus.oversubscribed, quiet);
  auto* const t = reinterpret_cast<task*>(asking.wait(finished, serve_meanwhile, with));
  joining.found = t != nullptr;
  return t;
}

// ---- joining

/// Whether the task was taken back from a thief that had not collected it.
bool worker::reclaim(task& t) noexcept {
  return t.runner != task::nobody &&
         of.meeting.box(t.runner).reclaim(reinterpret_cast<request>(&t));
}

/// Gives a task the time to end that asking for a part of it would take its runner. In short runs
/// that come one after another, parts are about equal, and an end is near.
void worker::linger(const task& t) const noexcept {
  if (of.cpus.oversubscribed || t.done()) return;
  const std::uint64_t longest = ticks_per_microsecond() / (of.is_brief_guest(id) ? 1 : 5);
  const std::uint64_t since = ticks();
  while (!t.done() && ticks() - since < longest) machine::pause();
}

void worker::join(task& t) noexcept {
  cutoff_.shared(ticks());
  // A task that was taken back is not begun, and nobody else can have it. A task of CLEAVE_CHECK
  // has no runner and is done.
  if (reclaim(t)) return execute(t);
  linger(t);
  while (t.completed.await()) {
    const std::uint64_t looked_at = of.ready_for_any.pushes();
    task* part = find_ready(t);
    if (part == nullptr) {
      part =
          obtain(&t, t.runner, [&] { return t.done() || of.ready_for_any.pushes() != looked_at; });
    }
    if (part != nullptr) execute_part(*part);
  }
  cutoff_.add_piece(t.depth, t.ticks);
  told_stopped(here.current);
}

void worker::await_abandoned(task& t) noexcept {
  if (reclaim(t)) return;
  static_cast<void>(t.completed.await());
  machine::spinner spin(of.cpus.oversubscribed);
  box_.wait([&] { return t.done(); }, [this] { answer_while_waiting(); },
            [&] { return spin() ? waiting::spin : waiting::sleep; });
  told_stopped(here.current);
}

bool worker::await(const std::function<bool()>& holds, message_watch& messages) noexcept {
  if (answering_.under_way) return false;
  if (glances != nullptr) glances->end();
  watch looks(of.cpus.oversubscribed ? nullptr : &messages);
  if (looks.until(holds)) return true;
  looks.end();
  box_.wait(
      holds, [this] { answer_while_waiting(); }, [] { return waiting::sleep; });
  looks.has_slept();
  told_stopped(here.current);
  return true;
}

// ---- task groups

void worker::spawn(group_task& t) {
  struct disposes {
    void operator()(group_task* one) const noexcept { one->dispose(); }
  };
  std::unique_ptr<group_task, disposes> owned(&t);
  auto& group = static_cast<group_scope&>(*t.parent);
  ready.reserve();                     // throws before anything has happened
  static_cast<void>(owned.release());  // the deque owns the task
  t.depth = cutoff_.depth_of(stack_pointer());
  if (recordings_.strands != nullptr) return run_as_spawned(t);
  if (recordings_.trace != nullptr) t.ticks = ticks();
  // What a put spawns while this worker waits is counted by all: whoever ends it rings.
  count_and_push(group.pending, group.owner == this && !answering_.under_way, ready, t);
  // seq_cst, after the push: partner of an asker that rings and then looks for ready tasks.
  if (here.word.load(std::memory_order_seq_cst) == 0) return;
  // The answer comes at once: a new task is there, and a worker that asks may sleep.
  const std::uint64_t until = std::exchange(answering_.computes_until, 0);
  answering_.undivided_for = answering_.undivided_until = 0;
  try {
    answer(stack_pointer());
  } catch (const std::bad_alloc&) {
    // The task is made, so the spawn has not failed; nothing was given to whoever asks.
    box_.remind(parked);
  }
  answering_.computes_until = std::max(answering_.computes_until, until);
}

bool worker::keep_ready(task& t) noexcept try {
  if (of.size() > 1 || answering_.under_way || !recordings_.none) return false;
  ready.reserve();
  ready.push(t);
  return true;
} catch (const std::bad_alloc&) { return false; }

void worker::execute_own(task& t) noexcept {
  if (!recordings_.none || t.floating != here.floating || cutoff_.steps_are_unlisted())
    return execute(t);
  auto& group = static_cast<group_scope&>(*t.parent);
  {
    scope_frame inside(t);
    if (!stopped(&t)) [[likely]]
      t.execute();
  }
  told_stopped(here.current);
  static_cast<group_task&>(t).dispose();
  group.pending.end_own();
}

/// Runs a spawned task of a profile at once, so that its length is known when it is waited for.
void worker::run_as_spawned(group_task& t) {
  trace::between_strands pause(recordings_.strands);
  auto& group = static_cast<group_scope&>(*t.parent);
  const std::uint64_t begin = recordings_.strands->position();
  group.owner == this ? group.pending.begin_own() : group.pending.begin();
  recordings_.strands->go_back(std::max(begin, t.path));
  execute(t);
  group.path = std::max(group.path, recordings_.strands->position());
  recordings_.strands->go_back(begin);
}

/// Leaves a task that was taken out of this worker's own to whoever comes. Returns false if memory
/// is lacking: then the task is this worker's again.
bool worker::leave_to_any(task& t) noexcept try {
  of.ready_for_any.push(t);
  return true;
} catch (const std::bad_alloc&) {
  ready.push(t);  // there is room where it was
  return false;
}

task* worker::take_ready(const group_scope& group) noexcept {
  const ready_tasks::taken taken = ready.take(group);
  if (taken.left != nullptr) {
    announce(of.meeting, [&, left = taken.left]() mutable {
      while (left != nullptr) {
        task& t = *left;
        left = std::exchange(t.before, nullptr);
        leave_to_any(t);
      }
    });
  } else if (taken.moved && of.meeting.anybody_asks()) {
    box_.remind(asked);  // somebody may have looked while they were out
  }
  return taken.found;
}

task* worker::find_task(const group_scope& group) noexcept {
  // What became ready by a message goes first: others may wait for what it brings.
  task* t = group.from_nodes != nullptr ? of.ready_for_any.take_within(group) : nullptr;
  if (t == nullptr) t = take_ready(group);
  return t != nullptr ? t : find_ready(group);
}

void worker::execute_of(const group_scope& group, task& t) noexcept {
  if (group.owner == this && t.parent == &group) execute_own(t);
  else execute(t);
}

bool worker::help(group_scope& group) noexcept {
  task* const t = find_task(group);
  if (t == nullptr) return false;
  execute_of(group, *t);
  return true;
}

void worker::wait(group_scope& group) noexcept {
  trace::between_strands pause(recordings_.strands);
  if (recordings_.strands != nullptr) recordings_.strands->join(group.path);
  wait_for(group, [] { return false; });
  if (group.owner == this) ready.emptied(group);
  told_stopped(here.current);
}

void worker::wait(group_scope& group, const std::function<bool()>& enough) noexcept {
  trace::between_strands pause(recordings_.strands);
  wait_for(group, std::ref(enough));
  told_stopped(here.current);
}

/// Runs and helps with tasks of the group until none is left, or that is enough.
template <class Enough>
void worker::wait_for(group_scope& group, Enough enough) noexcept {
  auto finished = [&] { return group.pending.none() || enough(); };
  if (glances != nullptr) glances->end();
  watch messages(group.from_nodes);
  auto watches = [&](task*& found) {
    return !of.cpus.oversubscribed &&
           messages.until([&] { return (found = find_task(group)) != nullptr || finished(); });
  };
  while (!finished()) {
    if (group.from_nodes == nullptr && group.owner == this) {
      if (task* const own = ready.take_newest(group)) {
        execute_own(*own);
        answer_between_tasks();
        continue;
      }
    }
    const std::uint64_t looked_at = of.ready_for_any.pushes();
    task* t = find_task(group);
    if (t == nullptr) group.pending.tell();
    if (t == nullptr && !watches(t)) {
      messages.end();
      t = obtain(&group, task::nobody,
                 [&] { return finished() || of.ready_for_any.pushes() != looked_at; });
      messages.has_slept();
    }
    if (t == nullptr) continue;
    messages.around([&] {
      execute_of(group, *t);
      answer_between_tasks();  // tasks may never poll
    });
  }
}

}  // namespace cleave::detail
