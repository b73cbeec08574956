#include "core/checks.hpp"

#include "machine/without_signals.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <system_error>

namespace cleave::detail {
namespace {

/// How many polls the first gaps have, on average.
constexpr double least_gap = 32;
/// Until so many polls were seen, the outermost frames are left alone: a branch and bound would run
/// half of its tree before it knows a bound.
constexpr std::uint64_t first_polls = 256;
/// The last division that a plan keeps back comes about here, if the program makes so many polls:
/// some hours.
constexpr double horizon = 1e12;

std::uint64_t mixed(std::uint64_t x) noexcept {  // splitmix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

checked_polls::checked_polls(std::uint64_t divisions, std::uint32_t seed) noexcept
    : most_(divisions), seed_(seed), random_(mixed(seed)) {
  if (most_ != 0) choose_next();
}

double checked_polls::random() noexcept {
  random_ += 0x9e3779b97f4a7c15u;
  return static_cast<double>(mixed(random_) >> 11) * 0x1p-53;
}

void checked_polls::divided() noexcept {
  divisions_.store(divisions() + 1, std::memory_order_relaxed);  // one writer
  if (most_ != 0) choose_next();
}

/// The divisions that are left shall be spread evenly over the logarithms of the polls to come. Of
/// so many points, thrown at random, the first is this far on average.
void checked_polls::choose_next() noexcept {
  if (divisions() == most_) {
    next_ = std::numeric_limits<std::uint64_t>::max();
    return;
  }
  const auto now = static_cast<double>(seen()), left = static_cast<double>(most_ - divisions());
  const double to_come = std::log(std::max(horizon / std::max(now, 1.0), 2.0));
  const double chosen = 2 * random();
  const double gap =
      std::max(now * std::expm1(chosen * to_come / (left + 1)), chosen * (least_gap - 1));
  next_ = seen() + 1 + static_cast<std::uint64_t>(std::min(gap, 1e18));
}

double checked_polls::place() noexcept {
  if (most_ == 0) return 0;
  const double chosen = random();
  return seen() < first_polls ? (1 + chosen) / 2 : std::max(0.0, 2 * chosen - 1);
}

checks::~checks() {
  if (!teller_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ended_.notify_all();
  teller_.join();
  tell("in all");
}

bool checks::begin() noexcept {
  const bool divides = pauses.load(std::memory_order_relaxed) == 0;
  phase_.store(divides ? divided : undivided, std::memory_order_relaxed);
  if (began_) return divides;
  began_ = std::chrono::steady_clock::now();
  announce();
  if (every_.count() != 0) {
    try {
      const machine::without_signals none;
      teller_ = std::thread([this] { tell_progress(); });
    } catch (const std::system_error&) {  // there is no thread to be had: then nothing is told
    }
  }
  return divides;
}

void checks::announce() const noexcept {
  const std::uint64_t most = polls.most();
  std::fprintf(stderr, "cleave: CLEAVE_CHECK=%" PRIu64, most == 0 ? 1 : most);
  if (most != 0) std::fprintf(stderr, " CLEAVE_CHECK_SEED=%" PRIu32, polls.seed());
  std::fprintf(
      stderr,
      ": each run() calls its function twice, first divided, then undivided; what the first "
      "call changes, the second one finds changed\n");
}

void checks::tell_progress() noexcept {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, every_, [this] { return ends_; })) {
    const phase now = phase_.load(std::memory_order_relaxed);
    if (now != nothing) tell(now == divided ? "in the divided run" : "in the undivided run");
  }
}

void checks::tell(const char* of_what) const noexcept {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - *began_);
  std::fprintf(stderr,
               "cleave: CLEAVE_CHECK: %" PRIu64 " divisions at %" PRIu64 " polls, %lld s, %s\n",
               polls.divisions(), polls.seen(), static_cast<long long>(seconds.count()), of_what);
}

}  // namespace cleave::detail
