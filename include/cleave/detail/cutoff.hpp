#pragma once

#include <cleave/detail/frame.hpp>

#include <cstdint>
#include <type_traits>

/// Where a construct is worth a frame. Calls deep on the stack are short ones: each worker learns how deep those of
/// less than a few microseconds are, and there a construct runs its sequential program, for the price of one
/// comparison: no frames, no polls, no steps on the list. Who asks is answered when that is over; one who waits longer
/// sets the cutoff to 0, and all that begins from then on can be divided.
namespace cleave::detail {

CLEAVE_HOT std::uintptr_t cutoff() noexcept {
#ifdef CLEAVE_TSAN
  return here.cutoff.load(std::memory_order_relaxed);
#else
  return *reinterpret_cast<const volatile std::uintptr_t*>(&here.cutoff);
#endif
}

/// Whether the caller is so deep that dividing its work would not pay.
CLEAVE_HOT bool beyond_cutoff() noexcept { return stack_pointer() < cutoff(); }

/// Whether somebody waits for something to be divided that was to run undivided.
CLEAVE_HOT bool insisted() noexcept { return cutoff() == 0; }

/// Begins to take the time of a construct that can be divided; 0 on a thread that is no worker.
CLEAVE_COLD std::uint64_t begin_timing() noexcept;
/// Ends it; `at` was the stack pointer where beyond_cutoff() was asked.
CLEAVE_COLD void end_timing(std::uint64_t since, std::uintptr_t at) noexcept;

/// Runs f, which divides what it does if asked to; the time of some is taken.
template <class F>
CLEAVE_HOT auto timed(std::uintptr_t at, F f) {
  const std::uint64_t since = --here.until_timed == 0 ? begin_timing() : 0;
  auto result = f();
  if (since != 0) [[unlikely]]
    end_timing(since, at);
  return result;
}

/// A small closure as a copy, whose address can be passed on while the original stays in registers; others by address.
template <class T>
using copy_if_small = std::conditional_t<std::is_trivially_copyable_v<T> && sizeof(T) <= 48, T, T&>;

}  // namespace cleave::detail
