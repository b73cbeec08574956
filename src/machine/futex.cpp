#include "machine/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <climits>
#include <ctime>

namespace cleave::machine {

void block(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
           int milliseconds) noexcept {
  const timespec limit{milliseconds / 1000, milliseconds % 1000 * 1'000'000L};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected,
          milliseconds == forever ? nullptr : &limit, nullptr, 0);
}

void wake(const std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void block_shared(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                  std::chrono::nanoseconds at_most) noexcept {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(at_most);
  const timespec limit{whole.count(), (at_most - whole).count()};
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, &limit, nullptr, 0);
}

void wake_shared(const std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace cleave::machine
