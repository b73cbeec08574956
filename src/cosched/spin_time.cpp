#include "cosched/spin_time.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace cleave::cosched {
namespace {

constexpr const char* names[] = {"spin", "block", "two-phase", "logp", "adaptive"};
constexpr nanoseconds never = std::numeric_limits<nanoseconds>::max();

}  // namespace

std::optional<policy> policy_named(std::string_view name) noexcept {
  const auto* const found = std::find(std::begin(names), std::end(names), name);
  if (found == std::end(names)) return std::nullopt;
  return static_cast<policy>(found - std::begin(names));
}

const char* name_of(policy p) noexcept { return names[static_cast<unsigned>(p)]; }

learner::learner(nanoseconds block_cost, std::uint64_t seed) noexcept
    : block_cost_(block_cost),
      times_{0, block_cost / 8, block_cost / 4, block_cost / 2, block_cost, 2 * block_cost},
      random_(seed * 2 + 1) {
  weights_.fill(1);
}

nanoseconds learner::next() noexcept {
  random_ ^= random_ << 13, random_ ^= random_ >> 7, random_ ^= random_ << 17;  // xorshift64
  double sum = 0;
  for (const double w : weights_) sum += w;
  double left = static_cast<double>(random_ >> 11) * 0x1p-53 * sum;
  for (std::size_t i = 0; i < choices; ++i) {
    left -= weights_[i];
    if (left < 0) return times_[i];
  }
  return times_.back();
}

nanoseconds learner::cost(std::size_t choice, nanoseconds wait) const noexcept {
  return wait <= times_[choice] ? wait : times_[choice] + block_cost_;
}

void learner::saw(nanoseconds wait) noexcept {
  const double largest = static_cast<double>(times_.back() + block_cost_);
  double most = 0;
  for (std::size_t i = 0; i < choices; ++i) {
    weights_[i] *= std::pow(1 - rate, static_cast<double>(cost(i, wait)) / largest);
    most = std::max(most, weights_[i]);
  }
  // Scaling changes no choice. The floor is one: a time that was bad for long can come back.
  for (double& w : weights_) w = std::max(w / most, 1e-6);
}

nanoseconds learner::favourite() const noexcept {
  const auto best = std::max_element(weights_.begin(), weights_.end()) - weights_.begin();
  return times_[static_cast<std::size_t>(best)];
}

spin_time::spin_time(policy p, nanoseconds fixed, nanoseconds block_cost,
                     std::uint64_t seed) noexcept
    : policy_(p), fixed_(fixed), learner_(block_cost, seed) {}

nanoseconds spin_time::next() noexcept {
  switch (policy_) {
    case policy::spin: return never;
    case policy::block: return 0;
    case policy::two_phase:
    case policy::logp: return fixed_;
    case policy::adaptive: break;
  }
  return learner_.next();
}

nanoseconds spin_time::typical() const noexcept {
  switch (policy_) {
    case policy::spin: return -1;
    case policy::block: return 0;
    case policy::two_phase:
    case policy::logp: return fixed_;
    case policy::adaptive: break;
  }
  return learner_.favourite();
}

}  // namespace cleave::cosched
