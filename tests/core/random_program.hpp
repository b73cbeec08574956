#pragma once

#include "core/requests.hpp"

#include <array>

/// What random programs are made of (oracle.cpp, random_programs.cpp): results in which order
/// shows, a workspace that steps change, and the constructs in two forms. The same program written
/// in the plain form is the oracle.
namespace cleave::tests {

/// A digest of a sequence: += appends, so that order shows. Powers of an odd number modulo 2^64.
struct digest {
  std::uint64_t hash = 0, power = 1;
  static digest of(std::uint64_t x) { return {x, 0x9e3779b97f4a7c15u}; }
  digest& operator+=(const digest& b) {
    hash = hash * b.power + b.hash;
    power *= b.power;
    return *this;
  }
  friend digest operator+(digest a, const digest& b) { return a += b; }
  friend bool operator==(const digest&, const digest&) = default;
};

/// Cells that steps change in a way that does not commute.
struct workspace {
  static constexpr std::uint64_t odd = 0xd1342543de82ef95u;
  static constexpr std::uint64_t inverse = [] {  // modulo 2^64, by Newton's iteration
    std::uint64_t x = odd;
    for (int k = 0; k < 6; ++k) x *= 2 - odd * x;
    return x;
  }();
  std::array<std::uint64_t, 8> cells{};
  void change(std::uint64_t by) { at(by) = at(by) * odd + by; }
  void restore(std::uint64_t by) { at(by) = (at(by) - by) * inverse; }
  std::uint64_t& at(std::uint64_t by) { return cells[by >> 61]; }
  friend bool operator==(const workspace&, const workspace&) = default;
};

/// Relaxed: what is counted orders nothing, so that ThreadSanitizer sees what the runtime orders.
struct tally {
  void operator+=(long n) { of.fetch_add(n, std::memory_order_relaxed); }
  void operator=(long n) { of.store(n, std::memory_order_relaxed); }
  operator long() const { return of.load(std::memory_order_relaxed); }
  std::atomic<long> of{0};
};

inline tally mismatches;  // how often a workspace was not what its place in the program makes it

/// `path`: what the workspace must be, which each branch knows by value.
inline void verify(const workspace& w, const workspace& path) { mismatches += !(w == path); }

/// Constructs in the plain form, without the runtime.
struct plain_constructs {
  template <class F, class G>
  static digest both(F f, G g) {
    digest a = f();
    return a + g();
  }
  template <class F, class G, class P>
  static digest both(F f, G g, P) {
    return both(f, g);
  }
  template <class B, class P>
  static digest loop(std::uint64_t, int n, B body, P) {
    digest d;
    for (int i = 0; i < n; ++i) d += body(i, with_step);
    return d;
  }
  static constexpr auto with_step = [](auto make, auto f, auto undo) {
    make();
    struct at_exit {
      decltype(undo)& u;
      ~at_exit() { u(); }
    } undone{undo};
    return f();
  };
};

/// The same constructs, divided by the runtime. `JoinMayFail` is called before each join of a
/// loop's parts and may throw.
template <void (*JoinMayFail)()>
struct divided_constructs {
  template <class... Branch>
  static digest both(Branch... branch) {
    auto [a, b] = cleave::both(branch...);
    return a + b;
  }
  template <class B, class P>
  static digest loop(std::uint64_t kind, int n, B body, P put) {
    return range(kind, 0, n, body, put);
  }
  /// `kind` chooses one of the six forms of a loop.
  template <class B, class P>
  static digest range(std::uint64_t kind, int from, int to, B body, P put) {
    const auto steps = [=](int i) { return body(i, with_step); };
    digest all;
    const auto get = [&](digest d) {
      JoinMayFail();
      all += d;
    };
    switch (kind % 6) {
      case 0: return sum(from, to, steps, put);
      case 1: return reduce(from, to, digest{}, steps, merge, put);
      case 2:
        each(
            from, to, [&](int i) { all += steps(i); }, put, get);
        break;
      case 3:
        return sum(
            from, to, [=](int i, digest& d, auto wind) { d += body(i, wind); }, put);
      case 4: return reduce(from, to, digest{}, body, merge, put);
      default:
        each(
            from, to, [&](int i, auto wind) { all += body(i, wind); }, put, get);
    }
    return all;
  }
  static constexpr auto with_step = [](auto make, auto f, auto undo) {
    step change{make, undo};
    return f();
  };
  static constexpr auto merge = [](digest a, digest b) {
    JoinMayFail();
    return a + b;
  };
};

}  // namespace cleave::tests
