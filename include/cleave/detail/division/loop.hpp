#pragma once

#include <cleave/detail/clock.hpp>
#include <cleave/detail/division/bounds.hpp>
#include <cleave/detail/division/cutoff.hpp>
#include <cleave/detail/division/pace.hpp>
#include <cleave/detail/division/total.hpp>
#include <cleave/detail/task.hpp>
#include <cleave/detail/travel/staying.hpp>
#include <cleave/detail/travel/types.hpp>
#include <cleave/step.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

/// What is under sum, reduce and each: a frame, the loops that can be divided, those beyond the
/// cutoff, and their parts.
namespace cleave::detail {

/// Where the share begins that is given of what remains of a loop, which is more than the current
/// iteration: of two shares the half without that iteration, rounded up; of one share all but it.
template <std::integral Int>
Int begin_of_share(Int current, Int end, unsigned shares) noexcept {
  const auto left = remaining(current, end);
  const auto part = std::clamp<decltype(left)>(left / shares, 1, left - 1);
  return static_cast<Int>(end - static_cast<Int>(part));
}

/// The frame of a loop: iterations after `current` and before `end` can still be given away. The
/// owner alone changes current, a split (which the owner makes too) alone lowers end.
template <std::integral Int, class Make>
struct loop_frame : work_frame {
  using work_type = std::remove_cvref_t<std::invoke_result_t<Make&, Int, Int>>;
  using given_task = task_of<work_type>;

  [[gnu::always_inline]] loop_frame(frame* out, Int last, Make& m) : end(last), make(&m) {
    begin_frame(*this, out, type);
  }

  static division splittable(const frame& f) noexcept {
    auto& self = static_cast<const loop_frame&>(f);
    return remaining(self.current, self.end) > 1 ? division::now : division::never;
  }
  static task* split(frame& f, unsigned shares) {
    auto& self = static_cast<loop_frame&>(f);
    const Int from = begin_of_share(self.current, self.end, shares);
    auto* t = new given_task([&]() -> work_type { return (*self.make)(from, self.end); });
    t->before = was_given(self) ? self.part : nullptr;
    self.end = from;
    self.tag |= given;
    return self.part = t;
  }
  static constexpr frame_type type{
      frame_role::work, wire_of<work_type>(),   &splittable, &split, nullptr,
      nullptr,          staying_of<work_type>()};

  Int current;  // where the owner is; valid whenever it polls
  Int end;
  Make* make;
};

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
  static bool is_checked() noexcept { return (rung_signals() & checking) != 0; }
  /// Also if what was to take few microseconds takes longer.
  bool is_worth_it() const noexcept {
    return is_checked() || least.is_less_than(remaining(this->current, this->end)) ||
           least.is_late();
  }

  static constexpr frame_type type{frame_role::work,
                                   wire_of<typename loop_type::work_type>(),
                                   &splittable,
                                   &loop_type::split,
                                   nullptr,
                                   nullptr,
                                   staying_of<typename loop_type::work_type>()};
  static inline least_share::store usual{0};

  least_share least;
};

/// Parts of a loop that are still to be taken in; abandons them if one of them, or the taking,
/// throws.
struct parts {
  task* last;
  ~parts() {
    if (last != nullptr) abandon(last);
  }

  /// Waits for the part given last, which is the next in program order. Throws what it threw.
  template <class Task>
  [[gnu::noinline, gnu::cold]] joined<Task> next() {
    return joined<Task>(std::exchange(last, last->before));
  }
};

/// Merges the results of all parts, in program order, onto the first of them. The function is cold,
/// and gets the address of no variable of the loop: passing an accumulator's address here would
/// keep it in memory for the whole loop.
template <class Task, class R, class Merge>
[[gnu::noinline, gnu::cold]] auto merge_parts(task* last, Merge merge) {
  parts rest{last};
  parts_total<R, typename Task::result_type> all =
      as_term<R>(std::move(rest.next<Task>().result()));
  while (rest.last != nullptr) merge(all, std::move(rest.next<Task>().result()));
  return all;
}

/// The end of every loop: take<Task>(last part), if a part was given away. A split lowers the end
/// of the loop, which is at hand: cheaper to test than the tag.
template <std::integral Int, class Frame, class Take>
[[gnu::always_inline]] inline void take_parts(Frame& rest, Int last, Take& take) {
  if (rest.end != last) [[unlikely]] {
    take.template operator()<typename Frame::given_task>(rest.part);
    here.innermost = rest.outer;
  }
}

