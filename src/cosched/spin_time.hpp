#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

/// How long a rank spins before it sleeps.
namespace cleave::cosched {

using nanoseconds = std::int64_t;

/// `two_phase`: always the same time, twice a context switch. `logp`: always the same, a round trip
/// (2 L + 4 o of the LogP model) and a wake-up, so that an answer is seen from whoever must be
/// woken for it (Arpaci-Dusseau, Culler, Mainwaring, "Scheduling with implicit information in
/// distributed systems", 1998). `adaptive`: learns it.
enum class policy : unsigned { spin, block, two_phase, logp, adaptive };

std::optional<policy> policy_named(std::string_view name) noexcept;
const char* name_of(policy p) noexcept;

/// The time to spin on a CPU that nobody else wants: there spinning takes time from nobody, and a
/// wake-up takes the rank's own. The time is four wake-ups: of a longer wait one of them is a small
/// part. It is at least four usual ones, because where no CPU was idle when the job began, the
/// wake-up was measured too short.
constexpr nanoseconds free_spin_for(nanoseconds wake) noexcept {
  return std::clamp<nanoseconds>(4 * wake, 120'000, 400'000);
}

/// Chooses among some fixed times by the multiplicative weights of Littlestone and Warmuth ("The
/// weighted majority algorithm", 1994). A wait of length w costs w if it ends while spinning,
/// otherwise the time spun and what blocking costs; so after each wait it is known what it would
/// have cost with every one of the times. With weights w_i (1 - η)^(cost_i / largest cost), the
/// expected cost of all waits is at most
///
///     (1 + η) · that of the best of the times  +  (ln N / η) · the largest cost of one wait,
///
/// whatever the waits are. And the best of the times costs at most twice what somebody who knows
/// the future pays, because one of them is the cost of blocking itself (Karlin et al., "Empirical
/// studies of competitive spinning", 1991).
class learner {
public:
  learner(nanoseconds block_cost, std::uint64_t seed) noexcept;

  nanoseconds next() noexcept;
  void saw(nanoseconds wait) noexcept;
  /// The time that has most weight now.
  nanoseconds favourite() const noexcept;
  nanoseconds block_cost() const noexcept { return block_cost_; }

private:
  static constexpr std::size_t choices = 6;
  static constexpr double rate = 0.2;  // η

  nanoseconds cost(std::size_t choice, nanoseconds wait) const noexcept;

  nanoseconds block_cost_;
  std::array<nanoseconds, choices> times_;
  std::array<double, choices> weights_;
  std::uint64_t random_;
};

/// A rank's spin time under a policy.
class spin_time {
public:
  /// `fixed` is for two_phase and logp; `block_cost`: how long it takes to block and be woken.
  spin_time(policy p, nanoseconds fixed, nanoseconds block_cost, std::uint64_t seed) noexcept;

  bool has_two_phases() const noexcept {
    return policy_ != policy::spin && policy_ != policy::block;
  }
  /// How long to spin in the wait that begins.
  nanoseconds next() noexcept;
  /// Tells how long it took until what was waited for happened, however the time was spent.
  void saw(nanoseconds wait) noexcept {
    if (policy_ == policy::adaptive) learner_.saw(wait);
  }
  nanoseconds block_cost() const noexcept { return learner_.block_cost(); }
  /// What a report tells: the time, or that which is preferred now; -1: never blocks.
  nanoseconds typical() const noexcept;

private:
  policy policy_;
  nanoseconds fixed_;
  learner learner_;
};

}  // namespace cleave::cosched
