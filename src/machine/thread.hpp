#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace cleave::machine {

/// A thread with a stack of a chosen size, of which only what is touched costs memory. Going past
/// its end prints one line that says so and how to raise the limit, and exits with status 2.
class thread {
public:
  /// Starts call(argument). Throws std::system_error if memory or threads run out.
  thread(std::size_t stack_bytes, void (*call)(void*), void* argument);
  /// Waits for the thread to end.
  ~thread();
  thread(const thread&) = delete;
  thread& operator=(const thread&) = delete;

private:
  struct state;
  std::unique_ptr<state> state_;
};

/// How often the calling thread was taken off its CPU although it could have gone on.
long preemptions() noexcept;

/// For how long the calling thread has been on a CPU, in nanoseconds. A system call.
std::uint64_t cpu_time() noexcept;
/// For how long all threads of this process together have been on a CPU, in nanoseconds.
std::uint64_t process_cpu_time() noexcept;

}  // namespace cleave::machine
