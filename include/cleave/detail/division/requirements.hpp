#pragma once

#include <cleave/detail/division/bounds.hpp>
#include <cleave/detail/division/total.hpp>
#include <cleave/detail/task.hpp>
#include <cleave/step.hpp>
#include <cleave/task.hpp>

#include <concepts>
#include <iterator>
#include <type_traits>
#include <utility>

/// What the constructs require of their arguments. Each construct is constrained by a function here
/// that returns refusal::none; refused.hpp turns every other refusal into one line for the user.
namespace cleave::detail {

enum class refusal {
  none,
  bounds_are_numbers_with_fractions,
  bounds_are_iterators,
  bounds_differ_in_kind,
  bounds_are_no_integers,
  body_is_not_callable,
  body_changes,
  body_is_not_copyable,
  body_returns_nothing,
  body_is_not_added,
  put_takes_nothing,
  put_takes_one,
  put_takes_three,
  put_is_not_callable,
  put_takes_something,
  put_returns_nothing,
  put_returns_a_closure,
  put_makes_no_task,
  part_returns_nothing,
  part_is_not_added,
  part_is_not_merged,
  part_is_another_result,
  part_is_not_taken_in,
  part_is_too_much,
  merge_is_not_callable,
  merge_changes,
  merge_returns_something_else,
  merge_is_not_copyable,
  identity_is_of_another_type,
  identity_is_not_copyable,
  found_is_nothing,
  found_is_no_condition,
  found_is_another_result,
  state_is_not_atomic,
  state_merge_has_members,
  state_body_is_not_callable,
  state_merge_does_not_fit,
  enough_is_no_condition,
  first_branch_is_a_task,
  branch_is_not_callable,
  branch_returns_a_reference
};

/// The body of a loop with a put may take the loop's wind besides.
template <class Body, class... Args>
concept invocable_or_winding =
    std::invocable<Body&, Args...> || std::invocable<Body&, Args..., undivided_wind>;

template <class T>
concept looks_like_an_iterator = std::input_or_output_iterator<T>;

template <class A, class B>
constexpr refusal bounds_refusal() {
  if constexpr (range<A, B>) return refusal::none;
  else if constexpr (std::is_floating_point_v<A> || std::is_floating_point_v<B>)
    return refusal::bounds_are_numbers_with_fractions;
  else if constexpr (looks_like_an_iterator<A> && looks_like_an_iterator<B>)
    return refusal::bounds_are_iterators;
  else if constexpr (std::integral<A> != std::integral<B>) return refusal::bounds_differ_in_kind;
  else return refusal::bounds_are_no_integers;
}

template <class Total, class Term>
concept adds = (std::is_arithmetic_v<Total> && std::is_arithmetic_v<std::remove_cvref_t<Term>>) ||
               requires(Total& total, Term&& term) {
  total += static_cast<Term&&>(term);
};

/// The body of a loop without a put, which is copied for each part.
template <class Body, class Int>
constexpr refusal copied_body_refusal() {
  if constexpr (!std::invocable<Body&, Int>) return refusal::body_is_not_callable;
  else if constexpr (!std::invocable<const Body&, Int>) return refusal::body_changes;
  else if constexpr (!std::copy_constructible<Body>) return refusal::body_is_not_copyable;
  else return refusal::none;
}

/// What a put returns.
template <class Made>
constexpr refusal made_refusal() {
  using made = std::remove_cvref_t<Made>;
  if constexpr (cleave::task<made>) return refusal::none;
  else if constexpr (std::is_void_v<made>) return refusal::put_returns_nothing;
  else if constexpr (std::invocable<made&>) return refusal::put_returns_a_closure;
  else return refusal::put_makes_no_task;
}

/// The put of a loop.
template <class Put, class Int>
constexpr refusal put_refusal() {
  if constexpr (std::invocable<Put&, Int, Int>)
    return made_refusal<std::invoke_result_t<Put&, Int, Int>>();
  else if constexpr (std::invocable<Put&>) return refusal::put_takes_nothing;
  else if constexpr (std::invocable<Put&, Int>) return refusal::put_takes_one;
  else if constexpr (std::invocable<Put&, Int, Int, Int>) return refusal::put_takes_three;
  else return refusal::put_is_not_callable;
}

/// What every loop with a put requires of the others.
template <class A, class B, class Put>
constexpr refusal divided_loop_refusal() {
  if constexpr (constexpr refusal r = bounds_refusal<A, B>(); r != refusal::none) return r;
  else return put_refusal<Put, index_of<A, B>>();
}

/// What every loop with a put requires whose body takes the index.
template <class A, class B, class Body, class Put>
constexpr refusal loop_with_put_refusal() {
  if constexpr (constexpr refusal r = divided_loop_refusal<A, B, Put>(); r != refusal::none)
    return r;
  else
    return invocable_or_winding<Body, index_of<A, B>> ? refusal::none
                                                      : refusal::body_is_not_callable;
}

/// What a task returns.
template <class Work>
using result_of = value_of<decltype(std::declval<std::remove_cvref_t<Work>&>().run())>;
template <class Put, class Int>
using part_of = result_of<std::invoke_result_t<Put&, Int, Int>>;

template <class Total, class A, class B, class Body>
constexpr refusal sum_refusal() {
  if constexpr (constexpr refusal r = bounds_refusal<A, B>(); r != refusal::none) {
    return r;
  } else {
    using index = index_of<A, B>;
    if constexpr (constexpr refusal c = copied_body_refusal<Body, index>(); c != refusal::none) {
      return c;
    } else {
      using term = std::invoke_result_t<Body&, index>;
      if constexpr (std::is_void_v<term>) return refusal::body_returns_nothing;
      else if constexpr (!adds<total_of<Total, term>, term>) return refusal::body_is_not_added;
      else return refusal::none;
    }
  }
}

/// The body of a sum with a put whose tasks return `Part`.
template <class Total, class Int, class Body, class Part>
constexpr refusal adding_body_refusal() {
  if constexpr (std::invocable<Body&, Int>) {
    using term = std::invoke_result_t<Body&, Int>;
    if constexpr (std::is_void_v<term>) {
      return refusal::body_returns_nothing;
    } else {
      using total = total_of<Total, term>;
      if constexpr (!adds<total, term>) return refusal::body_is_not_added;
      else if constexpr (std::is_same_v<Part, nothing>) return refusal::part_returns_nothing;
      else if constexpr (!adds<total, Part> || !adds<Part, Part>) return refusal::part_is_not_added;
      else return refusal::none;
    }
  } else {
    using total = std::conditional_t<std::is_same_v<Total, unnamed>, Part, Total>;
    if constexpr (std::is_same_v<Part, nothing>) return refusal::part_returns_nothing;
    else if constexpr (!invocable_or_winding<Body, Int, total&>)
      return refusal::body_is_not_callable;
    else if constexpr (!adds<total, Part> || !adds<Part, Part>) return refusal::part_is_not_added;
    else return refusal::none;
  }
}

template <class Total, class A, class B, class Body, class Put>
constexpr refusal sum_with_put_refusal() {
  if constexpr (constexpr refusal r = divided_loop_refusal<A, B, Put>(); r != refusal::none) {
    return r;
  } else {
    using index = index_of<A, B>;
    return adding_body_refusal<Total, index, Body, part_of<Put, index>>();
  }
}

/// The total of a reduce: named, or of the identity's type.
template <class Named, class T>
using merged_total = std::conditional_t<std::is_same_v<Named, unnamed>, T, Named>;

/// Whether merge(total, term) returns a new total. Without a put it is `copied`, for each part.
template <class Total, class Term, class Merge, bool copied>
constexpr refusal merge_refusal() {
  using given = decltype(as_term<Total>(std::declval<Term>()));
  if constexpr (!std::invocable<Merge&, Total, given>) {
    return refusal::merge_is_not_callable;
  } else if constexpr (copied && !std::invocable<const Merge&, Total, given>) {
    return refusal::merge_changes;
  } else {
    using merged = std::invoke_result_t<Merge&, Total, given>;
    // Nothing can be made of void: two questions. NOLINTNEXTLINE(bugprone-branch-clone)
    if constexpr (std::is_void_v<merged>) return refusal::merge_returns_something_else;
    else if constexpr (!std::is_assignable_v<Total&,
                                             decltype(as_term<Total>(std::declval<merged>()))>)
      return refusal::merge_returns_something_else;
    else return refusal::none;
  }
}

template <class Total, class T, class Term, class Merge, bool copied>
constexpr refusal merging_refusal() {
  using total = merged_total<Total, T>;
  if constexpr (std::is_void_v<Term>) return refusal::body_returns_nothing;
  else if constexpr (!std::convertible_to<T, total>) return refusal::identity_is_of_another_type;
  else if constexpr (copied && !std::copy_constructible<Merge>)
    return refusal::merge_is_not_copyable;
  else return merge_refusal<total, Term, Merge, copied>();
}

template <class Total, class A, class B, class T, class Body, class Merge>
constexpr refusal reduce_refusal() {
  if constexpr (constexpr refusal r = bounds_refusal<A, B>(); r != refusal::none) {
    return r;
  } else {
    using index = index_of<A, B>;
    if constexpr (constexpr refusal c = copied_body_refusal<Body, index>(); c != refusal::none)
      return c;
    else if constexpr (!std::copy_constructible<T>) return refusal::identity_is_not_copyable;
    else return merging_refusal<Total, T, std::invoke_result_t<Body&, index>, Merge, true>();
  }
}

/// What the body of a reduce or each with a put returns.
template <class Body, class Int, bool = std::invocable<Body&, Int>>
struct returned_by {
  using type = std::invoke_result_t<Body&, Int>;
};
template <class Body, class Int>
struct returned_by<Body, Int, false> {
  using type = std::invoke_result_t<Body&, Int, undivided_wind>;
};

template <class Total, class A, class B, class T, class Body, class Merge, class Put>
constexpr refusal reduce_with_put_refusal() {
  if constexpr (constexpr refusal r = loop_with_put_refusal<A, B, Body, Put>();
                r != refusal::none) {
    return r;
  } else {
    using index = index_of<A, B>;
    using term = typename returned_by<Body, index>::type;
    if constexpr (constexpr refusal m = merging_refusal<Total, T, term, Merge, false>();
                  m != refusal::none) {
      return m;
    } else {
      using part = part_of<Put, index>;
      using total = merged_total<Total, T>;
      using all = parts_total<total, part>;
      if constexpr (std::is_same_v<part, nothing>) return refusal::part_returns_nothing;
      else if constexpr (merge_refusal<total, part, Merge, false>() != refusal::none ||
                         merge_refusal<all, part, Merge, false>() != refusal::none)
        return refusal::part_is_not_merged;
      else return refusal::none;
    }
  }
}

template <class A, class B, class Body>
constexpr refusal each_refusal() {
  if constexpr (constexpr refusal r = bounds_refusal<A, B>(); r != refusal::none) return r;
  else return copied_body_refusal<Body, index_of<A, B>>();
}

/// Whether get takes in what a part returns.
template <class Get, class Part>
concept takes_in = (std::is_same_v<Part, nothing> && std::invocable<Get&>) ||
                   (!std::is_same_v<Part, nothing> && std::invocable<Get&, Part>);

template <class A, class B, class Body, class Put, class... Get>
constexpr refusal each_with_put_refusal() {
  if constexpr (constexpr refusal r = loop_with_put_refusal<A, B, Body, Put>();
                r != refusal::none) {
    return r;
  } else {
    using part = part_of<Put, index_of<A, B>>;
    if constexpr (sizeof...(Get) > 0)
      return (takes_in<Get, part> && ...) ? refusal::none : refusal::part_is_not_taken_in;
    else return std::is_same_v<part, nothing> ? refusal::none : refusal::part_is_too_much;
  }
}

/// Whether a loop that looks for something can end by what its body returns. `Needed` is void, or
/// the type that this has to be converted to.
template <class Needed, class Int, class Body>
constexpr refusal finding_body_refusal() {
  using found = std::remove_cvref_t<typename returned_by<Body, Int>::type>;
  if constexpr (std::is_void_v<found>) return refusal::found_is_nothing;
  else if constexpr (!std::is_constructible_v<bool, found>) return refusal::found_is_no_condition;
  else if constexpr (!std::is_void_v<Needed> && !std::convertible_to<found, Needed>)
    return refusal::found_is_another_result;
  else return refusal::none;
}

template <class A, class B, class Body>
constexpr refusal loop_refusal() {
  return each_refusal<A, B, Body>();
}
template <class A, class B, class Body, class Put>
constexpr refusal loop_refusal() {
  return loop_with_put_refusal<A, B, Body, Put>();
}

/// A loop that looks for something, perhaps with a put.
template <class Needed, class A, class B, class Body, class... Put>
constexpr refusal find_refusal() {
  if constexpr (constexpr refusal r = loop_refusal<A, B, Body, Put...>(); r != refusal::none)
    return r;
  else return finding_body_refusal<Needed, index_of<A, B>, Body>();
}

/// A loop with a running state of type T, perhaps with a put.
template <class A, class B, class T, class Body, class Merge, class Enough, class... Put>
constexpr refusal state_refusal() {
  if constexpr (constexpr refusal r = bounds_refusal<A, B>(); r != refusal::none) {
    return r;
  } else if constexpr (!std::is_trivially_copyable_v<T>) {
    return refusal::state_is_not_atomic;
  } else if constexpr (!std::is_empty_v<Merge> || !std::is_default_constructible_v<Merge>) {
    return refusal::state_merge_has_members;
  } else if constexpr (!invocable_or_winding<Body, index_of<A, B>, const T&>) {
    return refusal::state_body_is_not_callable;
  } else if constexpr (!std::is_invocable_r_v<T, Merge&, T, T>) {
    return refusal::state_merge_does_not_fit;
  } else {
    return std::is_invocable_r_v<bool, Enough&, const T&> ? refusal::none
                                                          : refusal::enough_is_no_condition;
  }
}

/// A result is a copy of what a returned reference refers to.
template <class R>
constexpr bool can_be_a_result =
    !std::is_reference_v<R> || std::constructible_from<std::remove_cvref_t<R>, R>;

/// The branches that run here.
template <class F, class... G>
constexpr refusal branches_refusal() {
  if constexpr (!std::invocable<F&> && cleave::task<F>) {
    return refusal::first_branch_is_a_task;
  } else if constexpr (!(std::invocable<F&> && ... && std::invocable<G&>)) {
    return refusal::branch_is_not_callable;
  } else if constexpr (!(can_be_a_result<std::invoke_result_t<F&>> && ... &&
                         can_be_a_result<std::invoke_result_t<G&>>)) {
    return refusal::branch_returns_a_reference;
  } else {
    return refusal::none;
  }
}

template <class F, class G>
constexpr refusal both_refusal() {
  if constexpr (!cleave::task<G>) {
    return branches_refusal<F, G>();
  } else if constexpr (constexpr refusal r = branches_refusal<F>(); r != refusal::none) {
    return r;
  } else {
    return can_be_a_result<decltype(std::declval<G&>().run())>
               ? refusal::none
               : refusal::branch_returns_a_reference;
  }
}

template <class F, class G, class Put>
constexpr refusal both_with_put_refusal() {
  if constexpr (constexpr refusal r = branches_refusal<F, G>(); r != refusal::none) {
    return r;
  } else if constexpr (!std::invocable<Put&>) {
    return refusal::put_takes_something;
  } else if constexpr (constexpr refusal p = made_refusal<std::invoke_result_t<Put&>>();
                       p != refusal::none) {
    return p;
  } else {
    return std::convertible_to<result_of<std::invoke_result_t<Put&>>,
                               value_of<std::invoke_result_t<G&>>>
               ? refusal::none
               : refusal::part_is_another_result;
  }
}

}  // namespace cleave::detail
