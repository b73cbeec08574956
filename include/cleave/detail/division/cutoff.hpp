#pragma once

#include <cleave/detail/division/registers.hpp>
#include <cleave/detail/task.hpp>

#include <cstdint>
#include <type_traits>

/// Where a construct is worth a frame. Calls deep on the stack are short ones: each worker learns
/// how deep those of less than a few microseconds are, and there a construct runs its sequential
/// program, for the price of one comparison: no frames, no polls, no steps on the list. A worker
/// that asks is answered when that is over; one that waits longer sets the cutoff to 0, and all
/// that begins from then on can be divided.
namespace cleave::detail {

// beyond_cutoff(): whether the caller is so deep that dividing its work would not pay. insisted():
// whether somebody waits for something to be divided that was to run undivided. One instruction
// each: otherwise GCC keeps the stack pointer and the cutoff in registers, which the program then
// lacks.
[[gnu::always_inline]] inline bool beyond_cutoff() noexcept {
#if defined(__x86_64__) && defined(__LP64__)
  if constexpr (!thread_sanitized) {
    bool beyond;
    asm volatile("cmpq %%rsp, %1" : "=@cca"(beyond) : "m"(here.cutoff));
    return beyond;
  }
#endif
  return stack_pointer() < glance(here.cutoff);
}
[[gnu::always_inline]] inline bool insisted() noexcept {
#if defined(__x86_64__) && defined(__LP64__)
  if constexpr (!thread_sanitized) {
    bool zero;
    asm volatile("cmpq $0, %1" : "=@ccz"(zero) : "m"(here.cutoff));
    return zero;
  }
#endif
  return glance(here.cutoff) == 0;
}

/// Begins to take the time of a construct that can be divided; `at` was the stack pointer where
/// beyond_cutoff() was asked. Returns 0 on a thread that is no worker.
[[gnu::noinline, gnu::cold]] std::uint64_t begin_timing(std::uintptr_t at) noexcept;
/// Ends the timing that began at `since`.
[[gnu::noinline, gnu::cold]] void end_timing(std::uint64_t since, std::uintptr_t at) noexcept;

/// A small closure as a copy, whose address can be passed on while the original stays in registers;
/// others by address.
template <class T>
using copy_if_small = std::conditional_t<few_words<T>, T, T&>;

/// f(args...), and the time of some of these calls is taken. Out of line: where the compiler
/// inlines a recursion into itself, it sees only the plain calls beyond the cutoff.
template <class F, class... Args>
[[gnu::noinline]] auto timed(F f, std::uintptr_t at, Args&... args) {
  here.construct = at;
  const std::uint64_t since = --here.until_timed == 0 ? begin_timing(at) : 0;
  auto result = value([&]() -> decltype(auto) { return f(args...); });
  if (since != 0) [[unlikely]]
    end_timing(since, at);
  return result;
}
template <class F, class... Copies>
[[gnu::always_inline]] inline auto timed_with(F f, Copies... copies) {
  return timed(f, stack_pointer(), copies...);
}

/// A construct's slow side: f has a frame, and is divided if somebody asks. It gets its arguments
/// by reference, those that are small to copies, and captures nothing: that would be stored, or put
/// into vectors, on the fast side too.
template <class F, class... Args>
[[gnu::always_inline]] inline auto divisible(F f, Args&... args) {
  return timed_with<F, copy_if_small<Args>...>(f, args...);
}

}  // namespace cleave::detail
