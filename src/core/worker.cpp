#include "core/worker.hpp"

#include "core/pool.hpp"
#include "core/watch.hpp"
#include "machine/floating_point.hpp"
#include "machine/futex.hpp"
#include "machine/spinner.hpp"

#include <cleave/detail/clock.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace cleave::detail {
namespace {

/// The worker that made a task, or the one whose group it was spawned into; 0 for a root.
unsigned maker_of(const task& t) noexcept {
  if (t.is_kept == task::kept::by_other_nodes) return t.made_by;
  const bool spawned = t.is_kept == task::kept::by_itself;
  const worker* const w = spawned ? static_cast<group_scope*>(t.parent)->owner : t.owner;
  return w != nullptr ? w->id : 0;
}

}  // namespace

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
  open_request<native> asking(self_, wanted, first, !of.cpus.oversubscribed);
  auto* const t = reinterpret_cast<task*>(asking.wait(finished, serve_meanwhile, with));
  joining.found = t != nullptr;
  return t;
}

// ---- running it

void worker::execute(task& t) noexcept {
  run(t, ticks());
  finish(t);
}

std::uint64_t worker::run_as_guest(task& root, std::uint64_t now,
                                   std::uint64_t undivided_for) noexcept {
  answering_.undivided_for = undivided_for;
  const std::uint64_t ended = run(root, now);
  answering_.undivided_for = answering_.undivided_until = 0;
  if (ready.empty()) return ended;  // else they are of groups that were made around this run
  announce(of.meeting, [this] {
    while (task* const t = ready.steal()) {
      if (!leave_to_any(*t)) return;
    }
  });
  return ended;
}

void worker::execute_part(task& t) noexcept {
  execute(t);
  answer_between_tasks();
}

/// Has a task compute in an environment of its own. Idle workers begin anew, whatever the last task
/// has left. Others change it only where the task that they wait in has another one.
class worker::computing {
public:
  computing(const worker& w, const task& t, bool idle) noexcept : outer_(here.floating) {
    const std::uint64_t own = t.floating != 0 ? t.floating : idle ? w.floating_ : outer_;
    if (idle) machine::set_floating_environment(own);
    else if (own != outer_) changed_.emplace(own);
    here.floating = own;
  }
  ~computing() { here.floating = outer_; }
  computing(const computing&) = delete;
  computing& operator=(const computing&) = delete;

private:
  const std::uint64_t outer_;
  std::optional<machine::computing_as> changed_;
};

std::uint64_t worker::run(task& t, std::uint64_t now) noexcept {
  std::uint64_t ended;
  {
    scope_frame inside(t);
    const computing as_it_was_made(*this, t, inside.previous == nullptr);
    trace::recorded recording(recordings_.trace, trace::activity::task, t.ticks, maker_of(t),
                              t.made_at, t.name);
    const cutoff::of_task outer = cutoff_.begin_task(t.depth);
    set_cutoff();
    const std::uint32_t outer_generation = std::exchange(generation_, t.generation);
    const bool gives_later = answering_.undivided_for != 0;
    const bool first =
        begin_to_compute(self_, inside.previous == nullptr, gives_later ? parked : asked);
    if (first && of.others() != nullptr) of.others()->begun();
    if (stopped(&t)) {
      t.error = std::make_exception_ptr(cancelled{});
    } else {
      if (recordings_.strands != nullptr) recordings_.strands->begin();
      t.execute();
      if (recordings_.strands != nullptr) recordings_.strands->pause();
    }
    if (inside.previous == nullptr) of.meeting.computing.clear(id);
    generation_ = outer_generation;
    cutoff_.end_task(outer);
    set_cutoff();
    ended = now != 0 ? ticks() : 0;
    t.ticks = cutoff_.time_of(now, ended);
    seeking_.took.store(t.ticks, std::memory_order_relaxed);
  }
  told_stopped(here.current);  // a poll in t may have taken the attention that was meant for this
  return ended;
}

/// Tells whoever waits for the task, which then may be gone.
void worker::finish(task& t) noexcept {
  if (t.is_kept == task::kept::by_other_nodes) return of.others()->finished_here(t);
  worker* owner = t.owner;
  std::atomic<std::uint32_t>* word = &t.progress;
  if (t.is_kept == task::kept::by_itself) {
    auto& group = static_cast<group_scope&>(*t.parent);
    owner = group.owner, word = &group.pending.word();
    static_cast<group_task&>(t).dispose();
    if (owner == this) return group.pending.end_own();
    if (!group.pending.end()) return;
  } else {
    t.ended();
    t.progress.store(task::finished, std::memory_order_release);  // acquired by done()
  }
  if (owner == nullptr) {
    machine::wake(*word);
  } else if (owner != this) {
    owner->box_.ring(news);
  }
}

/// Whether the task was taken back from a thief that had not collected it.
bool worker::reclaim(task& t) noexcept {
  return t.runner != task::nobody &&
         of.meeting.box(t.runner).reclaim(reinterpret_cast<request>(&t));
}

/// Gives a task the time to end that asking for a part of it would take its runner.
void worker::linger(const task& t) const noexcept {
  if (of.cpus.oversubscribed) return;
  const std::uint64_t since = ticks(), longest = ticks_per_microsecond() / 5;
  while (!t.done() && ticks() - since < longest) machine::pause();
}

void worker::join(task& t) noexcept {
  cutoff_.shared(ticks());
  // A task that was taken back is not begun, and nobody else can have it. A task of CLEAVE_CHECK
  // has no runner and is done.
  if (reclaim(t)) return execute(t);
  linger(t);
  while (!t.done()) {
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

// ---- timing

std::uint64_t worker::begin_timing(std::uintptr_t construct) noexcept {
  // A run that is as short as those before it is a construct as a rule, and no longer than that.
  const bool is_patient = (answering_.undivided_for | answering_.undivided_until) != 0;
  if (is_patient && cutoff_.begin_untimed(construct)) {
    set_cutoff();
    return 0;
  }
  trace::between_strands pause(recordings_.strands);
  if (recordings_.strands != nullptr) recordings_.strands->begin_construct(construct);
  if (cutoff_.begin_timing(construct, recordings_.strands != nullptr)) set_cutoff();
  return cutoff_.timing_since();
}

void worker::end_timing(std::uint64_t since, std::uintptr_t construct) noexcept {
  trace::between_strands pause(recordings_.strands);
  if (recordings_.strands != nullptr) recordings_.strands->end_construct(construct);
  cutoff_.end_timing(since, construct);
  set_cutoff();
}

}  // namespace cleave::detail
