#pragma once

#include <cleave/detail/task.hpp>
#include <cleave/detail/travel/archive.hpp>
#include <cleave/detail/travel/staying.hpp>
#include <cleave/task.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cleave {
namespace detail {

/// One argument of a call, numbered: an aggregate of these is copied as its members are, which a
/// std::tuple is not.
template <std::size_t N, class T>
struct argument {
  T value;
};

template <class Numbers, class... T>
struct arguments;
template <std::size_t... N, class... T>
struct arguments<std::index_sequence<N...>, T...> : argument<N, T>... {
  auto tied() { return std::tie(this->argument<N, T>::value...); }
  /// Moves what the function takes by value. The closures that std::apply needs would count when
  /// GCC decides how far to inline a recursion.
  template <auto Function, class R, class... P>
  [[gnu::always_inline]] R pass_to() {
    return Function(static_cast<P&&>(this->argument<N, T>::value)...);
  }
};

/// The task that calls a function: R f(P...).
template <auto Function, class R, class... P>
struct call_task {
  arguments<std::index_sequence_for<P...>, std::remove_cvref_t<P>...> given;

  static constexpr bool travels =
      (can_travel<std::remove_cvref_t<P>>() && ...) && can_travel<value_of<R>>();

  auto input() requires travels { return given.tied(); }

  /// May be called once: what the function takes by value is moved from.
  [[gnu::always_inline]] R run() { return given.template pass_to<Function, R, P...>(); }
};

template <auto Function, class R, class... P>
struct described<call_task<Function, R, P...>> {
  using visible = call_task<Function, R, P...>;
  using copies = std::tuple<std::remove_cvref_t<P>...>;
  static constexpr stays_for why = stays_for::result;  // if it is no argument
};

template <auto Function, class Type = decltype(Function)>
struct call_of {
  static_assert(!std::is_same_v<Type, Type>, "cleave::call<f>: f must be a function");
};
template <auto Function, class R, class... P>
struct call_of<Function, R (*)(P...)> {
  using type = call_task<Function, R, P...>;
  template <class... A>
  static constexpr bool accepts() {
    if constexpr (sizeof...(A) == sizeof...(P)) {
      return (std::is_convertible_v<A, std::remove_cvref_t<P>> && ...);
    } else {
      return false;
    }
  }

  template <class... A>
  [[gnu::always_inline]] static type make(A&&... a) {
    return {{{static_cast<std::remove_cvref_t<P>>(std::forward<A>(a))}...}};
  }
};
template <auto Function, class R, class... P>
struct call_of<Function, R (*)(P...) noexcept> : call_of<Function, R (*)(P...)> {};

}  // namespace detail

/// A task that calls a function with copies of its arguments: `both([=] { return fib(n - 1); },
/// call<fib>(n - 2))`. It may be used wherever a task may: as the second branch of `both`, by what
/// put returns, in task_group::spawn.
///
/// Each argument is converted to what the function takes, and copied, also where the function
/// takes a reference: a workspace is copied as it is now. It may leave the process if all
/// arguments and the result can be serialized (task.hpp); otherwise it stays, unless must_travel()
/// refuses that. An overloaded function has to be told by a cast, `call<(long (*)(int))f>(n)`, a
/// template by its arguments: `call<search<board>>(b)`.
// Compilers cannot be told what to say of an overloaded f, but they show this line.
// clang-format off
template <auto Function, class... A>
[[gnu::always_inline]] inline auto call(A&&... arguments) {  // overloaded: call<(R (*)(P...))f>(…)
  // clang-format on
  using made = detail::call_of<Function>;
  static_assert(made::template accepts<A...>(),
                "cleave::call<f>(...): the arguments must be those that f takes");
  if constexpr (made::template accepts<A...>()) return made::make(std::forward<A>(arguments)...);
}

}  // namespace cleave
