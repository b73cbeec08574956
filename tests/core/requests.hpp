#pragma once

#include <gtest/gtest.h>
#include <cleave/cleave.hpp>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

/// What makes tests divide their work where they want to, and as often as they want to.
namespace cleave::tests {

/// Makes the calling worker do what CLEAVE_CHECK does at a poll: it goes back to the oldest frame
/// of its task that has something to give, however far that is, splits it, and runs the part
/// itself. So one worker, without luck in timing, goes back at every depth.
inline void force_split() {
  if (detail::here.self == nullptr) return;
  auto& word = detail::here.word;
  struct restore {
    std::atomic<std::uint32_t>& word;
    std::uint32_t before;
    ~restore() {
      if ((before & detail::checking) == 0) word.fetch_and(~std::uint32_t{detail::checking});
    }
  } at_exit{word, word.fetch_or(detail::checking)};
  poll();
}

/// What is random in tests is another with each CLEAVE_TEST_SEED, and the same in every run with
/// it.
inline std::uint64_t test_seed() {
  static const char* const given = std::getenv("CLEAVE_TEST_SEED");
  static const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 0;
  return seed;
}

inline std::uint64_t mix(std::uint64_t x) noexcept {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A random number for each place.
inline std::uint64_t random_at(std::uint64_t place) { return mix(place + (test_seed() << 32)); }

/// One poll in `rarity` splits, chosen by the place in the program.
inline void disturb(std::uint64_t place, std::uint64_t rarity = 3) {
  if (random_at(place) % rarity == 0) {
    force_split();
  } else {
    poll();
  }
}

struct setup {
  int workers;
  bool check = false;
  friend void PrintTo(const setup& s, std::ostream* out) {
    *out << s.workers << (s.check ? " checking" : " workers");
  }
};

/// A test that runs with one worker, with as many as there are CPUs, with many more, who all ask
/// all the time, and with CLEAVE_CHECK, which splits at every poll.
class every_runtime : public testing::TestWithParam<setup> {
protected:
  static options given() {
    return {.workers = GetParam().workers,
            .stack_bytes = std::size_t{64} << 20,
            .check = GetParam().check};
  }
  runtime rt{given()};

  /// How often run() calls the program.
  unsigned times() const { return GetParam().check ? 2 : 1; }
};

inline const auto every_setup =
    testing::Values(setup{1}, setup{2}, setup{3}, setup{8}, setup{1, true});

inline std::string name_of(const testing::TestParamInfo<setup>& info) {
  return info.param.check ? "check" : "workers_" + std::to_string(info.param.workers);
}

#define CLEAVE_FOR_EVERY_RUNTIME(suite) \
  INSTANTIATE_TEST_SUITE_P(with, suite, cleave::tests::every_setup, cleave::tests::name_of)

/// Accounts for items of work: every one must be done exactly once.
class ledger {
public:
  explicit ledger(std::size_t items) : done_(items) {}
  void enter(std::size_t item) noexcept { done_[item].fetch_add(1, std::memory_order_relaxed); }
  /// How many items were not done exactly `times` times.
  std::size_t wrong(unsigned times = 1) const noexcept {
    std::size_t n = 0;
    for (const auto& d : done_) n += d.load(std::memory_order_relaxed) != times;
    return n;
  }

private:
  std::vector<std::atomic<std::uint32_t>> done_;
};

}  // namespace cleave::tests
