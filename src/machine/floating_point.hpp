#pragma once

#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <cfenv>
#endif

/// How the calling thread computes with floating-point numbers: rounding, flush to zero, which
/// exceptions trap. Which exceptions were raised is not part of it.
namespace cleave::machine {

#if defined(__x86_64__)
namespace x86 {
constexpr std::uint32_t raised = 0x3f;  // the bits of MXCSR that say which exceptions were raised
}

/// How this thread computes, as a number that is never 0.
inline std::uint64_t floating_environment() noexcept {
  std::uint32_t vectors;
  std::uint16_t x87;
  asm volatile("stmxcsr %0" : "=m"(vectors));
  asm volatile("fnstcw %0" : "=m"(x87));
  return (vectors & ~x86::raised) | std::uint64_t{x87} << 32 | std::uint64_t{1} << 63;
}
inline void set_floating_environment(std::uint64_t to) noexcept {
  std::uint32_t vectors;
  asm volatile("stmxcsr %0" : "=m"(vectors));
  const auto wanted = (vectors & x86::raised) | (static_cast<std::uint32_t>(to) & ~x86::raised);
  if (wanted != vectors) asm volatile("ldmxcsr %0" : : "m"(wanted));
  std::uint16_t now;
  const auto x87 = static_cast<std::uint16_t>(to >> 32);
  asm volatile("fnstcw %0" : "=m"(now));
  if (now == x87) return;
  // An exception raised before would trap at the next instruction, where it traps from now on.
  asm volatile("fnclex");
  asm volatile("fldcw %0" : : "m"(x87));
}
#elif defined(__aarch64__)
inline std::uint64_t floating_environment() noexcept {
  std::uint64_t control;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return control | std::uint64_t{1} << 63;
}
inline void set_floating_environment(std::uint64_t to) noexcept {
  asm volatile("msr fpcr, %0" : : "r"(to & ~(std::uint64_t{1} << 63)));
}
#else
inline std::uint64_t floating_environment() noexcept {
  return static_cast<std::uint64_t>(std::fegetround()) | std::uint64_t{1} << 63;
}
inline void set_floating_environment(std::uint64_t to) noexcept {
  std::fesetround(static_cast<int>(to));
}
#endif

/// Has this thread compute as another one does, while this object lives.
class computing_as {
public:
  explicit computing_as(std::uint64_t environment) noexcept : before_(floating_environment()) {
    set_floating_environment(environment);
  }
  ~computing_as() { set_floating_environment(before_); }
  computing_as(const computing_as&) = delete;
  computing_as& operator=(const computing_as&) = delete;

private:
  const std::uint64_t before_;
};

}  // namespace cleave::machine
