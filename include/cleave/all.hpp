#pragma once

#include <cleave/both.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cleave {
namespace detail {

/// What all() runs as one of its branches.
template <class B>
concept branch = cleave::task<B> || std::is_invocable_v<B&>;

/// A branch that is called as the first of a `both`.
template <class T>
struct first_task {
  T t;
  [[gnu::always_inline]] decltype(auto) operator()() { return t.run(); }
};

template <class First, class Second>
struct fork;
template <class T>
inline constexpr bool is_fork = false;
template <class First, class Second>
inline constexpr bool is_fork<fork<First, Second>> = true;

/// What several closures captured, as a copy made where they are divided: by address the compiler
/// would store them at each call.
template <class T>
using copy_if_trivial =
    std::conditional_t<std::is_trivially_copyable_v<T> && std::is_copy_constructible_v<T>, T, T&>;

/// Some neighbouring branches of all(), as a task: a `both` of their two halves. Beyond the cutoff
/// it asks once for all of them.
template <class First, class Second>
struct fork {
  first_task<First> first;
  second_task<Second> second;

  auto input() requires(portable_task<First>&& portable_task<Second>) {
    return std::tuple_cat(first.t.input(), second.t.input());
  }
  [[gnu::always_inline]] auto run() {
    if (beyond_cutoff()) [[likely]]
      return run_plainly();
    return divide<copy_if_trivial<first_task<First>>, copy_if_trivial<second_task<Second>>>(first,
                                                                                            second);
  }
  [[gnu::always_inline]] auto run_plainly() {
    auto x = run_half(first.t);
    return results_of<first_task<First>, second_task<Second>>{std::move(x), run_half(second.t)};
  }

private:
  template <class F, class S>
  [[gnu::always_inline]] static auto divide(F f, S s) {
    return divisible([](auto& a, auto& b) { return divisible_both(a, b); }, f, s);
  }
  template <class Half>
  [[gnu::always_inline]] static auto run_half(Half& half) {
    if constexpr (is_fork<Half>) {
      return half.run_plainly();
    } else {
      return value_of_run(half);
    }
  }
};
template <std::size_t N, class B, class... Rest>
[[gnu::always_inline]] constexpr auto& branch_at(B& first, Rest&... rest) {
  if constexpr (N == 0) {
    return first;
  } else {
    return branch_at<N - 1>(rest...);
  }
}

/// The branches number From to To - 1 as a task. The second half is the larger one, as it is what
/// a thief gets. By references alone, not by a tuple of them, in which GCC would keep the branches
/// in memory.
template <std::size_t From, std::size_t To, class... B>
[[gnu::always_inline]] constexpr auto fork_of(B&... branches) {
  if constexpr (To - From == 1) {
    auto& one = branch_at<From>(branches...);
    using type = std::remove_reference_t<decltype(one)>;
    if constexpr (cleave::task<type>) {
      return type(std::move(one));
    } else {
      return closure_task<type>{std::move(one)};
    }
  } else {
    constexpr std::size_t middle = From + (To - From) / 2;
    // The types are named, as Clang 14 deduces none for an aggregate.
    using first = decltype(fork_of<From, middle>(branches...));
    using second = decltype(fork_of<middle, To>(branches...));
    return fork<first, second>{{fork_of<From, middle>(branches...)},
                               {fork_of<middle, To>(branches...)}};
  }
}

/// The result of branch N in the nested pairs that a fork over branches From to To - 1 returns.
template <std::size_t N, std::size_t From, std::size_t To, class Results>
[[gnu::always_inline]] constexpr auto& result_of_branch(Results& results) {
  constexpr std::size_t middle = From + (To - From) / 2;
  if constexpr (To - From == 1) {
    return results;
  } else if constexpr (N < middle) {
    return result_of_branch<N, From, middle>(results.first);
  } else {
    return result_of_branch<N, middle, To>(results.second);
  }
}

template <class Tuple, class Results, std::size_t... N>
[[gnu::always_inline]] constexpr Tuple tuple_of(Results& results, std::index_sequence<N...>) {
  return Tuple{std::move(result_of_branch<N, 0, sizeof...(N)>(results))...};
}

template <class B>
struct branch_result {
  using type = value_of<std::invoke_result_t<B&>>;
};
template <cleave::task B>
struct branch_result<B> {
  using type = value_of<decltype(std::declval<B&>().run())>;
};

}  // namespace detail

/// Runs two or more branches, which may run at the same time, and returns a tuple of their results:
/// `auto [x, y, z] = all(f, g, h)`. It is `both` for more of them: they run here in this order,
/// and a thief is given the larger half of those that are left. They capture BY VALUE. A branch
/// that returns nothing gives cleave::nothing; if none returns anything, all() is a statement.
///
/// A branch may also be a task. It may leave the process where it is given alone, or together with
/// tasks that may.
///
/// Throws what the earliest branch threw; those after it then do not run, or are cancelled. Blocks
/// only for what was given away and is not done; helps with parts of that meanwhile.
template <detail::branch... B>
  requires(sizeof...(B) >= 2)
[[gnu::always_inline]] inline auto all(B... branches) {
  constexpr std::size_t count = sizeof...(B);
  using result = std::tuple<typename detail::branch_result<B>::type...>;
  auto tree = detail::fork_of<0, count>(branches...);
  auto results = tree.run();
  if constexpr (!(std::is_same_v<typename detail::branch_result<B>::type, nothing> && ...)) {
    return detail::tuple_of<result>(results, std::make_index_sequence<count>());
  }
}

}  // namespace cleave
