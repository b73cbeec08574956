#pragma once

#include <cleave/loop.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

namespace cleave {
namespace detail {

/// What a loop can run over by number. An array whose next argument is its end is two iterators.
template <class V, class Next>
concept elements = std::ranges::random_access_range<V&> && std::ranges::sized_range<V&> &&
    !(std::is_array_v<std::remove_reference_t<V>> &&
      std::sized_sentinel_for<std::remove_cvref_t<Next>, std::ranges::iterator_t<V&>>);

/// Where the elements of a range begin: a pointer, if they lie side by side. No reference to the
/// range, whose begin the compiler would read again after each store.
template <class V>
[[gnu::always_inline]] inline auto begin_of(V& range) {
  if constexpr (std::ranges::contiguous_range<V&>) {
    return std::ranges::data(range);
  } else {
    return std::ranges::begin(range);
  }
}
template <class V>
using begin_of_t = decltype(begin_of(std::declval<V&>()));

template <class V>
[[gnu::always_inline]] inline std::int64_t count_of(V& range) {
  return static_cast<std::int64_t>(std::ranges::size(range));
}

template <std::random_access_iterator It>
[[gnu::always_inline]] inline It iterator_at(const It& first, std::int64_t i) {
  return first + static_cast<std::iter_difference_t<It>>(i);
}

/// The body of a loop over elements as one over their numbers.
template <class It, class Body>
struct element_body {
  It first;
  [[no_unique_address]] Body body;

  template <class... More>
    requires std::invocable<Body&, std::iter_reference_t<It>, More...>
  [[gnu::always_inline]] decltype(auto) operator()(std::int64_t i, More&&... more) {
    return body(*iterator_at(first, i), std::forward<More>(more)...);
  }
  template <class... More>
    requires std::invocable<const Body&, std::iter_reference_t<It>, More...>
  [[gnu::always_inline]] decltype(auto) operator()(std::int64_t i, More&&... more) const {
    return body(*iterator_at(first, i), std::forward<More>(more)...);
  }
};
template <class V, class Body>
[[gnu::always_inline]] inline auto over_elements(V& range, Body&& body) {
  return element_body<begin_of_t<V>, Body>{begin_of(range), std::forward<Body>(body)};
}

/// Some neighbouring elements, as put gets them.
template <class It>
struct elements_from {
  using type = std::ranges::subrange<It>;
};
template <class T>
struct elements_from<T*> {
  using type = std::span<T>;
};

/// A put of elements as one of their numbers.
template <class It, class Put>
struct element_put {
  It first;
  [[no_unique_address]] Put put;

