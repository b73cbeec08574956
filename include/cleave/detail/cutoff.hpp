#pragma once

#include <cleave/detail/frame.hpp>

#include <cstdint>

/// Where a `both` is worth a frame. Calls deep on the stack are short ones: each worker learns how deep those of less
/// than a few microseconds are, and there a `both` runs as two plain calls, for the price of one comparison. A
/// thief that asks moves the cutoff out of the way, until it has been answered.
namespace cleave::detail {

CLEAVE_HOT std::uintptr_t stack_pointer() noexcept {
#if defined(__x86_64__)
  std::uintptr_t sp;
  asm inline("mov %%rsp, %0" : "=r"(sp));
  return sp;
#else
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
#endif
}

/// Whether the caller is so deep that dividing its work would not pay.
CLEAVE_HOT bool beyond_cutoff() noexcept {
#ifdef CLEAVE_TSAN
  return stack_pointer() < here.cutoff.load(std::memory_order_relaxed);
#else
  return stack_pointer() < *reinterpret_cast<const volatile std::uintptr_t*>(&here.cutoff);
#endif
}

/// Begins to take the time of a construct that can be divided; 0 on a thread that is no worker.
CLEAVE_COLD std::uint64_t begin_timing() noexcept;
/// Ends it; `at` was the stack pointer where beyond_cutoff() was asked.
CLEAVE_COLD void end_timing(std::uint64_t since, std::uintptr_t at) noexcept;

}  // namespace cleave::detail
