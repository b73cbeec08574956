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

/// Calls of closures out of line, from landing pads and the like, that need no memory of the caller. By reference, and by
/// value from 16 bytes on, what a closure captured would have a place in the frame of a function that hardly ever makes
/// the call; GCC fills that by vectors where it has them, and then aligns the frame each time the function is entered.
namespace cleave::detail {

/// What fits the registers that a call on x86-64 passes integers in.
template <class F>
concept fits_registers = std::is_trivially_copyable_v<F> && sizeof(F) <= 6 * sizeof(std::uintptr_t);

/// The k-th word of a closure.
template <class F>
CLEAVE_HOT std::uintptr_t nth_word(const F& f, std::size_t k) noexcept {
  std::uintptr_t word = 0;
  const std::size_t at = k * sizeof word;
  std::memcpy(&word, reinterpret_cast<const std::byte*>(&f) + at,
              std::min(sizeof word, sizeof f - at));
  return word;
}

/// Calls the closure that consists of these words.
template <class F, std::same_as<std::uintptr_t>... Words>
CLEAVE_COLD void call_words(Words... words) {
  const std::uintptr_t in_order[] = {words...};
  alignas(F) std::byte f[sizeof(F)];
  std::memcpy(f, in_order, sizeof f);
  (*std::launder(reinterpret_cast<F*>(f)))();
}

/// f(), out of line.
template <fits_registers F>
CLEAVE_HOT void call_in_registers(const F& f) {
  constexpr std::size_t words = (sizeof f + sizeof(std::uintptr_t) - 1) / sizeof(std::uintptr_t);
  [&f]<std::size_t... K>(std::index_sequence<K...>) {
    const F copy = f;  // else GCC puts its words together where f is made
    call_words<F>(nth_word(copy, K)...);
  }
  (std::make_index_sequence<words>());
}

}  // namespace cleave::detail
