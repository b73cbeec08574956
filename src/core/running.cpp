#include "core/pool.hpp"
#include "core/worker.hpp"
#include "machine/floating_point.hpp"
#include "machine/futex.hpp"

#include <cleave/detail/clock.hpp>

#include <exception>
#include <optional>
#include <utility>

/// What a worker does around a task that it runs.
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
  computing(const worker& w, const task& t) noexcept : outer_(here.floating) {
    const bool idle = outer_ == 0;
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
    const computing as_it_was_made(*this, t);
    trace::recorded recording(recordings_.trace, trace::activity::task, t.ticks, maker_of(t),
                              t.made_at, t.name);
    const cutoff::of_task outer = cutoff_.begin_task(t.depth);
    set_cutoff();
    const std::uint32_t outer_generation = std::exchange(generation_, t.generation);
    const bool gives_later = answering_.undivided_for != 0;
    // The bit of the guest's worker is set and cleared with its mailbox.
    const bool idle = inside.previous == nullptr && id < of.size();
    const bool first = begin_to_compute(self_, idle, gives_later ? parked : asked);
    if (first && of.others() != nullptr) of.others()->begun();
    if (stopped(&t)) {
      t.error = std::make_exception_ptr(cancelled{});
    } else {
      if (recordings_.strands != nullptr) recordings_.strands->begin();
      t.execute();
      if (recordings_.strands != nullptr) recordings_.strands->pause();
    }
    if (idle) of.meeting.computing.clear(id);
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
  std::atomic<std::uint32_t>* word = &t.completed.word();
  if (t.is_kept == task::kept::by_itself) {
    auto& group = static_cast<group_scope&>(*t.parent);
    owner = group.owner, word = &group.pending.word();
    static_cast<group_task&>(t).dispose();
    if (owner == this) return group.pending.end_own();
    if (!group.pending.end()) return;
  } else {
    t.ended();
    if (!t.completed.end() && owner != nullptr) return;
  }
  if (owner == nullptr) {
    machine::wake(*word);
  } else if (owner != this) {
    owner->box_.ring(news);
  }
}

// ---- timing

std::uint64_t worker::begin_timing(std::uintptr_t construct) noexcept {
  // A run that is expected to be short is one construct as a rule: its time would tell nothing new.
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
