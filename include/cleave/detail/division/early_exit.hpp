#pragma once

#include <cleave/detail/check.hpp>
#include <cleave/detail/division/loop.hpp>
#include <cleave/shared.hpp>

#include <atomic>
#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

/// What is under the loops that may end before their last iteration. A loop that finds its end
/// itself leaves as by a `break`, and cancels what was given away. A part that finds it tells the
/// loop (`exiting_task::ended`), which knows what is not wanted any more:
///
/// - in order: the parts of later iterations (ordered_exit);
/// - any: all of the loop, also what its owner computes (any_exit);
/// - with a state: the same, once the state is good enough (state_exit).
namespace cleave::detail {

/// A part of such a loop, which tells the loop how it ended. The exit is in the owner's stack and
/// outlives all parts.
template <class Work, class Exit>
struct exiting_task final : task_of<Work> {
  template <class Make>
  exiting_task(Make&& make, Exit& e) : task_of<Work>(std::forward<Make>(make)), exit(e) {}
  void ended() noexcept override {
    if (!this->error && this->result) exit.part_ended(*this, *this->result);
  }
  Exit& exit;
};

/// The frame of such a loop. While its first iteration is `alone`, no other may be given away: they
/// could not use what it finds. Iterations after `current` and before `end` can be given.
///
/// A split gives the last ones away, as that of any loop. Where the exit `gives_next` it gives the
/// next ones and the owner goes on behind them: the last ones may never be wanted, and the later
/// they begin the more they know.
template <std::integral Int, class Make, class Exit>
struct exit_frame : work_frame {
  using work_type = std::remove_cvref_t<std::invoke_result_t<Make&, Int, Int>>;
  using given_task = exiting_task<work_type, Exit>;

  exit_frame(frame* out, Int last, Make& m, Exit& e, bool first_alone)
      : end(last), make(&m), exit(&e), alone(first_alone) {
    begin_frame(*this, out, type);
  }

  static division splittable(const frame& f) noexcept {
    auto& self = static_cast<const exit_frame&>(f);
    if (remaining(self.current, self.end) <= 1) return division::never;
    return self.alone ? division::later : division::now;
  }
  static task* split(frame& f, unsigned shares) {
    auto& self = static_cast<exit_frame&>(f);
    Int from, to = self.end;
    if constexpr (Exit::gives_next) {
      from = static_cast<Int>(self.current + 1);
      to = self.exit->end_of_next(from, to, shares);
    } else {
      from = begin_of_share(self.current, self.end, shares);
    }
    auto* t = new given_task([&]() -> work_type { return (*self.make)(from, to); }, *self.exit);
    t->before = was_given(self) ? self.part : nullptr;
    if constexpr (Exit::gives_next) self.current = static_cast<Int>(to - 1);
    else self.end = from;
    self.tag |= given;
    return self.part = t;
  }
  static constexpr frame_type type{
      frame_role::work, wire_of<work_type>(),   &splittable, &split, nullptr,
      nullptr,          staying_of<work_type>()};

