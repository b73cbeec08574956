#pragma once

#include <cleave/detail/division/loop.hpp>
#include <cleave/detail/division/refused.hpp>
#include <cleave/detail/division/requirements.hpp>
#include <cleave/step.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace cleave {

// The bounds of a loop may be of two integer types; i has one that holds all values of both. No
// type does so for an unsigned one of 64 bits and a signed one: then i is unsigned, and a loop from
// a negative number throws std::out_of_range.
//
// How a call passes: the form that the user calls runs a plain loop (plain_paced_loop, plain_loop)
// as long as it is beyond the cutoff. What is left goes through `divisible`, out of line, to the
// same form with a frame (paced_loop, loop), whose parts are taken in at its end.

/// Adds up body(i) for i from first to last - 1: `sum(0, n, [=](int i) { return f(i); })`. Without
/// a put, a copy of the body is what a thief gets, so it captures by value, is not mutable, and
/// changes no workspace. The result starts from a value-initialised one and needs `+=`; parts are
/// added in program order.
///
/// Integers of fewer than 64 bits, and bools, are added up in 64, those that arithmetic makes an
/// int of in signed ones; other types in themselves. `sum<double>(0, n, body)` names another type:
/// each term is converted to it, as by static_cast. A struct of up to 128 bytes that memcpy can
/// copy is kept in registers, if the compiler has enough.
///
/// Polls after each iteration, or after 64 of them where they are a few nanoseconds of arithmetic.
/// A thief gets the upper half, rounded up, of the iterations left in the oldest loop; several get
/// equal shares. Throws what the earliest
/// iteration threw. Blocks at the end for parts given away, helping with them only. Source:
/// Tascell's parallel for.
template <class Total = detail::unnamed, class A, class B, class Body>
  requires(detail::sum_refusal<Total, A, B, Body>() == detail::refusal::none)
[[gnu::always_inline]] inline auto sum(A first, B last, Body body) {
  using Int = detail::index_of<A, B>;
  using result = detail::total_of<Total, std::invoke_result_t<Body&, Int>>;
  const Int from = detail::first_of<Int>(first);
  const Int to = detail::end_of<Int>(last);
  result total{};
  const Int rest = detail::plain_paced_loop(
      from, to, total, [&](result& so_far, Int i) { detail::add_term(so_far, body(i)); });
  if (!(rest < to)) [[likely]]
    return total;
  auto make = detail::make_range<Int, Body>(
      [body](Int f, Int t) { return cleave::sum<result>(f, t, body); });
  detail::add_term(
      total, detail::divisible([](Int f, Int t, auto& b,
                                  auto& m) { return detail::sum_loop<true, result>(f, t, b, m); },
                               rest, to, body, make));
  return total;
}

/// `sum` in a shared workspace: put(from, to) makes a task for the iterations [from, to), whose
/// result is their sum. It is called with every step undone that was made since the loop began.
/// Polls in each iteration; where one takes long and enters no construct, call poll() in it.
///
/// The total has the type of sum without a put. What put's tasks return must fit into it.
///
/// In the forms with a put the body may also be body(i, total), which returns nothing and adds to
/// `total`, of the type that the tasks return. It saves a variable where the body has a loop of its
/// own. What it does with `total` besides is undefined: it starts anew wherever the loop is
/// divided.
///
/// For backtracking, in these forms the body may take one argument more, the last: body(i, total,
/// wind), in each and reduce body(i, wind). That is the loop's own step, `wind(do, body,
/// undo)`: a step around a call that searches on.
///
///     sum(0, b.n,
///         [=, &b](int i, long& found, auto wind) {
///           if (!b.free(row, i)) [[likely]]
///             return;
///           found += wind([=, &b] { b.place(row, i); }, [=, &b] { return search(b, row + 1); },
///                         [=, &b] { b.remove(row, i); });
///         },
///         [=, &b](int from, int to) { return piece{b, row, from, to}; });
///
/// It need not find out whether the loop is divided, which costs 3 % where steps are short. While
/// its body runs, a loop beyond the cutoff looks for requests in its inner constructs alone.
template <class Total = detail::unnamed, class A, class B, class Body, class Put>
  requires(detail::sum_with_put_refusal<Total, A, B, Body, Put>() == detail::refusal::none)
[[gnu::always_inline]] inline auto sum(A first, B last, Body body, Put put) {
  using Int = detail::index_of<A, B>;
  using types = detail::sum_with_put<Total, Int, Body, Put>;
  using result = typename types::type;
  static_assert(
      !std::is_same_v<Total, detail::unnamed> || detail::keeps_digits<typename types::part, result>,
      "what put's tasks return does not fit into what the body returns: name the type of "
      "the total, as in sum<double>(…)");
  const Int from = detail::first_of<Int>(first);
  const Int to = detail::end_of<Int>(last);
  result total{};
  const Int rest = detail::plain_loop<detail::winding<Body, Int, result&>>(
      from, to, [&](Int i) { detail::add_to<detail::undivided_wind>(total, body, i); });
  if (!(rest < to)) [[likely]]
    return total;
  detail::add_term(
      total, detail::divisible([](Int f, Int t, auto& b,
                                  auto& p) { return detail::sum_loop<false, result>(f, t, b, p); },
                               rest, to, body, put));
  return total;
}

/// Merges body(i) for i from first to last - 1, in program order, onto `identity`, which must be
/// the neutral element of merge: every part starts from it. merge(a, b) must be associative,
/// nothing else. Best a closure or a function object: the compiler does not see through a pointer
/// to a function.
///
/// The result has the type of `identity`. It does not compile if that is a number which cannot hold
/// all that body or merge return: `reduce<double>(0, n, 0, body, merge)` names the type.
template <class Total = detail::unnamed, class A, class B, class T, class Body, class Merge>
  requires(detail::reduce_refusal<Total, A, B, T, Body, Merge>() == detail::refusal::none)
