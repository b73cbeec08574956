#pragma once

#include <cleave/detail/clock.hpp>
#include <cleave/detail/division/loop_frame.hpp>
#include <cleave/detail/division/pace.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

/// Loops whose bodies may be a few instructions: they look at the clock now and then, and at the
/// word that others ring as often as that needs.
namespace cleave::detail {

/// The frame of a loop that looks at the clock: it gives nothing that is not worth it, unless it is
/// checked, as then a program divides at the same places each time that it runs.
template <std::integral Int, class Make>
struct paced_frame : loop_frame<Int, Make> {
  using loop_type = loop_frame<Int, Make>;

  [[gnu::always_inline]] paced_frame(frame* out, Int last, Make& m)
      : loop_type(out, last, m), least(is_checked() ? 0 : usual.load(std::memory_order_relaxed)) {
    this->tag = fresh(type);
  }

  static division splittable(const frame& f) noexcept {
    auto& self = static_cast<const paced_frame&>(f);
    const auto left = remaining(self.current, self.end);
    if (left <= 1) return division::never;
    return self.is_worth_it() ? division::now : division::later;
  }
  static task* split(frame& f, unsigned shares) {
    auto& self = static_cast<paced_frame&>(f);
    const std::uint64_t ahead = is_checked() ? 0 : self.least.while_handed();
    return self.give_from(begin_of_share(self.current, self.end, shares, ahead));
  }
  static bool is_checked() noexcept { return (rung_signals() & checking) != 0; }
  /// Also if what was to take few microseconds takes longer.
  bool is_worth_it() const noexcept {
    return is_checked() || least.is_less_than(remaining(this->current, this->end)) ||
           least.is_late();
  }

  static constexpr frame_type type{
      frame_role::work, wire_of<typename loop_type::work_type>(),   &splittable, &split, nullptr,
      nullptr,          staying_of<typename loop_type::work_type>()};
  static inline least_share::store usual{0};