  auto operator()(std::int64_t from, std::int64_t to) {
    using part = typename elements_from<It>::type;
    static_assert(std::invocable<Put&, part>,
                  "put(part) must take the elements to give: a std::span, or a "
                  "std::ranges::subrange of what does not lie side by side");
    return put(part(iterator_at(first, from), iterator_at(first, to)));
  }
};
/// The same for a loop without a put, whose body takes nothing but the element.
template <class V, class Body>
[[gnu::always_inline]] inline auto over_elements_alone(V& range, Body&& body) {
  static_assert(std::invocable<Body&, std::iter_reference_t<begin_of_t<V>>>,
                "the body of a loop over a range takes an element of it");
  return over_elements(range, std::forward<Body>(body));
}
template <class V, class Put>
[[gnu::always_inline]] inline auto put_elements(V& range, Put&& put) {
  return element_put<begin_of_t<V>, Put>{begin_of(range), std::forward<Put>(put)};
}

}  // namespace detail

// The loops of loop.hpp over the elements of a range that is indexed in constant time and knows its
// size: std::vector, std::array, std::span, arrays, std::views::iota(0, n). The body gets what
// range[i] is, as a rule a reference. The range is neither copied nor moved; it must live, and keep
// its elements where they are, until the loop ends. All else is as in loop.hpp.
//
// put(part) gets the elements to give as a std::span if they lie side by side, else as a
// std::ranges::subrange. A task that shall leave the process holds copies of them.
//
// Neighbours in a std::vector<bool> share words: two iterations must not write there.

/// Adds up body(x) for the elements x of a range: `sum(v, [](double x) { return x * x; })`.
template <class Total = detail::unnamed, class V, class Body>
  requires detail::elements<V, Body>
[[gnu::always_inline]] inline auto sum(V&& range, Body body) {
  return cleave::sum<Total>(std::int64_t{0}, detail::count_of(range),
                            detail::over_elements_alone(range, std::move(body)));
}
/// `sum` over a range in a shared workspace.
template <class Total = detail::unnamed, class V, class Body, class Put>
  requires detail::elements<V, Body>
[[gnu::always_inline]] inline auto sum(V&& range, Body body, Put put) {
  return cleave::sum<Total>(std::int64_t{0}, detail::count_of(range),
                            detail::over_elements(range, std::move(body)),
                            detail::put_elements(range, std::move(put)));
}

/// Merges body(x) for the elements x of a range, in program order, onto `identity`.
template <class Total = detail::unnamed, class V, class T, class Body, class Merge>
  requires detail::elements<V, T>
[[gnu::always_inline]] inline auto reduce(V&& range, T identity, Body body, Merge merge) {
  return cleave::reduce<Total>(std::int64_t{0}, detail::count_of(range), std::move(identity),
                               detail::over_elements_alone(range, std::move(body)),
                               std::move(merge));
}
/// `reduce` over a range in a shared workspace.
template <class Total = detail::unnamed, class V, class T, class Body, class Merge, class Put>
  requires detail::elements<V, T>
[[gnu::always_inline]] inline auto reduce(V&& range, T identity, Body body, Merge merge, Put put) {
  return cleave::reduce<Total>(std::int64_t{0}, detail::count_of(range), std::move(identity),
                               detail::over_elements(range, std::move(body)), std::move(merge),
                               detail::put_elements(range, std::move(put)));
}

/// Runs body(x) for the elements x of a range, which it may change: `each(v, [](double& x) { x *=
/// 2; })`.
template <class V, class Body>
  requires detail::elements<V, Body>
[[gnu::always_inline]] inline void each(V&& range, Body body) {
  cleave::each(std::int64_t{0}, detail::count_of(range),
               detail::over_elements_alone(range, std::move(body)));
}
/// `each` over a range in a shared workspace, for tasks that return nothing.
template <class V, class Body, class Put>
  requires detail::elements<V, Body>
[[gnu::always_inline]] inline void each(V&& range, Body body, Put put) {
  cleave::each(std::int64_t{0}, detail::count_of(range),
               detail::over_elements(range, std::move(body)),
               detail::put_elements(range, std::move(put)));
}
/// The general form: get(result) takes in what each part's task returned, in program order.
template <class V, class Body, class Put, class Get>
  requires detail::elements<V, Body>
[[gnu::always_inline]] inline void each(V&& range, Body body, Put put, Get get) {
  cleave::each(std::int64_t{0}, detail::count_of(range),
               detail::over_elements(range, std::move(body)),
               detail::put_elements(range, std::move(put)), std::move(get));
}

// The same loops over two iterators. What follows these is what follows the range above.

/// `sum` over the elements from `first` up to `last`.
template <class Total = detail::unnamed, std::random_access_iterator It,
          std::sized_sentinel_for<It> End, class... Rest>
[[gnu::always_inline]] inline auto sum(It first, End last, Rest... rest) {
  return cleave::sum<Total>(std::ranges::subrange(first, last), std::move(rest)...);
}
/// `reduce` over the elements from `first` up to `last`.
template <class Total = detail::unnamed, std::random_access_iterator It,
          std::sized_sentinel_for<It> End, class... Rest>
[[gnu::always_inline]] inline auto reduce(It first, End last, Rest... rest) {
  return cleave::reduce<Total>(std::ranges::subrange(first, last), std::move(rest)...);
}
/// `each` over the elements from `first` up to `last`.
template <std::random_access_iterator It, std::sized_sentinel_for<It> End, class... Rest>
[[gnu::always_inline]] inline void each(It first, End last, Rest... rest) {
  cleave::each(std::ranges::subrange(first, last), std::move(rest)...);
}

}  // namespace cleave