[[gnu::always_inline]] inline auto reduce(A first, B last, T identity, Body body, Merge merge) {
  using Int = detail::index_of<A, B>;
  using result = detail::reduced<Total, T, std::invoke_result_t<Body&, Int>, Merge>;
  const Int from = detail::first_of<Int>(first);
  const Int to = detail::end_of<Int>(last);
  result total = detail::as_term<result>(identity);
  const Int rest = detail::plain_paced_loop(from, to, total, [&](result& so_far, Int i) {
    detail::merge_term<detail::undivided_wind>(so_far, body, merge, i);
  });
  if (!(rest < to)) [[likely]]
    return total;
  auto make = detail::make_range<Int, Body>([identity, body, merge](Int f, Int t) {
    return cleave::reduce<result>(f, t, identity, body, merge);
  });
  return detail::divisible(
      [](Int f, Int t, auto& so_far, auto& b, auto& m, auto& p) {
        return detail::reduce_loop<true>(f, t, std::move(so_far), b, m, p);
      },
      rest, to, total, body, merge, make);
}

/// `reduce` in a shared workspace: put(from, to) makes a task whose result is that of [from, to).
template <class Total = detail::unnamed, class A, class B, class T, class Body, class Merge,
          class Put>
  requires(detail::reduce_with_put_refusal<Total, A, B, T, Body, Merge, Put>() ==
           detail::refusal::none)
[[gnu::always_inline]] inline auto reduce(A first, B last, T identity, Body body, Merge merge,
                                          Put put) {
  using Int = detail::index_of<A, B>;
  using term = decltype(detail::call<detail::undivided_wind>(body, Int()));
  using result = detail::reduced<Total, T, term, Merge>;
  using part =
      detail::value_of<decltype(std::declval<std::invoke_result_t<Put&, Int, Int>&>().run())>;
  static_assert(!std::is_same_v<Total, detail::unnamed> || detail::keeps_digits<part, result>,
                "what put's tasks return does not fit into the type of the identity: give the "
                "identity that type, or name it, as in reduce<double>(…)");
  const Int from = detail::first_of<Int>(first);
  const Int to = detail::end_of<Int>(last);
  result total = detail::as_term<result>(std::move(identity));
  const Int rest = detail::plain_loop<detail::winding<Body, Int>>(
      from, to, [&](Int i) { detail::merge_term<detail::undivided_wind>(total, body, merge, i); });
  if (!(rest < to)) [[likely]]
    return total;
  return detail::divisible(
      [](Int f, Int t, auto& so_far, auto& b, auto& m, auto& p) {
        return detail::reduce_loop<false>(f, t, std::move(so_far), b, m, p);
      },
      rest, to, total, body, merge, put);
}

/// The general form: body(i) for i from first to last - 1. put(from, to) makes a task for [from,
/// to); at the end, on this worker and in program order, get(result) takes in what each task
/// returned (get() if its run() returns nothing).
template <class A, class B, class Body, class Put, class Get>
  requires(detail::each_with_put_refusal<A, B, Body, Put, Get>() == detail::refusal::none)
[[gnu::always_inline]] inline void each(A first, B last, Body body, Put put, Get get) {
  using Int = detail::index_of<A, B>;
  const Int from = detail::first_of<Int>(first);
  const Int to = detail::end_of<Int>(last);
  const Int rest = detail::plain_loop<detail::winding<Body, Int>>(
      from, to, [&](Int i) { detail::call<detail::undivided_wind>(body, i); });
  if (!(rest < to)) [[likely]]
    return;
  detail::divisible(
      [](Int f, Int t, auto& b, auto& p, auto& g) {
        detail::loop(
            f, t, [&](Int i) { detail::call<detail::linked_wind>(b, i); }, p,
            detail::get_parts<Get>{g});
      },
      rest, to, body, put, get);
}

/// `each` for tasks that return nothing.
template <class A, class B, class Body, class Put>
  requires(detail::each_with_put_refusal<A, B, Body, Put>() == detail::refusal::none)
[[gnu::always_inline]] inline void each(A first, B last, Body body, Put put) {
  cleave::each(first, last, std::move(body), std::move(put), [] {});
}

/// `each` without a put: a copy of the body is what a thief gets, so it captures by value.
template <class A, class B, class Body>
  requires(detail::each_refusal<A, B, Body>() == detail::refusal::none)
[[gnu::always_inline]] inline void each(A first, B last, Body body) {
  using Int = detail::index_of<A, B>;
  const Int from = detail::first_of<Int>(first);
  const Int to = detail::end_of<Int>(last);
  nothing none;
  const Int rest = detail::plain_paced_loop(from, to, none, [&](nothing, Int i) { body(i); });
  if (!(rest < to)) [[likely]]
    return;
  auto make = detail::make_range<Int, Body>([body](Int i, Int j) { cleave::each(i, j, body); });
  detail::divisible(
      [](Int f, Int t, auto& b, auto& m) {
        auto go_on = [&b](detail::block<Int>& run, auto& frame) {
          nothing no_total;
          detail::add_block<detail::copy_if_free<Body, Int>>(
              no_total, run, frame, [](nothing&, Int i, auto& one) { one(i); }, b);
        };
        detail::paced_loop(f, t, go_on, m, []<class Task>(detail::task* part) {
          detail::merge_parts<Task, nothing>(part, [](nothing, nothing) {});
        });
      },
      rest, to, body, make);
}

}  // namespace cleave