  least_share least;
};

/// A closure of few words that keeps no count of its calls, as a copy; others by address.
template <class F, class... Args>
using copy_if_free = std::conditional_t<few_words<F> && std::invocable<const F&, Args...>, F, F&>;

/// Whether a body may do what the compiler does not see, and so take long: sleep, wait, poll.
/// `before` and `after` are here.current as it was read before and after the body: if the body
/// calls nothing unknown, all compilers know that they are equal. A constant in the end, so that a
/// test of it costs nothing; true where nothing is optimised.
[[gnu::always_inline]] inline bool may_take_long(const scope* before, const scope* after) noexcept {
  return !__builtin_constant_p(before == after);
}

/// A place that stores of a body do not change, bytes included, but functions that it calls do. To
/// Clang a function does not either: there, bodies that store bytes count as those that may take
/// long.
#if defined(__clang__)
using place_of_scope = scope* const*;
#else
using place_of_scope = scope* const* __restrict;
#endif

/// Some iterations of a loop: what run_apart() is told, and says.
template <class Int>
struct block {
  Int at;                // the next iteration
  Int to;                // where to stop, if nothing is seen
  bool strips;           // whether to run strips
  std::uint32_t signal;  // the signals that are no news
  bool opaque = false;   // whether the body may have done what the compiler does not see
};

/// step(total, i, closures...) for the iterations of a block until there is a signal, or the frame
/// ends: a poll in the body may have divided it. In a function of its own, with what it needs by
/// value, and no calls but the body's own, as in the sequential program: what lives across others
/// GCC keeps in memory in the loop too.
template <class Int, class R, class Step, class Frame, class... Closures>
[[gnu::noinline]] R run_apart(Step step, block<Int>& run, Frame& rest, place_of_scope current,
                              R total, Closures... closures) {
  R so_far = total;
  Int i = run.at, to = run.to;
  const std::uint32_t old = run.signal;
  bool seen = true;
  while (run.strips && seen && remaining(i, to) >= strip) {
    int k = 0;
    while (k < strip && seen) {
      const scope* const before = *current;
      step(so_far, static_cast<Int>(i + static_cast<Int>(k++)), closures...);
      seen = !may_take_long(before, *current);
    }
    i = static_cast<Int>(i + static_cast<Int>(k));
    if (rung_signals() != old) [[unlikely]]
      to = i;
    else if (!seen) to = rest.end;
  }
  while (i < to) {
    rest.current = i;
    const scope* const before = *current;
    step(so_far, i, closures...);
    ++i;
    if (may_take_long(before, *current)) {
      run.opaque = true;
      to = rung_signals() != 0 ? i : rest.end;
    } else if (rung_signals() != old) [[unlikely]] {
      break;
    }
  }
  run.at = i;
  return so_far;
}
template <class... Closures, class R, class Int, class Step, class Frame>
[[gnu::always_inline]] inline void add_block(R& total, block<Int>& run, Frame& rest, Step step,
                                             std::remove_reference_t<Closures>&... closures) {
  if constexpr (small_total<R>) {
    total = run_apart<Int, R, Step, Frame, Closures...>(step, run, rest, &here.current, total,
                                                        closures...);
  } else {
    run_apart<Int, R&, Step, Frame, Closures...>(step, run, rest, &here.current, total,
                                                 closures...);
  }
}

/// The loop for bodies of any length, long or a few instructions: go_on(block, frame) runs some of
/// the iterations. Where requests may not be answered yet, it does not look again at each
/// iteration.
template <std::integral Int, class GoOn, class Make, class Take>
[[gnu::always_inline]] inline void paced_loop(Int first, Int last, GoOn&& go_on, Make& make,
                                              Take&& take) {
  using frame_of = paced_frame<Int, Make>;
  using count = std::make_unsigned_t<Int>;
  const std::uintptr_t at = here.construct;
  frame* const outer = here.innermost;
  frame_of rest(outer, last, make);
  rest.current = first;
  {
    leave left{rest, outer};
    here.innermost = &rest;
    const std::uint64_t all = remaining(first, last);
    const bool looks = rest.least.is_less_than(all) || here.short_loops++ % short_loops_a_look == 0;
    // So many run until the next look at the clock.
    auto iterations = static_cast<count>(std::min<std::uint64_t>(
        looks ? rest.least.first_run() : all, (std::numeric_limits<count>::max)() / 2));
    // Who has looked and found nothing to give finds nothing in a loop that is not worth it either.
    block<Int> run{first, first, rest.least.seems_cheap(),
                   rest.is_worth_it() ? 0 : std::uint32_t{parked}};
    std::uint64_t since_answer = 0;
    bool has_learnt = !looks;
    while (run.at < rest.end) {
      rest.current = run.at;
      const std::uint32_t rung = rung_signals();
      if (rung != 0 && ((rung & ~std::uint32_t{asked | parked}) != 0 || rung != run.signal ||
                        since_answer > least_look())) [[unlikely]] {
        answer(at);
        rest.least.begin(ticks());
        since_answer = 0;
      } else if (looks && !rest.least.has_begun()) {
        rest.least.begin(ticks());
      }
      const Int began = run.at;
      run.to = static_cast<Int>(
          began + static_cast<Int>((std::min)(remaining(began, rest.end), iterations)));
      run.signal = rung_signals();
      go_on(run, rest);
      if (has_learnt && run.at >= rest.end) break;  // the clock has nothing more to say
      if (!rest.least.has_begun()) [[unlikely]] {
        rest.least.begin(ticks());
        continue;
      }
      const std::uint64_t done = remaining(began, run.at), took = rest.least.begin(ticks());
      since_answer += took;
      run.strips = is_cheap(done, took);
      has_learnt = rest.least.learn(done, took);
      // What the compiler does not see takes another time in each loop.
      if (!run.opaque && !rest.is_checked()) rest.least.tell(frame_of::usual);
      iterations = static_cast<count>(
          std::min<std::uint64_t>(next_run(done, took), (std::numeric_limits<count>::max)() / 2));
    }
    left.by_exception = false;
  }
  take_parts(rest, last, take);
}

/// Runs iterations plainly, as plain_loop() does, where bodies may be a few instructions: a look
/// follows each body that may take long, others come in blocks of about one pace. Adds to a copy of
/// a small total: the caller's may be where the caller returns it, and would be stored in each
/// iteration.
template <std::integral Int, class R, class Step>
[[gnu::always_inline]] inline Int plain_paced_loop(Int first, Int last, R& total, Step&& step) {
  if (!beyond_cutoff()) [[unlikely]]
    return first;
  std::conditional_t<small_total<R>, R, R&> so_far = total;
  std::uint64_t block = 64, since = 0;
  Int i = first;
  while (i < last) {
    const auto n = std::min<std::uint64_t>(remaining(i, last), block);
    const auto stop =
        static_cast<Int>(static_cast<std::uint64_t>(i) + n);  // may pass what Int holds
    while (i != stop) {
      const scope* const before = here.current;
      step(so_far, i++);
      if (may_take_long(before, here.current) && insisted()) [[unlikely]]
        break;
    }
    if (i != stop || i == last || insisted()) [[unlikely]]
      break;
    const std::uint64_t now = ticks();
    if (since != 0) {
      // A block that is far too short grows by leaps, as a look is worth some iterations of a short
      // loop.
      const std::uint64_t whole = block_microseconds * ticks_per_microsecond(), took = now - since;
      block = 8 * took < whole ? 8 * block : took < whole ? 2 * block : block / 2 + 1;
    }
    since = now;
  }
  if constexpr (small_total<R>) total = so_far;
  return i;
}

}  // namespace cleave::detail
