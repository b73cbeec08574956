#pragma once

#include <cleave/detail/loop.hpp>
#include <cleave/step.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace cleave {

/// Adds up body(i) for i from first to last - 1: `sum(0, n, [=](int i) { return f(i); })`. Without a put, a copy of the
/// body is what a thief gets, so it captures by value and changes no workspace. The result starts
/// from a value-initialised one and needs `+=`; parts are added in program order.
///
/// Polls in its iterations, or about once a microsecond where they are shorter; innermost loops of a few
/// instructions are better plain ones inside the body. A thief gets the upper half, rounded up, of the iterations left in
/// the oldest loop. Throws what the earliest iteration threw. Blocks at the end for parts given away, helping with them only.
/// Source: Tascell's parallel for.
template <class A, class B, class Body>
  requires detail::range<A, B> CLEAVE_HOT detail::sum_of<A, B, Body> sum(A first, B last,
                                                                         Body body) {
    using I = std::common_type_t<A, B>;
    using result = detail::sum_of<A, B, Body>;
    const auto to = static_cast<I>(last);
    result total{};
    const I rest =
        detail::plain_paced_loop(static_cast<I>(first), to, [&](I i) { total += body(i); });
    if (!(rest < to)) [[likely]]
      return total;
    auto make = detail::make_range<I>([body](I i, I j) { return cleave::sum(i, j, body); });
    total += detail::divisible(
        [](I f, I t, auto& b, auto& m) { return detail::sum_loop<true, result>(f, t, b, m); }, rest,
        to, body, make);
    return total;
  }

/// The same in a shared workspace: put(from, to) makes a task for the iterations [from, to), whose result is
/// their sum. It is called with every step undone that was made since the loop began. Polls in each
/// iteration; where one takes long and enters no construct, call poll() in it.
///
/// In the forms with a put the body may also be body(i, total), which returns nothing and adds to `total`, of the type that
/// the tasks return. It saves a variable where the body has a loop of its own. What it does with `total` besides is undefined:
/// it starts anew wherever the loop is divided.
///
/// For backtracking, in these forms the body may take one argument more, the last: body(i, total, wind), in each and reduce
/// body(i, wind). That is the loop's own dynamic_wind, `wind(do, body, undo)`: a step around a call that searches on.
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
/// It need not find out whether the loop is divided, which costs 3 % where steps are short. While its body runs, a loop
/// beyond the cutoff looks for requests in its inner constructs alone.
template <class A, class B, class Body, class Put>
  requires detail::range<A, B> CLEAVE_HOT detail::sum_with_put_of<A, B, Body, Put> sum(A first,
                                                                                       B last,
                                                                                       Body body,
                                                                                       Put put) {
    using I = std::common_type_t<A, B>;
    static_assert(task<std::invoke_result_t<Put&, I, I>>,
                  "put(from, to) must return a task: a struct with run()");
    using result = detail::sum_with_put_of<A, B, Body, Put>;
    const auto to = static_cast<I>(last);
    result total{};
    const I rest = detail::plain_loop<detail::winding<Body, I, result&>>(
        static_cast<I>(first), to,
        [&](I i) { detail::add_to<detail::undivided_wind>(total, body, i); });
    if (!(rest < to)) [[likely]]
      return total;
    total += detail::divisible(
        [](I f, I t, auto& b, auto& p) { return detail::sum_loop<false, result>(f, t, b, p); },
        rest, to, body, put);
    return total;
  }

/// Merges body(i) for i from first to last - 1, in program order, onto `identity`, which must be the neutral
/// element of merge: every part starts from it. merge(a, b) must be associative, nothing else.
template <class A, class B, class T, class Body, class Merge>
  requires detail::range<A, B> CLEAVE_HOT T reduce(A first, B last, T identity, Body body,
                                                   Merge merge) {
    using I = std::common_type_t<A, B>;
    const auto to = static_cast<I>(last);
    T total = identity;
    const I rest = detail::plain_paced_loop(static_cast<I>(first), to,
                                            [&](I i) { total = merge(std::move(total), body(i)); });
    if (!(rest < to)) [[likely]]
      return total;
    auto make = detail::make_range<I>(
        [identity, body, merge](I i, I j) { return cleave::reduce(i, j, identity, body, merge); });
    return detail::divisible(
        [](I f, I t, auto& so_far, auto& b, auto& m, auto& p) {
          return detail::reduce_loop<true>(f, t, std::move(so_far), b, m, p);
        },
        rest, to, total, body, merge, make);
  }

/// The same in a shared workspace: put(from, to) makes a task whose result is that of [from, to).
template <class A, class B, class T, class Body, class Merge, class Put>
  requires detail::range<A, B> CLEAVE_HOT T reduce(A first, B last, T identity, Body body,
                                                   Merge merge, Put put) {
    using I = std::common_type_t<A, B>;
    const auto to = static_cast<I>(last);
    T total = std::move(identity);
    const I rest =
        detail::plain_loop<detail::winding<Body, I>>(static_cast<I>(first), to, [&](I i) {
          total = merge(std::move(total), detail::call<detail::undivided_wind>(body, i));
        });
    if (!(rest < to)) [[likely]]
      return total;
    return detail::divisible(
        [](I f, I t, auto& so_far, auto& b, auto& m, auto& p) {
          return detail::reduce_loop<false>(f, t, std::move(so_far), b, m, p);
        },
        rest, to, total, body, merge, put);
  }

/// The general form: body(i) for i from first to last - 1. put(from, to) makes a task for [from, to); at
/// the end, on this worker and in program order, get(result) takes in what each task returned (get() if its
/// run() returns nothing).
template <class A, class B, class Body, class Put, class Get>
requires detail::range<A, B> CLEAVE_HOT void each(A first, B last, Body body, Put put, Get get) {
  using I = std::common_type_t<A, B>;
  const auto to = static_cast<I>(last);
  const I rest = detail::plain_loop<detail::winding<Body, I>>(
      static_cast<I>(first), to, [&](I i) { detail::call<detail::undivided_wind>(body, i); });
  if (!(rest < to)) [[likely]]
    return;
  detail::divisible(
      [](I f, I t, auto& b, auto& p, auto& g) {
        detail::loop(
            f, t, [&](I i) { detail::call<detail::linked_wind>(b, i); }, p,
            detail::get_parts<Get>{g});
      },
      rest, to, body, put, get);
}

/// The same for tasks that return nothing.
template <class A, class B, class Body, class Put>
requires detail::range<A, B> CLEAVE_HOT void each(A first, B last, Body body, Put put) {
  cleave::each(first, last, std::move(body), std::move(put), [] {});
}

/// The same without a put: a copy of the body is what a thief gets, so it captures by value.
template <class A, class B, class Body>
requires detail::range<A, B> CLEAVE_HOT void each(A first, B last, Body body) {
  using I = std::common_type_t<A, B>;
  const auto to = static_cast<I>(last);
  const I rest = detail::plain_paced_loop(static_cast<I>(first), to, [&](I i) { body(i); });
  if (!(rest < to)) [[likely]]
    return;
  auto make = detail::make_range<I>([body](I i, I j) { cleave::each(i, j, body); });
  detail::divisible(
      [](I f, I t, auto& b, auto& m) {
        detail::paced_loop(f, t, b, m, []<class Task>(detail::task* part) {
          detail::merge_parts<Task>(part, [](nothing, nothing) {});
        });
      },
      rest, to, body, make);
}

}  // namespace cleave
