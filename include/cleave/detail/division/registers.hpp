#pragma once

#include <cleave/detail/frame.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

/// Calls of closures out of line, from landing pads and the like, that need no memory of the
/// caller. By reference, and by value where it is large, what a closure captured would have a place
/// in the frame of a function that hardly ever makes the call; GCC fills that by vectors where it
/// has them, and then aligns the frame each time the function is entered.
namespace cleave::detail {

/// What is copied as it is, and no larger than the registers that a call on x86-64 passes integers
/// in.
template <class T>
concept few_words = std::is_trivially_copyable_v<T> && std::is_copy_constructible_v<T> &&
                    sizeof(T) <= 6 * sizeof(std::uintptr_t);

/// A type of few words that needs no memory aligned for it.
template <class F>
concept fits_registers = few_words<F> && alignof(F) <= alignof(std::uintptr_t);

template <fits_registers F>
struct words_of {
  /// Bytes, which may be padding: an integer that is passed is taken to have a value.
  struct word {
    std::byte bytes[sizeof(std::uintptr_t)];
  };
  static constexpr std::size_t count = (sizeof(F) + sizeof(word) - 1) / sizeof(word);

  [[gnu::always_inline]] static word nth(const F& f, std::size_t n) noexcept {
    word w{};
    const std::size_t at = n * sizeof w;
    std::memcpy(&w, reinterpret_cast<const std::byte*>(&f) + at,
                (std::min)(sizeof w, sizeof f - at));
    return w;
  }

  template <std::same_as<word>... Words>
  [[gnu::noinline, gnu::cold]] static void call(Words... in_order) {
    const word all[] = {in_order...};
    alignas(F) std::byte f[sizeof(F)];
    std::memcpy(f, all, sizeof f);
    (*std::launder(reinterpret_cast<F*>(f)))();
  }

  template <std::size_t... N>
  [[gnu::always_inline]] static void call_with(F copy, std::index_sequence<N...>) {
    call(nth(copy, N)...);
  }
};

/// Calls a copy of f out of line: without the copy GCC puts its words together where f is made.
template <fits_registers F>
[[gnu::always_inline]] inline void call_in_registers(const F& f) {
  words_of<F>::call_with(f, std::make_index_sequence<words_of<F>::count>());
}

}  // namespace cleave::detail
