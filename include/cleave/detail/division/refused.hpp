#pragma once

#include <cleave/detail/division/requirements.hpp>

#include <type_traits>
#include <utility>

namespace cleave {
namespace detail {

/// One line for each mistake. Only the assertion that names the mistake fails. These are classes,
/// not functions: a compiler instantiates them at once, before what follows the call.
template <refusal why>
struct refuse_bounds {
  static_assert(why != refusal::bounds_are_numbers_with_fractions,
                "cleave: a bound of the loop is a floating-point number: loop over whole numbers, "
                "and let the body compute the rest from i");
  static_assert(why != refusal::bounds_are_iterators,
                "cleave: these iterators cannot be the bounds of a loop, which jumps into the "
                "middle of what is left: loop over whole numbers, and let the body use elements by "
                "their index");
  static_assert(why != refusal::bounds_differ_in_kind,
                "cleave: one bound of the loop is an integer, and the other is none: expected two "
                "integers");
  static_assert(why != refusal::bounds_are_no_integers,
                "cleave: the bounds of the loop must be integers of at most 64 bits, and not both "
                "bool");
};

template <refusal why>
struct refuse_body {
  static_assert(why != refusal::body_is_not_callable,
                "cleave: the body of the loop must take the index: body(i); with a put also "
                "body(i, wind), and in sum body(i, total) or body(i, total, wind)");
  static_assert(why != refusal::body_changes,
                "cleave: the body of a loop without a put is copied for each part, so it must not "
                "change what it captured (mutable): return the results, or give the loop a put");
  static_assert(why != refusal::body_is_not_copyable,
                "cleave: the body of a loop without a put is copied for each part, and this one "
                "cannot be copied: capture what can, or give the loop a put");
  static_assert(why != refusal::body_returns_nothing,
                "cleave: the body returns nothing: the body of a sum returns what is added up, "
                "that of a reduce what is merged");
  static_assert(why != refusal::body_is_not_added,
                "cleave: what the body of the sum returns cannot be added to the total: it needs "
                "`+=`, or name the type of the total, as in sum<double>(...)");
};

template <refusal why>
struct refuse_put {
  static_assert(why != refusal::put_takes_nothing,
                "cleave: the put of a loop takes the bounds of the part to give: write "
                "put(from, to), not put()");
  static_assert(why != refusal::put_takes_one,
                "cleave: the put of a loop takes the bounds of the part to give: write "
                "put(from, to), not put(i)");
  static_assert(why != refusal::put_takes_three,
                "cleave: the put of a loop takes the bounds of the part to give, and nothing "
                "besides: write put(from, to)");
  static_assert(why != refusal::put_is_not_callable,
                "cleave: the put of a loop must be callable with the bounds of the part to give, "
                "put(from, to)");
  static_assert(why != refusal::put_takes_something,
                "cleave: the put of both takes nothing: write [&] { return task; }");
  static_assert(why != refusal::put_returns_nothing,
                "cleave: put returns nothing: it must return a task, a struct with run() or "
                "cleave::call<f>(...)");
  static_assert(why != refusal::put_returns_a_closure,
                "cleave: put returns a closure: it must return a task, a struct with run() or "
                "cleave::call<f>(...)");
  static_assert(why != refusal::put_makes_no_task,
                "cleave: put must return a task: a struct with run(), or cleave::call<f>(...)");
};

template <refusal why>
struct refuse_part {
  static_assert(why != refusal::part_returns_nothing,
                "cleave: the run() of put's tasks returns nothing: it must return the result of "
                "its part of the loop");
  static_assert(why != refusal::part_is_not_added,
                "cleave: what the run() of put's tasks returns cannot be added to the total: it "
                "must be of the type that the body returns");
  static_assert(why != refusal::part_is_not_merged,
                "cleave: what the run() of put's tasks returns cannot be merged with the total: it "
                "must be of the type of the identity");
  static_assert(why != refusal::part_is_another_result,
                "cleave: the run() of put's task returns another type than the second branch: both "
                "compute the same result");
  static_assert(why != refusal::part_is_not_taken_in,
                "cleave: get must take what the run() of put's tasks returns: get(result), or "
                "get() if it returns nothing");
  static_assert(why != refusal::part_is_too_much,
                "cleave: the run() of put's tasks returns a result, and nobody takes it in: give "
                "each a get behind the put, get(result)");
};

template <refusal why>
struct refuse_merge {
  static_assert(why != refusal::merge_is_not_callable,
                "cleave: the merge of a reduce must take two values, merge(total, next): the total "
                "so far, of the type of the identity, and what the body returns");
  static_assert(why != refusal::merge_changes,
                "cleave: the merge of a reduce is copied, so it must not change what it captured "
                "(mutable)");
  static_assert(why != refusal::merge_returns_something_else,
                "cleave: the merge of a reduce must return the new total, of the type of the "
                "identity");
  static_assert(why != refusal::merge_is_not_copyable,
                "cleave: the merge of a reduce is copied, and this one cannot be copied");
  static_assert(why != refusal::identity_is_of_another_type,
                "cleave: the identity of the reduce cannot be converted to the type that is named");
  static_assert(why != refusal::identity_is_not_copyable,
                "cleave: the identity of a reduce without a put is copied for each part, and this "
                "one cannot be copied");
};

template <refusal why>
struct refuse_search {
  static_assert(why != refusal::found_is_nothing,
                "cleave: the body returns nothing: it must return whether something is found, a "
                "bool, or what is found, an optional or a pointer");
  static_assert(why != refusal::found_is_no_condition,
                "cleave: what the body returns is neither true nor false: it must return whether "
                "something is found, a bool, or what is found, an optional or a pointer");
  static_assert(why != refusal::found_is_another_result,
                "cleave: the body of any_of and all_of must return a bool, or what converts to one "
                "by itself");
  static_assert(why != refusal::state_is_not_atomic,
                "cleave: the state of reduce_until must be a trivially copyable type: it is kept "
                "in one atomic");
  static_assert(why != refusal::state_merge_has_members,
                "cleave: the merge of reduce_until must be a function object without members, such "
                "as cleave::max, or a closure that captures nothing");
  static_assert(why != refusal::state_body_is_not_callable,
                "cleave: the body of reduce_until must take the index and the state, "
                "body(i, so_far)");
  static_assert(why != refusal::state_merge_does_not_fit,
                "cleave: the merge of reduce_until must take two states and return the better one, "
                "of the type of the initial state");
  static_assert(why != refusal::enough_is_no_condition,
                "cleave: the last argument of reduce_until must take the state and return whether "
                "the loop may end, enough(so_far); only a put stands behind it");
};

template <refusal why>
struct refuse_branch {
  static_assert(why != refusal::first_branch_is_a_task,
                "cleave: the first branch runs here, and is a closure; only those behind it may be "
                "tasks: both([=] { return ...; }, task)");
  static_assert(why != refusal::branch_is_not_callable,
                "cleave: a branch must be a closure without parameters, [=] { return ...; }; the "
                "second may be a task");
  static_assert(why != refusal::branch_returns_a_reference,
                "cleave: a branch returns a reference to what cannot be copied, and its result is "
                "a copy: return a pointer, or a value");
};

/// Stands for the result of a call that was refused, so that fewer errors follow. Never used.
struct refused_result {
  template <class T>
  operator T() const;
};

template <refusal why>
struct refuse : refuse_bounds<why>,
                refuse_body<why>,
                refuse_put<why>,
                refuse_part<why>,
                refuse_merge<why>,
                refuse_search<why>,
                refuse_branch<why> {
  using result = refused_result;
};

}  // namespace detail

// What no other form takes comes here: any of them is more specialised than these. They say in one
// line what is wrong.

template <class Total = detail::unnamed, class... A>
constexpr auto sum(A&&...) {
  static_assert(sizeof...(A) == 3 || sizeof...(A) == 4,
                "cleave: expected sum(first, last, body) or sum(range, body), or one of them with "
                "a put behind");
  if constexpr (sizeof...(A) == 3) {
    constexpr auto why = detail::sum_refusal<Total, std::decay_t<A>...>();
    return typename detail::refuse<why>::result();
  } else if constexpr (sizeof...(A) == 4) {
    constexpr auto why = detail::sum_with_put_refusal<Total, std::decay_t<A>...>();
    return typename detail::refuse<why>::result();
  } else {
    return detail::refused_result();
  }
}

template <class Total = detail::unnamed, class... A>
constexpr auto reduce(A&&...) {
  static_assert(sizeof...(A) == 5 || sizeof...(A) == 6,
                "cleave: expected reduce(first, last, identity, body, merge) or reduce(range, "
                "identity, body, merge), or one of them with a put behind");
  if constexpr (sizeof...(A) == 5) {
    constexpr auto why = detail::reduce_refusal<Total, std::decay_t<A>...>();
    return typename detail::refuse<why>::result();
  } else if constexpr (sizeof...(A) == 6) {
    constexpr auto why = detail::reduce_with_put_refusal<Total, std::decay_t<A>...>();
    return typename detail::refuse<why>::result();
  } else {
    return detail::refused_result();
  }
}

template <class... A>
constexpr auto each(A&&...) {
  static_assert(sizeof...(A) >= 3 && sizeof...(A) <= 5,
                "cleave: expected each(first, last, body) or each(range, body), perhaps with a put "
                "behind, and get(result) behind that");
  if constexpr (sizeof...(A) == 3) {
    constexpr auto why = detail::each_refusal<std::decay_t<A>...>();
    return typename detail::refuse<why>::result();
  } else if constexpr (sizeof...(A) == 4 || sizeof...(A) == 5) {
    constexpr auto why = detail::each_with_put_refusal<std::decay_t<A>...>();
    return typename detail::refuse<why>::result();
  } else {
    return detail::refused_result();
  }
}

namespace detail {
/// The loops that look for something: see find.hpp.
template <class Needed, class... A>
constexpr auto refuse_find() {
  constexpr bool fits = sizeof...(A) == 3 || sizeof...(A) == 4;
  static_assert(fits, "cleave: expected first, last, body, and perhaps a put behind");
  if constexpr (fits) {
    constexpr auto why = find_refusal<Needed, A...>();
    return typename refuse<why>::result();
  } else {
    return refused_result();
  }
}
}  // namespace detail

template <class... A>
constexpr auto find_first(A&&...) {
  return detail::refuse_find<void, std::decay_t<A>...>();
}
template <class... A>
constexpr auto find_any(A&&...) {
  return detail::refuse_find<void, std::decay_t<A>...>();
}
template <class... A>
constexpr bool any_of(A&&...) {
  return detail::refuse_find<bool, std::decay_t<A>...>();
}
template <class... A>
constexpr bool all_of(A&&...) {
  return detail::refuse_find<bool, std::decay_t<A>...>();
}

template <class... A>
constexpr auto reduce_until(A&&...) {
  constexpr bool fits = sizeof...(A) == 6 || sizeof...(A) == 7;
  static_assert(fits,
                "cleave: expected reduce_until(first, last, initial, body, merge, enough), with "
                "put(from, to, state) behind; or a part of one, reduce_until(first, last, state, "
                "body, enough)");
  if constexpr (fits) {
    constexpr auto why = detail::state_refusal<std::decay_t<A>...>();
    return typename detail::refuse<why>::result();
  } else {
    return detail::refused_result();
  }
}

template <class... A>
constexpr auto both(A&&...) {
  static_assert(sizeof...(A) == 2 || sizeof...(A) == 3,
                "cleave: expected both(f, g), both(f, task) or both(f, g, put)");
  if constexpr (sizeof...(A) == 2) {
    constexpr auto why = detail::both_refusal<std::decay_t<A>...>();
    return std::pair<typename detail::refuse<why>::result, detail::refused_result>();
  } else if constexpr (sizeof...(A) == 3) {
    constexpr auto why = detail::both_with_put_refusal<std::decay_t<A>...>();
    return std::pair<typename detail::refuse<why>::result, detail::refused_result>();
  } else {
    return detail::refused_result();
  }
}

}  // namespace cleave
