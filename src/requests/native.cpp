#include "requests/native.hpp"

#include "machine/futex.hpp"

#include <sched.h>

namespace cleave::detail {
namespace {

/// Longer than a thread that shares its CPU is off it.
constexpr int nap_milliseconds = 50;

}  // namespace

void native::block(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                   bool nap) noexcept {
  machine::block(word, expected, nap ? nap_milliseconds : machine::forever);
}
void native::await_change(const count& word, std::uint32_t from) noexcept {
  constexpr int most = 100;  // looks, before whoever changes it is taken to be off its CPU
  for (int k = 0; word.load(std::memory_order_relaxed) == from; ++k) {
    if (k == most) return static_cast<void>(sched_yield());
    machine::pause();
  }
}
void native::wake(const std::atomic<std::uint32_t>& word, bell b) noexcept {
  b.ring != nullptr ? b.ring(b.of) : machine::wake(word);
}

}  // namespace cleave::detail
