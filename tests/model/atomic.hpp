#pragma once

#include "explorer.hpp"

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace model {

/// Ends the schedule as a violation unless it holds.
inline void require(bool holds, const char* what) {
  if (!holds) explorer::fail(what);
}

/// An atomic whose every operation is a step of its own. Operations stay out of line: what they
/// leave in their callers' frames would tell apart states that are equal.
template <class T>
class atomic : public cell {
public:
  using order = std::memory_order;
  static constexpr order strongest = std::memory_order_seq_cst;

  atomic(T v = T{}) : cell{bits(v)} {}
  atomic(const atomic&) = delete;

  [[gnu::noinline]] T load(order = strongest) const {
    explorer* const e = explorer::running();
    if (e == nullptr) return of(value);
    e->point();
    const std::uint64_t v = e->read(*this);
    e->tell("is", *this, v, v);
    return of(v);
  }
  void store(T v, order o = strongest) {
    if (o == strongest || explorer::running() == nullptr)
      return void(update("set", [v](T) { return v; }));
    explorer::running()->point();
    explorer::running()->write_later(*this, bits(v));
    explorer::running()->tell("will get", *this, bits(v), bits(v));
  }
  T exchange(T v, order = strongest) {
    return update("exchanged", [v](T) { return v; });
  }
  T fetch_or(T v, order = strongest) {
    return update("or", [v](T old) { return old | v; });
  }
  T fetch_and(T v, order = strongest) {
    return update("and", [v](T old) { return old & v; });
  }
  bool compare_exchange_strong(T& expected, T v, order = strongest, order = strongest) {
    const T want = expected;
    expected = update("compared", [=](T old) { return old == want ? v : old; });
    return expected == want;
  }

  /// What it is in memory, without a step.
  T peek() const { return of(value); }
  T fetch_add(T v, order = strongest) {
    return update("add", [v](T old) { return static_cast<T>(old + v); });
  }
  T fetch_sub(T v, order = strongest) {
    return update("subtract", [v](T old) { return static_cast<T>(old - v); });
  }

  /// Waits until it has one of the bits, takes away `taken`, and returns what it was: a loop of
  /// loads that need not be told apart.
  T await(T bits, T taken = 0) {
    explorer::running()->point(this, bits);
    return apply("awaited", [taken](T old) { return old & ~taken; });
  }
  /// As a futex does: compares and sleeps in one step.
  void block(T expected) {
    explorer* const e = explorer::running();
    e->point();
    e->drain();
    e->tell("blocks if", *this, bits(expected), bits(expected));
    if (value == bits(expected)) e->sleep_on(*this);
  }
  void wake() {
    explorer* const e = explorer::running();
    e->point();
    e->drain();
    e->tell("wakes at", *this, value, value);
    e->wake(*this);
  }

private:
  template <class F>
  [[gnu::noinline]] T update(const char* what, F f) {
    if (explorer::running() != nullptr) explorer::running()->point();
    return apply(what, f);
  }
  template <class F>
  T apply(const char* what, F f) {
    explorer* const e = explorer::running();
    if (e != nullptr) e->drain();
    const T old = of(value);
    value = bits(f(old));
    if (e != nullptr) e->tell(what, *this, bits(old), value);
    return old;
  }

  static std::uint64_t bits(T v) {
    if constexpr (std::is_pointer_v<T>) return reinterpret_cast<std::uintptr_t>(v);
    else return static_cast<std::uint64_t>(v);
  }
  static T of(std::uint64_t v) {
    if constexpr (std::is_pointer_v<T>) return reinterpret_cast<T>(v);
    else return static_cast<T>(v);
  }
};

/// A pointer that its owner changes. When the owner reads it, that is no step.
template <class T>
struct owned_pointer : atomic<T*> {
  using base = atomic<T*>;
  using base::base;
  T* load(std::memory_order o) const {
    return o == std::memory_order_relaxed ? base::peek() : base::load(o);
  }
};

/// An atomic that no scenario reads, and no step: the depth of what is wanted. Who takes it with an
/// older request fails to find that one, which is withdrawn.
struct unread {
  constexpr unread(std::uint32_t) {}
  void store(std::uint32_t, std::memory_order) {}
  std::uint32_t load(std::memory_order) const { return 0; }
  void fetch_add(std::uint32_t, std::memory_order) {}
  void fetch_sub(std::uint32_t, std::memory_order) {}
};

}  // namespace model