  Int current;  // where the owner is, or the last of the next ones that it has given
  Int end;
  Make* make;
  Exit* exit;
  bool alone;
};

/// Iterations of a loop that cost a few instructions each run in strips of at most so many between
/// two polls.
inline constexpr int longest_strip = 64;

/// Runs the iterations of such a loop until body(i) says that it ends there. Returns the part given
/// last, or null; where the loop has ended, what was given is cancelled and waited for. A `paced`
/// loop polls after each body that may take long, and else after strips of about a microsecond.
template <bool paced, std::integral Int, class Body, class Make, class Exit>
[[gnu::always_inline]] inline task* exit_loop(Int first, Int last, bool first_alone, Body&& body,
                                              Make& make, Exit& exit) {
  static_assert(!(paced && Exit::gives_next), "a strip would run what was given within it");
  const std::uintptr_t at = here.construct;
  frame* const outer = here.innermost;
  exit_frame<Int, Make, Exit> rest(outer, last, make, exit, first_alone);
  leave left{rest, outer};
  here.innermost = &rest;
  int strip_length = paced ? 8 : 1;
  std::uint64_t since = 0;
  for (Int i = first; i < rest.end;) {
    rest.current = i;
    if (rung_signals() != 0) [[unlikely]]
      answer(at);
    int run = 0;
    bool seen = true;  // the compiler has seen all that the body does
    for (; run < strip_length && seen && i < rest.end; ++run, ++i) {
      if constexpr (!Exit::gives_next) rest.current = i;
      const scope* const before = here.current;
      if (body(i)) return nullptr;
      seen = paced && !may_take_long(before, here.current);
    }
    rest.alone = false;
    if constexpr (Exit::gives_next) i = static_cast<Int>(rest.current + 1);
    if constexpr (paced) {
      if (run < strip_length) continue;
      const std::uint64_t now = ticks(), took = now - since;
      since = now;
      if (took > ticks_per_microsecond()) strip_length = strip_length / 2 + 1;
      else if (strip_length < longest_strip) strip_length *= 2;
    }
  }
  left.by_exception = false;
  return was_given(rest) ? rest.part : nullptr;
}

/// Everything that a loop does, if all of it may be cancelled at once: a scope of its own. Where a
/// part has cancelled it, the owner comes back here from its next poll, by an exception, as it may
/// be anywhere in its own iteration.
template <class Exit, class Loop, class Ended>
[[gnu::always_inline]] inline void run_within(Exit& exit, Loop&& loop, Ended&& ended) {
  try {
    scope_frame inside(exit);
    loop();
  } catch (const cancelled&) {
    if (told_stopped(exit.parent)) throw;
    ended();
  }
}

// ---- the first, or any

/// What a body of `find_first` or `find_any` may return: a bool, or something like an optional. The
/// loop ends where that is true, and of all_of where it is false.
template <bool until>
struct ends_if {
  template <class R>
  static bool holds(const R& r) noexcept {
    return static_cast<bool>(r) == until;
  }
  /// Calls f, and keeps what it returns if the loop ends with that. Where the loop goes on nothing
  /// is copied.
  template <class R, class F>
  [[gnu::always_inline]] static bool keeps(R& found, const F& f) {
    R now = f();
    if (!holds(now)) return false;
    found = std::move(now);
    return true;
  }
  template <class R>
  static R nothing_found() {
    if constexpr (std::is_same_v<R, bool>) return !until;
    else return R();
  }
};

template <class Ends>
struct ordered_exit {
  static constexpr bool gives_next = false;
  /// The parts given before this one are of later iterations, and live until this one has ended.
  template <class R>
  void part_ended(const task& t, const R& result) noexcept {
    if (!Ends::holds(result)) return;
    for (task* later = t.before; later != nullptr; later = later->before) {
      if (!later->done()) stop(*later);
    }
  }
};

template <class R, class Ends>
class any_exit : public scope {
public:
  static constexpr bool gives_next = false;

  any_exit() noexcept : scope(here.current) {}
  ~any_exit() { end(); }

  /// What the part has found is kept here, if it is the first that has found something: the owner
  /// may leave the loop by an exception, which drops the parts. In a check the first in order
  /// counts, or the result would differ from that of the undivided run.
  void part_ended(const task&, R& result) noexcept {
    if (checked_ || !Ends::holds(result) || taken_.exchange(true, std::memory_order_relaxed))
      return;
    found_.emplace(std::move(result));  // read by the owner, which waits for the part
    stop(*this);
  }
  std::optional<R> found_;

private:
  const bool checked_ = is_checked();
  std::atomic<bool> taken_{false};
};

/// The first of the parts, in program order, that has found something; the others are cancelled.
/// `any`: null, or what one of them may have stopped.
template <class R, class Ends, class Task>
[[gnu::noinline, gnu::cold]] R first_of_parts(task* last, const scope* any) {
  parts rest{last};
  while (rest.last != nullptr &&
         (any == nullptr || !any->stopped.load(std::memory_order_relaxed))) {
    auto done = rest.next<Task>();
    if (Ends::holds(done.result())) return std::move(done.result());
  }
  return Ends::template nothing_found<R>();
}
/// A loop that can be divided and ends at the first i in order, or any, for which body(i) says so.
template <class R, class Ends, bool ordered, bool paced, std::integral Int, class Body, class Make>
[[gnu::always_inline]] inline R find_loop(Int first, Int last, Body& body, Make& make) {
  R found = Ends::template nothing_found<R>();
  auto here_first = [&](Int i) {
    return Ends::keeps(found, [&] { return call<linked_wind>(body, i); });
  };
  if constexpr (ordered) {
    ordered_exit<Ends> exit;
    using given_task = typename exit_frame<Int, Make, ordered_exit<Ends>>::given_task;
    if (task* part = exit_loop<paced>(first, last, false, here_first, make, exit))
      return first_of_parts<R, Ends, given_task>(part, nullptr);
  } else {
    any_exit<R, Ends> exit;
    using given_task = typename exit_frame<Int, Make, any_exit<R, Ends>>::given_task;
    run_within(
        exit,
        [&] {
          if (task* part = exit_loop<paced>(first, last, false, here_first, make, exit))
            found = first_of_parts<R, Ends, given_task>(part, &exit);
        },
        [] {});
    // What the first part has found was moved from there.
    if (exit.found_) return std::move(*exit.found_);
  }
  return found;
}

/// Runs iterations plainly, as plain_loop() and plain_paced_loop() do. Returns where it stopped;
/// `last` if the loop has ended.
template <bool winds, std::integral Int, class Body>
[[gnu::always_inline]] inline Int plain_exit_loop(Int first, Int last, Body&& body) {
  if (!beyond_cutoff()) [[unlikely]]
    return first;
  constexpr std::uint64_t block = 1024;  // iterations of a few instructions
  Int i = first;
  while (i < last) {
    const auto stop = static_cast<Int>(
        i + static_cast<Int>((std::min)(std::uint64_t{remaining(i, last)}, block)));
    while (i != stop) {
      const scope* const before = here.current;
      if (body(i)) return last;
      ++i;
      if constexpr (!winds) {
        if (may_take_long(before, here.current) && insisted()) [[unlikely]]
          return i;
      }
    }
    if constexpr (!winds) {
      if (insisted()) [[unlikely]]
        return i;
    }
  }
  return last;
}

// ---- with a state

/// Ends a loop with a state: once that is good enough, which all workers see.
template <std::integral Int, class State, class Enough>
class state_exit : public scope {
public:
  static constexpr bool gives_next = true;

