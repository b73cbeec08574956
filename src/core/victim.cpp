#include "core/pool.hpp"
#include "machine/floating_point.hpp"

#include <cleave/detail/clock.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

/// What a worker does for those that ask.
namespace cleave::detail {

namespace {

/// The share of a worker's time that answers may take, one in so many.
constexpr unsigned one_in = 5;
/// Microseconds: what answers may take at once, as a poll may be the last for long.
constexpr unsigned at_once = 100;
/// What one answer counts at most: going back can take long, and then what is given is large.
constexpr unsigned counted = 50;
/// How many workers are served at one poll, at most: each helps to serve the others.
constexpr unsigned at_one_poll = 16;
/// Where the next look is near: how many frames there must be further in than the one that is
/// given, for whoever asks for anything, and for whoever waits for what runs here. With fewer, what
/// is given is most often a few leaves, and its end is soon waited for (sim/README.md).
constexpr std::size_t fewest_further_in = 1, fewest_for_who_waits = 5;
/// There, who gives all that remains of a loop keeps so many frames with something to give.
constexpr unsigned fewest_left = 8;
/// Microseconds that something is put off, at most.
constexpr unsigned put_off_longest = 20;

}  // namespace

bool worker::answered_enough(std::uint64_t now) noexcept {
  if (const std::uint64_t undivided = std::exchange(answering_.undivided_for, 0); undivided != 0)
    answering_.undivided_until = now + undivided;
  if (now < answering_.undivided_until) return true;
  const std::uint64_t ahead = answering_.computes_until - now,
                      allowed = ticks_per_microsecond() * one_in * at_once;
  return ahead > allowed && ahead < 2 * allowed;  // more is a clock that was set back
}

/// `one_in` times what an answer took has to pass before it counts no more.
void worker::count_answer(std::uint64_t begin) noexcept {
  const std::uint64_t most = counted * ticks_per_microsecond();
  answering_.computes_until = std::max(answering_.computes_until, begin) +
                              one_in * std::min(cutoff_.time_since(begin), most);
}

void worker::answer(std::uintptr_t construct) {
  // A put polls: its frame is not given yet, and would be given again.
  if (answering_.under_way) return;
  bool divides = (rung_signals() & checking) != 0;
  if (divides && of.check && !of.check->polls.is_due()) {
    if (rung_signals() == checking) return;
    divides = false;
  }
  if (unwinds_in_stopped()) return;
  const std::uint64_t begin = ticks();
  answering_.gaps.polled(begin);
  if (answered_enough(begin) && (rung_signals() & ~(asked | parked | news)) == 0) {
    // A worker with a parked request looks again where it has pushed a frame. That is here, and put
    // off.
    if ((rung_signals() & parked) != 0) box_.remind(asked);
    return;
  }
  if (cutoff_.answers_later(box_.insisted())) {
    if ((here.word.load(std::memory_order_relaxed) & (attention | own_cancel)) != 0)
      throw_if_stopped();
    return;
  }
  trace::between_strands pause(recordings_.strands);
  if (recordings_.strands != nullptr) recordings_.strands->next_branch(construct);
  struct set_cutoff_at_exit {
    worker& w;
    std::uint64_t begin;
    bool interrupted = false;
    ~set_cutoff_at_exit() {
      w.count_answer(begin);
      w.set_cutoff();
      if (interrupted) w.box_.remind(attention);  // a put threw before it was looked at
    }
  } at_exit{*this, begin};
  cutoff_.begin_division();
  const std::uint32_t signals = box_.take_signals();
  at_exit.interrupted = (signals & (attention | own_cancel)) != 0;
  if (divides) divide_here();
  if ((signals & (asked | parked)) != 0) look((signals & asked) != 0, begin);
  if (std::exchange(at_exit.interrupted, false)) throw_if_stopped();
}

/// Serves at a poll that began at this tick; `rung`: somebody has asked since the last look.
void worker::look(bool rung, std::uint64_t begin) {
  // A task that has ended spawns as it is destroyed: then there is no frame.
  if (here.innermost == nullptr) return serve(false, begin);
  const frame_type& innermost = here.innermost->type();
  const bool again_soon = answering_.gaps.are_short(innermost);
  struct ends {
    worker& of;
    const frame_type& at;
    bool measures;
    ~ends() {
      if (measures) of.box_.remind(parked);  // the next poll tells how soon it was
      if ((rung_signals() & (asked | parked)) != 0) of.answering_.gaps.looked(at, ticks());
    }
  } at_end{*this, innermost, rung && !again_soon};
  serve(again_soon, begin);
}

/// Whether what the frame has is too little for whoever asks, and waits for the next look, which is
/// near. It does not wait for long: a program may poll, and begin nothing.
bool worker::puts_off(const frame& oldest, bool asker_waits, std::uint64_t now) noexcept {
  if (frames_.further_in(oldest) >= (asker_waits ? fewest_for_who_waits : fewest_further_in))
    return false;
  if (std::exchange(answering_.put_off, &oldest) != &oldest) answering_.put_off_since = now;
  if (now - answering_.put_off_since > put_off_longest * ticks_per_microsecond()) {
    answering_.put_off = nullptr;
    return false;
  }
  box_.remind(asked);  // cleave::poll() passes over what is parked
  return true;
}

/// Does not throw: a worker that waits looks for a cancellation afterwards (told_stopped), and a
/// put that throws gives nothing.
void worker::answer_while_waiting() noexcept {
  const std::uint32_t signals = box_.take_signals();
  if ((signals & (asked | parked)) != 0) {
    try {
      cutoff_.begin_division();
      serve(false, ticks());
    } catch (...) {  // a put threw: it has given nothing
    }
    set_cutoff();
  }
}

/// `again_soon`: the next look is near, so what is too little to give can wait for it. `begin` is
/// the current tick.
void worker::serve(bool again_soon, std::uint64_t begin) {
  if (answering_.under_way) return box_.remind(parked);
  trace::recorded serving(recordings_.trace, trace::activity::divide);
  frame* oldest = nullptr;  // null: a ready task
  bool updated = false;     // the update takes long, and is done once for all that ask
  const scope* of_whom = nullptr;
  bool for_worker = true;
  unsigned others = 0;  // askers besides the one being served
  unsigned divided = 0;
  std::uint64_t shortest = ~std::uint64_t{0};  // of the divisions here
  std::uint64_t took = ~std::uint64_t{0};  // the shortest of what those ran last that are served
  bool begun = false;
  std::exception_ptr error;
  auto find = [&](const scope* wanted, std::uint32_t depth, bool for_other_node) {
    oldest = nullptr, of_whom = wanted, for_worker = !for_other_node;
    if (!for_other_node && (wanted == nullptr ? !ready.empty() : ready.holds(wanted)))
      return search_end::given;
    if (!std::exchange(updated, true)) update_frames();
    bool mine = false;
    oldest = frames_.oldest(wanted, depth, for_other_node, mine);
    if (!mine) return search_end::not_mine;
    if (again_soon && oldest != nullptr && !for_other_node &&
        puts_off(*oldest, wanted != nullptr, begin))
      return search_end::nothing;
    if (for_other_node && oldest == nullptr) tell_what_stays(wanted, depth, begin);
    if (oldest == nullptr && wanted != nullptr)
      of_whom = for_other_node ? nullptr : ready.filled_within(wanted, depth);
    return oldest == nullptr && of_whom == nullptr ? search_end::nothing : search_end::given;
  };
  auto make = [&](unsigned asker) -> request {
    if (!std::exchange(begun, true))
      others = std::min(of.meeting.askers.count() + of.meeting.slots.count(), at_one_poll - 1);
    try {
      task* t = nullptr;
      if (oldest != nullptr) {
        const std::uint64_t since = divided == 0 ? begin : ticks();
        if (again_soon) others = 0;  // they are served then
        const bool all = again_soon && frames_.leaves_further_in(*oldest, fewest_left);
        t = &split(*oldest, all ? 1 : 2 + others);
        ++divided, shortest = std::min(shortest, cutoff_.time_of(since, t->ticks));
        if (for_worker && asker < of.places())  // what asks in a test may be no worker
          took = std::min(took, of.at(asker).seeking_.took.load(std::memory_order_relaxed));
      } else {
        t = of_whom == nullptr ? ready.steal()
                               : take_ready(static_cast<const group_scope&>(*of_whom));
      }
      if (t != nullptr) t->runner = asker;
      return reinterpret_cast<request>(t);
    } catch (...) {
      error = std::current_exception();
      return 0;
    }
  };
  // A loop in long iterations is not back here soon, so all that ask get a part of it now. The
  // shortest division says what they cost: on a busy machine the CPU is taken away in another.
  auto more = [&] {
    return others-- > 0 && oldest != nullptr &&
           oldest->type().splittable(*oldest) == division::now &&
           (divided < 2 || divided * shortest < counted * ticks_per_microsecond());
  };
  serving.found = serve_askers(self_, find, make, more);
  if (divided > 0 && !of.cpus.oversubscribed) cutoff_.gave(begin, took);
  if (error) std::rethrow_exception(error);
}

void worker::tell_what_stays(const scope* wanted, std::uint32_t depth,
                             std::uint64_t tick) noexcept {
  bool mine = false;
  const frame* const kept = frames_.oldest(wanted, depth, false, mine);
  const staying_type* stays = kept != nullptr ? kept->type().staying : nullptr;
  // Who looks for the task while it is out rings this worker before it sleeps.
  if (kept == nullptr && wanted == nullptr) stays = ready.stays();
  if (stays != nullptr && of.others() != nullptr) of.others()->stayed(*stays, tick);
}

void worker::update_frames() {
  frames_.update(here.innermost);
  set(searched, frames_.searched);
  if (frames_.size() > counted_[deepest].load(std::memory_order_relaxed))
    set(deepest, frames_.size());
}

task& worker::split(frame& f, unsigned shares) {
  assert(f.unlisted == here.unlisted);
  struct redo_at_exit {
    worker& of;
    frame& from;
    ~redo_at_exit() {
      of.frames_.redo_from(from);
      of.answering_.under_way = false;
    }
  };
  answering_.under_way = true;
  frames_.undo_to(f);
  set(undone, frames_.undone);
  redo_at_exit redo{*this, f};
  task& t = *f.type().split(f, shares);
  t.put_below(frames_.scope_of(f));
  t.parent->share();
  t.owner = this;
  t.wire = f.type().wire;
  t.generation = generation_ + 1;
  t.floating = machine::floating_environment();  // the loop may have another one than its task
  t.depth = cutoff_.depth_of(reinterpret_cast<std::uintptr_t>(&f));
  t.ticks = ticks();
  cutoff_.shared(t.ticks);
  add(splits);
  if (of.is_guest(id)) of.guests->gave_part();
  return t;
}

void worker::answer_between_tasks() noexcept {
  if (here.word.load(std::memory_order_relaxed) == 0) return;
  const std::uint64_t begin = ticks();
  if (answered_enough(begin)) return;
  answer_while_waiting();
  count_answer(begin);
}

/// CLEAVE_CHECK: divides what can be divided and runs the part at once, while the workspace is as
/// it is here: a part that shares it by mistake shows.
void worker::divide_here() {
  update_frames();
  frame* const f = frames_.frame_of_innermost_scope(of.check ? of.check->polls.place() : 0);
  if (f == nullptr) return;
  task& part = split(*f, 2);
  if (of.check) of.check->polls.divided();
  execute(part);
}

}  // namespace cleave::detail
