#pragma once

#include <cleave/detail/division/cutoff.hpp>
#include <cleave/detail/division/loop_frame.hpp>
#include <cleave/detail/division/paced_loop.hpp>
#include <cleave/detail/division/total.hpp>
#include <cleave/detail/task.hpp>
#include <cleave/detail/travel/staying.hpp>

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

/// What is under sum, reduce and each: the loops that can be divided, those beyond the cutoff, and
/// what they do with their parts.
namespace cleave::detail {

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
