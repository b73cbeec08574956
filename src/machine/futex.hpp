#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

/// Blocking on a word, as the operating system offers it.
namespace cleave::machine {

inline constexpr int forever = -1;

/// Blocks while the word holds `expected`, for so long at most; may return early. std::atomic::wait
/// would do the same after spinning on its own account, which the caller has already done.
void block(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
           int milliseconds = forever) noexcept;

/// Wakes whoever blocks on the word. Touches only its address.
void wake(const std::atomic<std::uint32_t>& word) noexcept;

/// block() for a word in memory that processes share. Returns early at a signal, too.
void block_shared(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                  std::chrono::nanoseconds at_most) noexcept;
void wake_shared(const std::atomic<std::uint32_t>& word) noexcept;

/// Tells the core that this is a spin loop.
inline void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace cleave::machine
