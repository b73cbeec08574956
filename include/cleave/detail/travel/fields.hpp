#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

/// The fields of an object, as a tuple of references: what its fields() names, or the members of
/// an aggregate.
namespace cleave::detail {

template <class T>
concept names_fields = requires(T& t) {
  t.fields();
};

/// Whatever a member of the aggregate T is initialised with; T itself and its bases are not.
template <class T>
struct any_member {
  template <class U>
    requires(!std::is_base_of_v<U, T>)
  operator U() const;
};
template <class T>
struct any_base {
  template <class U>
    requires(std::is_base_of_v<U, T> && !std::is_same_v<U, T>)
  operator U() const;
};

template <std::size_t, class Any>
using repeated = Any;

template <class T, std::size_t... A>
constexpr bool takes(std::index_sequence<A...>) {
  return requires { T{repeated<A, any_member<T>>{}...}; };
}
template <class T, std::size_t... A, std::size_t... B, std::size_t... C>
constexpr bool takes(std::index_sequence<A...>, std::index_sequence<B...>,
                     std::index_sequence<C...>) {
  return requires {
    T{repeated<A, any_member<T>>{}...,
      {repeated<B, any_member<T>>{}...},
      repeated<C, any_member<T>>{}...};
  };
}
template <std::size_t N>
using indices = std::make_index_sequence<N>;

constexpr std::size_t most_initialisers = 256, most_members = 16;

/// How many initialisers T takes where the braces around arrays are left out: at least Low, fewer
/// than High.
template <class T, std::size_t Low, std::size_t High>
constexpr std::size_t initialisers() {
  constexpr std::size_t middle = (Low + High) / 2;
  if constexpr (High - Low == 1) {
    return Low;
  } else if constexpr (takes<T>(indices<middle>())) {
    return initialisers<T, middle, High>();
  } else {
    return initialisers<T, Low, middle>();
  }
}
/// How many initialisers T takes in braces of their own, after `At` others: at least Low, fewer
/// than High.
template <class T, std::size_t At, std::size_t Low, std::size_t High>
constexpr std::size_t braced_initialisers() {
  constexpr std::size_t middle = (Low + High) / 2;
  if constexpr (High - Low == 1) {
    return Low;
  } else if constexpr (takes<T>(indices<At>(), indices<middle>(), indices<0>())) {
    return braced_initialisers<T, At, middle, High>();
  } else {
    return braced_initialisers<T, At, Low, middle>();
  }
}

/// How many of all initialisers, from the one at `At`, are one member: if K of them in braces are
/// an array, then T takes the rest after it, and no more.
template <class T, std::size_t All, std::size_t At>
constexpr std::size_t of_one_member() {
  constexpr std::size_t k = braced_initialisers<T, At, 1, All - At + 1>();
  constexpr std::size_t rest = All - At - k;
  constexpr bool is_array = takes<T>(indices<At>(), indices<k>(), indices<rest>()) &&
                            !takes<T>(indices<At>(), indices<k>(), indices<rest + 1>());
  return is_array ? k : 1;
}
template <class T, std::size_t All, std::size_t At = 0>
constexpr std::size_t members_from() {
  if constexpr (At == All) {
    return 0;
  } else {
    return 1 + members_from<T, All, At + of_one_member<T, All, At>()>();
  }
}

/// How many members an aggregate has; `most_members + 1` where that is not known, or where it is
/// more.
template <class T>
constexpr std::size_t members() {
  if constexpr (!std::is_class_v<T> || !std::is_aggregate_v<T> ||
                !std::is_default_constructible_v<T> || requires { T{any_base<T>{}}; }) {
    return most_members + 1;
  } else if constexpr (std::is_empty_v<T>) {
    return 0;
  } else {
    constexpr std::size_t all = initialisers<T, 0, most_initialisers + 2>();
    if constexpr (all == 0 || all > most_initialisers) {
      return most_members + 1;
    } else {
      return (std::min)(members_from<T, all>(), most_members + 1);
    }
  }
}

template <class T>
concept plain_aggregate = members<T>()
<= most_members;

template <std::size_t N, class T>
constexpr auto tie_members(T& t) {
  // clang-format off
  if constexpr (N == 0) { (void)t; return std::tie(); }
  else if constexpr (N == 1) { auto& [a] = t; return std::tie(a); }
  else if constexpr (N == 2) { auto& [a, b] = t; return std::tie(a, b); }
  else if constexpr (N == 3) { auto& [a, b, c] = t; return std::tie(a, b, c); }
  else if constexpr (N == 4) { auto& [a, b, c, d] = t; return std::tie(a, b, c, d); }
  else if constexpr (N == 5) { auto& [a, b, c, d, e] = t; return std::tie(a, b, c, d, e); }
  else if constexpr (N == 6) { auto& [a, b, c, d, e, f] = t; return std::tie(a, b, c, d, e, f); }
  else if constexpr (N == 7) {
    auto& [a, b, c, d, e, f, g] = t;
    return std::tie(a, b, c, d, e, f, g);
  }
  else if constexpr (N == 8) {
    auto& [a, b, c, d, e, f, g, h] = t;
    return std::tie(a, b, c, d, e, f, g, h);
  }
  else if constexpr (N == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = t;
    return std::tie(a, b, c, d, e, f, g, h, i);
  }
  else if constexpr (N == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = t;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  }
  else if constexpr (N == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = t;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  }
  else if constexpr (N == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = t;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  }
  else if constexpr (N == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = t;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
  }
  else if constexpr (N == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = t;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  }
  else if constexpr (N == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = t;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  }
  else {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = t;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  }
  // clang-format on
}

template <class T>
auto fields_of(T& t) {
  if constexpr (names_fields<T>) {
    return t.fields();
  } else {
    return tie_members<members<T>()>(t);
  }
}

}  // namespace cleave::detail
