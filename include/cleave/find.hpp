#pragma once

#include <cleave/detail/division/early_exit.hpp>
#include <cleave/detail/division/refused.hpp>
#include <cleave/detail/division/requirements.hpp>

#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

namespace cleave {
namespace detail {

/// What a loop over `Int` with this body finds: what the body returns, or where a bool is true.
template <class Int, class Body>
using found_by = std::remove_cvref_t<decltype(call<undivided_wind>(std::declval<Body&>(), Int()))>;
template <class Int, class Body>
using find_result = std::conditional_t<std::is_same_v<found_by<Int, Body>, bool>,
                                       std::optional<Int>, found_by<Int, Body>>;

/// A body that says where it has found something, of one that says whether.
template <class Int, class Body>
[[gnu::always_inline]] inline auto naming_place(Body body) {
  if constexpr (!std::is_same_v<found_by<Int, Body>, bool>) {
    return body;
  } else if constexpr (winding<Body, Int>) {
    return
        [body](Int i, auto wind) { return body(i, wind) ? std::optional<Int>(i) : std::nullopt; };
  } else {
    return [body](Int i) { return body(i) ? std::optional<Int>(i) : std::nullopt; };
  }
}

/// The loops of this file, without a put and with one. What most of them return, nothing, is made
/// where it is returned: what a body returns may be large.
template <class R, class Ends, bool ordered, class Int, class Body>
[[gnu::always_inline]] inline R find(Int from, Int to, Body body) {
  R found = Ends::template nothing_found<R>();
  const Int rest = plain_exit_loop<false>(
      from, to, [&](Int i) { return Ends::keeps(found, [&] { return body(i); }); });
  if (Ends::holds(found)) return found;
  if (!(rest < to)) [[likely]]
    return Ends::template nothing_found<R>();
  auto make = make_range<Int, Body>(
      [body](Int f, Int t) { return detail::find<R, Ends, ordered>(f, t, body); });
  return divisible(
      [](Int f, Int t, auto& b, auto& m) { return find_loop<R, Ends, ordered, true>(f, t, b, m); },
      rest, to, body, make);
}
template <class R, class Ends, bool ordered, class Int, class Body, class Put>
[[gnu::always_inline]] inline R find(Int from, Int to, Body body, Put put) {
  R found = Ends::template nothing_found<R>();
  const Int rest = plain_exit_loop<winding<Body, Int>>(from, to, [&](Int i) {
    return Ends::keeps(found, [&] { return detail::call<undivided_wind>(body, i); });
  });
  if (Ends::holds(found)) return found;
  if (!(rest < to)) [[likely]]
    return Ends::template nothing_found<R>();
  return divisible(
      [](Int f, Int t, auto& b, auto& p) { return find_loop<R, Ends, ordered, false>(f, t, b, p); },
      rest, to, body, put);
}
template <class Ends, bool ordered, class R, class A, class B, class Body, class... Put>
[[gnu::always_inline]] inline R find_between(A first, B last, Body body, Put... put) {
  using Int = index_of<A, B>;
  return find<R, Ends, ordered>(first_of<Int>(first), end_of<Int>(last), std::move(body),
                                std::move(put)...);
}

}  // namespace detail

/// Calls body(i) for i from first to last - 1 until it has found something, and returns that: what
/// the plain loop with a `break` would have found, however it is divided.
///
///     auto at = find_first(0, n, [=](int i) { return is_prime(v[i]); });   // std::optional<int>
///     auto move = find_first(0, n, [=](int i) { return wins(i); });        // what wins() returns
///
/// body returns a bool, and the result is an optional with i; or something that is false as long as
/// nothing is found (an optional, a pointer), which is the result. Once something is found, parts
/// of later iterations are cancelled: they unwind from their next poll. What later iterations threw
/// is then lost; else find_first throws what the earliest iteration threw.
///
/// Where nothing was given away, the loop ends as by a `break`: without an exception, and at the
/// cost of the plain loop. Without a put, a copy of the body is what a thief gets, so it captures
/// by value and changes no workspace. Polls and blocks as `sum` does.
template <class A, class B, class Body>
  requires(detail::find_refusal<void, A, B, Body>() == detail::refusal::none)
[[gnu::always_inline]] inline auto find_first(A first, B last, Body body) {
  using Int = detail::index_of<A, B>;
  return detail::find_between<detail::ends_if<true>, true, detail::find_result<Int, Body>>(
      first, last, detail::naming_place<Int>(std::move(body)));
}

/// `find_first` in a shared workspace: put(from, to) makes a task for the iterations [from, to),
/// whose result is what find_first returns for them. The body may take the loop's own step as its
/// last argument, as that of `sum` may: body(i, wind).
template <class A, class B, class Body, class Put>
  requires(detail::find_refusal<void, A, B, Body, Put>() == detail::refusal::none)
[[gnu::always_inline]] inline auto find_first(A first, B last, Body body, Put put) {
  using Int = detail::index_of<A, B>;
  return detail::find_between<detail::ends_if<true>, true, detail::find_result<Int, Body>>(
      first, last, detail::naming_place<Int>(std::move(body)), std::move(put));
}

/// `find_first` that takes whatever is found first in time: all the rest of the loop is cancelled
/// then. On one worker it is find_first.
template <class A, class B, class Body>
  requires(detail::find_refusal<void, A, B, Body>() == detail::refusal::none)
[[gnu::always_inline]] inline auto find_any(A first, B last, Body body) {
  using Int = detail::index_of<A, B>;
  return detail::find_between<detail::ends_if<true>, false, detail::find_result<Int, Body>>(
      first, last, detail::naming_place<Int>(std::move(body)));
}
template <class A, class B, class Body, class Put>
  requires(detail::find_refusal<void, A, B, Body, Put>() == detail::refusal::none)
[[gnu::always_inline]] inline auto find_any(A first, B last, Body body, Put put) {
  using Int = detail::index_of<A, B>;
  return detail::find_between<detail::ends_if<true>, false, detail::find_result<Int, Body>>(
      first, last, detail::naming_place<Int>(std::move(body)), std::move(put));
}

/// Whether body(i), which returns a bool, is true for some i from first to last - 1. Ends as
/// find_any does; with a put, its tasks return a bool too.
template <class A, class B, class Body, class... Put>
  requires(sizeof...(Put) <= 1 &&
           detail::find_refusal<bool, A, B, Body, Put...>() == detail::refusal::none)
[[gnu::always_inline]] inline bool any_of(A first, B last, Body body, Put... put) {
  return detail::find_between<detail::ends_if<true>, false, bool>(first, last, std::move(body),
                                                                  std::move(put)...);
}
/// Whether body(i) is true for all i.
template <class A, class B, class Body, class... Put>
  requires(sizeof...(Put) <= 1 &&
           detail::find_refusal<bool, A, B, Body, Put...>() == detail::refusal::none)
[[gnu::always_inline]] inline bool all_of(A first, B last, Body body, Put... put) {
  return detail::find_between<detail::ends_if<false>, false, bool>(first, last, std::move(body),
                                                                   std::move(put)...);
}

}  // namespace cleave