  state_exit(Int first, State& s, Enough& e) noexcept
      : scope(here.current), first_(first), state_(s), enough_(e) {}
  ~state_exit() { end(); }

  /// Where a part ends that begins at `from`: after one iteration, or after as many as seem to be
  /// worth a division. In a check after one, as then a program divides at the same places each time
  /// that it runs.
  Int end_of_next(Int from, Int to, unsigned shares) const noexcept {
    // The one before `from` has not ended.
    const std::uint64_t done = remaining(first_, from) - 1, left = remaining(from, to);
    if (done == 0 || (rung_signals() & checking) != 0) return static_cast<Int>(from + 1);
    const std::uint64_t each = (ticks() - began_) / done + 1;
    const std::uint64_t worth = worth_microseconds * ticks_per_microsecond() / each;
    const std::uint64_t most = std::max<std::uint64_t>(left / shares, 1);
    return static_cast<Int>(from + static_cast<Int>(std::clamp<std::uint64_t>(worth, 1, most)));
  }

  bool reached() const { return enough_(state_.get()); }
  /// Whether the loop ends here. What it returns then may legally differ from what the undivided
  /// run does: parts have been run that are none of that.
  bool ends() const {
    const bool enough = reached();
    if (enough && is_checked()) allow_difference();
    return enough;
  }
  template <class R>
  void part_ended(const task&, const R& result) noexcept {
    state_.offer(result);
    if (reached()) stop(*this);
  }

private:
  static constexpr unsigned worth_microseconds = 200;

  const Int first_;
  const std::uint64_t began_ = ticks();
  State& state_;
  Enough& enough_;
};

/// body(i, so_far), with the loop's wind if it wants that.
template <class Wind, class Body, class Int, class T>
[[gnu::always_inline]] inline decltype(auto) call_with(Body& body, Int i, const T& so_far) {
  if constexpr (winding<Body, Int, const T&>) {
    return body(i, so_far, Wind());
  } else {
    return body(i, so_far);
  }
}

template <class Task, class Exit>
[[gnu::noinline, gnu::cold]] void await_state_of_parts(task* last, const Exit& exit) {
  parts rest{last};
  while (rest.last != nullptr && !exit.reached()) rest.next<Task>();
}

/// A loop with a state that can be divided. `begun`: earlier iterations than these have ended.
template <std::integral Int, class State, class Body, class Enough, class Make>
[[gnu::always_inline]] inline void state_loop(Int first, Int last, bool begun, State& state,
                                              Body& body, Enough& enough, Make& make) {
  using exit_type = state_exit<Int, State, Enough>;
  exit_type exit(first, state, enough);
  run_within(
      exit,
      [&] {
        auto one = [&](Int i) {
          if (begun && exit.ends()) return true;
          begun = true;
          state.offer(call_with<linked_wind>(body, i, state.get()));
          return exit.ends();
        };
        if (task* part = exit_loop<false>(first, last, !begun, one, make, exit))
          await_state_of_parts<typename exit_frame<Int, Make, exit_type>::given_task>(part, exit);
      },
      [] {});
}

}  // namespace cleave::detail
