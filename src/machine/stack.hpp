#pragma once

#include <cstddef>

namespace cleave::machine {

/// A stack of a chosen size, of which only what is touched costs memory. Going past its end prints
/// one line that says so and how to raise the limit, and exits with status 2.
class stack {
public:
  /// Whether this machine's threads can change stacks in the middle of a function.
#if defined(__x86_64__) || defined(__aarch64__)
  static constexpr bool can_change = true;
#else
  static constexpr bool can_change = false;
#endif

  /// Throws std::system_error if memory runs out.
  explicit stack(std::size_t bytes);
  ~stack();
  stack(const stack&) = delete;
  stack& operator=(const stack&) = delete;

  char* begin() const noexcept { return memory_ + below; }
  std::size_t bytes() const noexcept { return bytes_; }

  /// Says that the calling thread began on this stack, until its end.
  void watch_thread() const noexcept;
  void forget_thread() const noexcept;

  /// Runs call(argument) on this stack, and returns when it has returned. One thread at a time.
  /// Only where can_change.
  void run(void (*call)(void*) noexcept, void* argument) const noexcept;

private:
  static const std::size_t below;  // bytes below the stack: for signals, and the guard

  char* memory_;
  std::size_t bytes_;
};

}  // namespace cleave::machine
