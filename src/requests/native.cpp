#include "requests/native.hpp"

#include "machine/futex.hpp"

namespace cleave::detail {
namespace {

/// Longer than a thread that shares its CPU is off it.
constexpr int nap_milliseconds = 50;

}  // namespace

void native::block(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                   bool nap) noexcept {
  machine::block(word, expected, nap ? nap_milliseconds : machine::forever);
}
void native::wake(const std::atomic<std::uint32_t>& word, bell b) noexcept {
  b.ring != nullptr ? b.ring(b.of) : machine::wake(word);
}

}  // namespace cleave::detail
