#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

/// The integer type that a loop counts in, and its bounds in that type.
namespace cleave::detail {

template <class A, class B>
concept range = std::integral<A> && std::integral<B> && sizeof(A) <= 8 && sizeof(B) <= 8 &&
                !(std::is_same_v<A, bool> && std::is_same_v<B, bool>);

template <class A, class B>
inline constexpr bool common_type_holds_both = std::is_signed_v<std::common_type_t<A, B>> ||
                                               (std::is_unsigned_v<A> && std::is_unsigned_v<B>);

/// The common type of the bounds, if it holds all values of both; else a signed one of 64 bits, if
/// that does. No type holds those of an unsigned type of 64 bits and a signed one: then it is the
/// common type, and a negative bound is looked for.
template <class A, class B>
using index_of =
    std::conditional_t<common_type_holds_both<A, B> || sizeof(std::common_type_t<A, B>) == 8,
                       std::common_type_t<A, B>, std::int64_t>;

/// Throws std::out_of_range.
[[noreturn]] void refuse_negative_first(std::int64_t first);

/// The first of the iterations.
template <std::integral Int, std::integral A>
constexpr Int first_of(A first) {
  if constexpr (std::is_signed_v<A> && std::is_unsigned_v<Int>) {
    if (first < 0) [[unlikely]]
      refuse_negative_first(first);
  }
  return static_cast<Int>(first);
}

/// The end of a loop whose first iteration is not negative, if Int is unsigned.
template <std::integral Int, std::integral B>
constexpr Int end_of(B last) noexcept {
  if constexpr (std::is_signed_v<B> && std::is_unsigned_v<Int>) {
    if (last < 0) return 0;
  }
  return static_cast<Int>(last);
}

/// How many iterations there are in [from, to), also where the difference of two signed numbers
/// would overflow.
template <std::integral Int>
constexpr auto remaining(Int from, Int to) noexcept {
  using count = std::make_unsigned_t<Int>;
  return static_cast<count>(static_cast<count>(to) - static_cast<count>(from));
}

}  // namespace cleave::detail
