// What has come for a subtask of a round, from one thread to another.
#include "graph/round_transfers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace cleave::detail::tests {
namespace {

using bytes = std::vector<std::byte>;

/// Puts the nth value, and returns whether the subtask has to be told.
bool put(round_arrivals& all, std::uint64_t n) {
  auto& place = all.free_place();
  place.has_value = true;
  place.message.assign(n % 50 + 1, static_cast<std::byte>(n));
  return all.has_come();
}
bool is_the(std::uint64_t n, const round_arrivals::arrived& a) {
  return a.has_value && a.message == bytes(n % 50 + 1, static_cast<std::byte>(n));
}

TEST(round_arrivals, come_in_turn_and_each_is_told_of_once) {
  round_arrivals all;
  EXPECT_TRUE(put(all, 0));
  for (std::uint64_t n = 1; n < 20; ++n) EXPECT_FALSE(put(all, n)) << n;
  EXPECT_EQ(all.count(), 20u);
  for (std::uint64_t n = 0; n < 20; ++n) {
    EXPECT_TRUE(is_the(n, all.take())) << n;
    EXPECT_EQ(all.has_next(), n < 19) << n;
  }
  EXPECT_TRUE(put(all, 20));
  EXPECT_TRUE(is_the(20, all.take()));
  EXPECT_FALSE(all.has_next());
}

TEST(round_arrivals, the_taken_one_stays_until_the_next_is_taken) {
  round_arrivals all;
  put(all, 7);
  const auto& taken = all.take();
  EXPECT_FALSE(all.has_next());
  for (std::uint64_t n = 8; n < 30; ++n) {
    put(all, n);
    EXPECT_TRUE(is_the(7, taken));
  }
}

TEST(round_arrivals, keep_the_memory_of_values) {
  round_arrivals all;
  const auto address = [&](std::uint64_t n) {
    put(all, n);
    const std::byte* const is = all.take().message.data();
    all.has_next();
    return is;
  };
  address(49), address(49);
  const std::byte* const first = address(49);
  address(3);
  EXPECT_EQ(address(20), first);
}

// As in rounds: whoever is told of a value takes it.
TEST(round_arrivals, from_one_thread_to_another) {
  constexpr std::uint64_t values = 30'000;
  round_arrivals all;
  std::atomic<std::uint64_t> told{0};
  std::thread puts([&] {
    for (std::uint64_t n = 0; n < values; ++n) {
      if (put(all, n)) told.fetch_add(1, std::memory_order_acq_rel);
      if (n % 64 == 0) std::this_thread::yield();
    }
  });
  for (std::uint64_t n = 0; n < values; ++n) {
    while (told.load(std::memory_order_acquire) != n + 1) std::this_thread::yield();
    ASSERT_TRUE(is_the(n, all.take())) << n;
    if (all.has_next()) told.fetch_add(1, std::memory_order_acq_rel);
  }
  puts.join();
  EXPECT_EQ(told.load(), values);
}

}  // namespace
}  // namespace cleave::detail::tests