/// The loop under every form: body(i) in order, parts made by make(from, to). For bodies worth a
/// poll.
template <std::integral Int, class Body, class Make, class Take>
[[gnu::always_inline]] inline void loop(Int first, Int last, Body&& body, Make& make, Take&& take) {
  using frame_of = loop_frame<Int, Make>;
  const std::uintptr_t at = here.construct;
  frame* const outer = here.innermost;
  frame_of rest(outer, last, make);
  {
    leave left{rest, outer};
    here.innermost = &rest;
    for (Int i = first; i < rest.end; ++i) {
      rest.current = i;
      if (rung_signals() != 0) [[unlikely]]
        answer(at);
      body(i);
    }
    left.by_exception = false;
  }
  take_parts(rest, last, take);
}

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
    // So many run until the next look at the clock.
    auto iterations = static_cast<count>(
        std::min<std::uint64_t>(rest.least.first_run(), (std::numeric_limits<count>::max)() / 2));
    // Who has looked and found nothing to give finds nothing in a loop that is not worth it either.
    block<Int> run{first, first, rest.least.seems_cheap(),
                   rest.is_worth_it() ? 0 : std::uint32_t{parked}};
    std::uint64_t since = ticks(), since_answer = 0;
    rest.least.begin(since);
    bool has_learnt = false;
    while (run.at < rest.end) {
      rest.current = run.at;
      const std::uint32_t rung = rung_signals();
      if (rung != 0 && ((rung & ~std::uint32_t{asked | parked}) != 0 || rung != run.signal ||
                        since_answer > least_look())) [[unlikely]] {
        answer(at);
        since = ticks(), since_answer = 0;
        rest.least.begin(since);
      }
      const Int began = run.at;
      run.to = static_cast<Int>(
          began + static_cast<Int>((std::min)(remaining(began, rest.end), iterations)));
      run.signal = rung_signals();
      go_on(run, rest);
      if (has_learnt && run.at >= rest.end) break;  // the clock has nothing more to say
      const std::uint64_t now = ticks(), done = remaining(began, run.at), took = now - since;
      since = now, since_answer += took;
      rest.least.begin(now);
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

/// Runs iterations plainly as long as they are beyond the cutoff. Returns where it stopped. Bodies
/// that wind search on in constructs of their own: with them the loop runs to its end.
template <bool winds, std::integral Int, class Body>
[[gnu::always_inline]] inline Int plain_loop(Int first, Int last, Body&& body) {
  if (!beyond_cutoff()) [[unlikely]]
    return first;
  for (Int i = first; i < last; ++i) {
    body(i);
    if constexpr (!winds) {
      if (insisted()) [[unlikely]]
        return ++i;
    }
  }
  return last;
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

/// The loop over [from, to) as a task made of a copy of its body.
template <class Int, class Body, class Form>
struct range_task {
  Int from;
  Int to;
  Form form;
  decltype(auto) run() { return form(from, to); }
};

template <class Int, class Body, class Form>
struct described<range_task<Int, Body, Form>> {
  using visible = Body;
  using copies = std::tuple<>;
  static constexpr stays_for why = stays_for::loop_without_put;
};

template <class Int, class Body, class Form>
[[gnu::always_inline]] inline auto make_range(Form form) {
  return [form](Int from, Int to) { return range_task<Int, Body, Form>{from, to, form}; };
}

/// What the general form does with its parts, on this worker. Inlined into the cold end of the
/// loop, so that what get() captures need not live in memory.
template <class Get>
struct get_parts {
  Get& get;
  template <class Task>
  [[gnu::always_inline]] void operator()(task* part) {
    parts rest{part};
    while (rest.last != nullptr) {
      auto done = rest.next<Task>();
      if constexpr (std::is_same_v<typename Task::result_type, nothing>) {
        get();
      } else {
        get(std::move(done.result()));
      }
    }
  }
};

/// The total of a sum with a put: named, or that of what the body returns. A body that adds to the
/// total itself adds to what put's tasks return.
template <class Named, class Int, class Body, class Put>
struct sum_with_put {
  using part = std::remove_cvref_t<decltype(std::declval<Put&>()(Int(), Int()).run())>;
  using type = std::conditional_t<std::is_same_v<Named, unnamed>, part, Named>;
};
template <class Named, class Int, class Body, class Put>
  requires std::invocable<Body&, Int>
struct sum_with_put<Named, Int, Body, Put> {
  using part = std::remove_cvref_t<decltype(std::declval<Put&>()(Int(), Int()).run())>;
  using type = total_of<Named, std::invoke_result_t<Body&, Int>>;
};
template <class Named, class Int, class Body, class Put>
using sum_with_put_of = typename sum_with_put<Named, Int, Body, Put>::type;

/// Whether the body, called with these arguments, wants the loop's wind besides.
template <class Body, class Int, class... Args>
concept winding =
    !std::invocable<Body&, Int> && std::invocable<Body&, Int, Args..., undivided_wind>;

template <class Wind, class Body, class Int>
[[gnu::always_inline]] inline decltype(auto) call(Body& body, Int i) {
  if constexpr (winding<Body, Int>) {
    return body(i, Wind());
  } else {
    return body(i);
  }
}

template <class Wind, class R, class Body, class Int>
[[gnu::always_inline]] inline void add_to(R& total, Body& body, Int i) {
  if constexpr (std::invocable<Body&, Int>) {
    add_term(total, body(i));
  } else if constexpr (winding<Body, Int, R&>) {
    body(i, total, Wind());
  } else {
    body(i, total);
  }
}

/// What a sum does with its parts. A copy of the total: see merge_parts.
template <class R>
struct add_parts {
  R& total;
  template <class Task>
  [[gnu::always_inline]] void operator()(task* part) {
    add_term(total, merge_parts<Task, R>(
                        part, [](auto& all, auto next) { add_term(all, std::move(next)); }));
  }
};

/// Takes what one iteration returns into the total of a reduce.
template <class Wind, class T, class Body, class Merge, class Int>
[[gnu::always_inline]] inline void merge_term(T& total, Body& body, Merge& merge, Int i) {
  using merged = decltype(merge(std::move(total), as_term<T>(call<Wind>(body, i))));
  static_assert(!std::is_rvalue_reference_v<merged>,
                "cleave::reduce: the merge returns an rvalue reference, perhaps to its argument, "
                "which would be moved to itself: let it return a value");
  total = as_term<T>(merge(std::move(total), as_term<T>(call<Wind>(body, i))));
}

/// A merge as merge_parts() gets it: one that is large or only moves is in memory as it is.
template <class Merge>
struct kept_merge {
  copy_if_small<Merge> merge;
};

template <bool paced, class Int, class T, class Body, class Merge, class Make>
[[gnu::always_inline]] inline T reduce_loop(Int first, Int last, T total, Body& body, Merge& merge,
                                            Make& make) {
  auto step = [](T& so_far, Int i, auto& b, auto& m) { merge_term<linked_wind>(so_far, b, m, i); };
  auto take = [&]<class Task>(task* part) {
    auto join = [kept = kept_merge<Merge>{merge}](auto& all, auto next) mutable {
      all = as_term<T>(kept.merge(std::move(all), as_term<T>(std::move(next))));
    };
    total = as_term<T>(merge(std::move(total), merge_parts<Task, T>(part, join)));
  };
  if constexpr (paced) {
    using term = std::invoke_result_t<Body&, Int>;
    auto go_on = [&](block<Int>& run, auto& rest) {
      add_block<copy_if_free<Body, Int>, copy_if_free<Merge, T, term>>(total, run, rest, step, body,
                                                                       merge);
    };
    paced_loop(first, last, go_on, make, take);
  } else {
    loop(
        first, last, [&](Int i) { step(total, i, body, merge); }, make, take);
  }
  return total;
}

template <bool paced, class R, class Int, class Body, class Make>
[[gnu::always_inline]] inline R sum_loop(Int first, Int last, Body& body, Make& make) {
  R total{};
  auto step = [](R& so_far, Int i, auto& b) { add_to<linked_wind>(so_far, b, i); };
  if constexpr (paced) {
    auto go_on = [&](block<Int>& run, auto& rest) {
      add_block<copy_if_free<Body, Int>>(total, run, rest, step, body);
    };
    paced_loop(first, last, go_on, make, add_parts<R>{total});
  } else {
    loop(
        first, last, [&](Int i) { step(total, i, body); }, make, add_parts<R>{total});
  }
  return total;
}

}  // namespace cleave::detail
