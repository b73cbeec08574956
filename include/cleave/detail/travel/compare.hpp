#pragma once

#include <cleave/detail/travel/fields.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

/// How CLEAVE_CHECK compares the results of two runs.
namespace cleave::detail {

template <class T>
constexpr bool is_compared();
template <class T>
constexpr bool parts_are_compared = true;
template <class... A>
constexpr bool parts_are_compared<std::tuple<A...>> = (is_compared<std::remove_cvref_t<A>>() &&
                                                       ...);
template <class A, class B>
constexpr bool parts_are_compared<std::pair<A, B>> = parts_are_compared<std::tuple<A, B>>;
template <class... A>
constexpr bool parts_are_compared<std::variant<A...>> = parts_are_compared<std::tuple<A...>>;

/// Whether two results of a type can be compared by ==. Containers have one that does not compile
/// if their elements have none. Addresses differ from run to run.
template <class T>
constexpr bool is_compared() {
  if constexpr (requires(const T& a) { a == nullptr; } || !parts_are_compared<T>) return false;
  if constexpr (requires { typename T::value_type; })
    if constexpr (!std::is_same_v<typename T::value_type, T>)
      if (!is_compared<typename T::value_type>()) return false;
  return requires(const T& a) {
    { a == a } -> std::convertible_to<bool>;
  };
}

/// Whether two numbers differ by no more than the order of additions explains. What is no number is
/// the same as another that is none.
template <std::floating_point R>
constexpr bool same_number(R a, R b) {
  if (a == b || (a != a && b != b)) return true;  // infinite, or no numbers
  const R scale = (a < 0 ? -a : a) + (b < 0 ? -b : b);
  const R gap = a < b ? b - a : a - b;
  return gap <= scale * R(1e-6);
}

/// A container that does not consist of itself, as a std::filesystem::path does.
template <class T>
concept sequence = requires(const T& t) {
  std::begin(t);
  std::end(t);
  requires !std::is_same_v<std::remove_cvref_t<decltype(*std::begin(t))>, T>;
};

/// Whether two values that can be compared are the same: if == says so, or if their numbers are.
template <class T>
constexpr bool same(const T& a, const T& b) {
  const auto each = [](const auto& x, const auto& y) { return same(x, y); };
  const auto all = [&](const auto& x, const auto& y) {
    return [&]<std::size_t... N>(std::index_sequence<N...>) {
      return (each(std::get<N>(x), std::get<N>(y)) && ...);
    }
    (std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(x)>>>());
  };
  if constexpr (std::is_floating_point_v<T>) {
    return same_number(a, b);
  } else if (a == b) {
    return true;
  } else if constexpr (sequence<T>) {
    return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b), each);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    return all(a, b);
  } else if constexpr (names_fields<const T>) {
    return all(fields_of(a), fields_of(b));
  } else if constexpr (requires { a.real(), a.imag(); }) {
    return each(a.real(), b.real()) && each(a.imag(), b.imag());
  } else if constexpr (requires { a.has_value(), *a; }) {
    return a.has_value() && b.has_value() && each(*a, *b);
  } else if constexpr (requires { a.valueless_by_exception(); }) {
    return a.index() == b.index() && std::visit(
                                         [&]<class X, class Y>(const X& x, const Y& y) {
                                           if constexpr (std::is_same_v<X, Y>) return each(x, y);
                                           return false;
                                         },
                                         a, b);
  } else if constexpr (std::is_trivially_copyable_v<T>) {
    // An aggregate whose == meets what is no number: the same bytes, those between fields included.
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
    return std::memcmp(&a, &b, sizeof a) == 0;
  } else {
    return false;
  }
}

}  // namespace cleave::detail
