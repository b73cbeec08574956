#pragma once

#include <cleave/detail/division/early_exit.hpp>
#include <cleave/detail/division/refused.hpp>
#include <cleave/detail/division/requirements.hpp>
#include <cleave/shared.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace cleave {
namespace detail {

/// The rest of a loop with a state, as a task made of copies of its closures. The state is in the
/// stack of the loop's owner.
template <class Int, class State, class Body, class Enough>
struct state_range_task {
  Int from;
  Int to;
  State* state;
  Body body;
  Enough enough;
  auto run();
};

/// The plain loop; `so_far` is merged with what others have found, if there are others.
template <bool winds, class Int, class T, class Merge, class Body, class Enough, class Others>
[[gnu::always_inline]] inline Int plain_state_loop(Int from, Int to, T& so_far, Merge merge,
                                                   Body& body, Enough& enough, Others others) {
  return plain_exit_loop<winds>(from, to, [&](Int i) {
    so_far = merge(others(so_far), call_with<undivided_wind>(body, i, so_far));
    return static_cast<bool>(enough(so_far));
  });
}

}  // namespace detail

/// A loop with a running state, which ends as soon as that is good enough: alpha-beta, branch and
/// bound within one node. body(i, so_far) returns what iteration i finds, knowing the state
/// `so_far` before it; merge(a, b) is the better of two, and must be commutative, associative and
/// idempotent (cleave::max, cleave::min). The loop ends after the iteration with which
/// enough(so_far) is true.
/// Returns the state.
///
///     int search(position p, int depth, int alpha, int beta) {
///       if (depth == 0) return value(p);
///       return reduce_until(
///           0, p.moves(), worst,
///           [=](int i, int best) {
///             return -search(p.after(i), depth - 1, -beta, -std::max(alpha, best));
///           },
///           max{}, [=](int best) { return best >= beta; });
///     }
///
/// Where nothing was given away, this is the plain loop with a `break`. Other iterations than the
/// first are given away only when the first has ended (young brothers wait), and all workers see
/// what any of them has found of this loop: `so_far` may be better than what earlier iterations
/// returned, never worse than the best of those that this worker has run. When somebody finds
/// enough, the rest of the loop is cancelled and unwinds from its next poll. So the result is
/// the plain loop's if it does not depend on which of the later iterations are left out.
///
/// T is a trivially copyable type that fits in one lock-free atomic. Without a put, copies of body
/// and enough are what a thief gets, so they capture by value. Throws what an iteration threw.
/// Source: R. Feldmann, Game Tree Search on Massively Parallel Systems (1993).
template <class A, class B, class T, class Body, class Merge, class Enough>
  requires(detail::state_refusal<A, B, T, Body, Merge, Enough>() == detail::refusal::none)
[[gnu::always_inline]] inline T reduce_until(A first, B last, T initial, Body body, Merge merge,
                                             Enough enough) {
  using Int = detail::index_of<A, B>;
  const Int from = detail::first_of<Int>(first);
  const Int to = detail::end_of<Int>(last);
  T so_far = initial;
  const Int rest = detail::plain_state_loop<detail::winding<Body, Int, const T&>>(
      from, to, so_far, merge, body, enough, [](const T& own) { return own; });
  if (!(rest < to)) [[likely]]
    return so_far;
  const bool begun = rest != from;
  return detail::divisible(
      [](Int f, Int t, auto& start, auto& early, auto& b, auto& e) {
        shared<T, Merge> state(start);
        auto make = [&](Int i, Int j) {
          return detail::state_range_task<Int, shared<T, Merge>, Body, Enough>{i, j, &state, b, e};
        };
        detail::state_loop(f, t, early, state, b, e, make);
        return state.get();
      },
      rest, to, so_far, begun, body, enough);
}

/// `reduce_until` in a shared workspace: put(from, to, state) makes a task for the iterations
/// [from, to). It calls the form below with the same `state`, a shared_ref<shared<T, Merge>>, which
/// travels with it. The body may take the loop's own step as its last argument:
/// body(i, so_far, wind).
template <class A, class B, class T, class Body, class Merge, class Enough, class Put>
  requires(detail::state_refusal<A, B, T, Body, Merge, Enough>() == detail::refusal::none)
[[gnu::always_inline]] inline T reduce_until(A first, B last, T initial, Body body, Merge merge,
                                             Enough enough, Put put) {
  using Int = detail::index_of<A, B>;
  const Int from = detail::first_of<Int>(first);
  const Int to = detail::end_of<Int>(last);
  T so_far = initial;
  const Int rest = detail::plain_state_loop<detail::winding<Body, Int, const T&>>(
      from, to, so_far, merge, body, enough, [](const T& own) { return own; });
  if (!(rest < to)) [[likely]]
    return so_far;
  const bool begun = rest != from;
  return detail::divisible(
      [](Int f, Int t, auto& start, auto& early, auto& b, auto& e, auto& p) {
        shared<T, Merge> state(start);
        auto make = [&](Int i, Int j) { return p(i, j, shared_ref<shared<T, Merge>>(state)); };
        detail::state_loop(f, t, early, state, b, e, make);
        return state.get();
      },
      rest, to, so_far, begun, body, enough, put);
}

/// A part of a `reduce_until`: goes on with the state that was given with it.
template <class A, class B, class T, class Merge, class Body, class Enough>
  requires detail::range<A, B>
[[gnu::always_inline]] inline T reduce_until(A first, B last, shared<T, Merge>& state, Body body,
                                             Enough enough) {
  using Int = detail::index_of<A, B>;
  const Int from = detail::first_of<Int>(first);
  const Int to = detail::end_of<Int>(last);
  T so_far = state.get();
  const Int rest = detail::plain_state_loop<detail::winding<Body, Int, const T&>>(
      from, to, so_far, Merge(), body, enough,
      [&](const T& own) { return Merge()(own, state.get()); });
  state.offer(so_far);
  if (!(rest < to)) [[likely]]
    return so_far;
  auto make = [&](Int i, Int j) {
    return detail::state_range_task<Int, shared<T, Merge>, Body, Enough>{i, j, &state, body,
                                                                         enough};
  };
  detail::divisible([](Int f, Int t, auto& s, auto& b, auto& e,
                       auto& m) { detail::state_loop(f, t, true, s, b, e, m); },
                    rest, to, state, body, enough, make);
  return state.get();
}
template <class A, class B, class T, class Merge, class Body, class Enough, class Put>
  requires detail::range<A, B>
[[gnu::always_inline]] inline T reduce_until(A first, B last, shared_ref<shared<T, Merge>> state,
                                             Body body, Enough enough, Put put) {
  using Int = detail::index_of<A, B>;
  const Int from = detail::first_of<Int>(first);
  const Int to = detail::end_of<Int>(last);
  T so_far = state->get();
  const Int rest = detail::plain_state_loop<detail::winding<Body, Int, const T&>>(
      from, to, so_far, Merge(), body, enough,
      [&](const T& own) { return Merge()(own, state->get()); });
  state->offer(so_far);
  if (!(rest < to)) [[likely]]
    return so_far;
  auto make = [&](Int i, Int j) { return put(i, j, state); };
  detail::divisible([](Int f, Int t, auto& s, auto& b, auto& e,
                       auto& m) { detail::state_loop(f, t, true, *s, b, e, m); },
                    rest, to, state, body, enough, make);
  return state->get();
}

template <class Int, class State, class Body, class Enough>
auto detail::state_range_task<Int, State, Body, Enough>::run() {
  return cleave::reduce_until(from, to, *state, body, enough);
}

}  // namespace cleave
