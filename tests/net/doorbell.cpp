#include "net/mpi/doorbell.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using cleave::net::mpi::doorbell;

namespace {

doorbell of_a_rank_alone() { return {0, {0}, {}, nullptr, 1}; }

// The seconds that a thread sleeps on the bell, while f() runs beside it; 10 at most.
template <class F>
double sleep_beside(doorbell& bell, F f) {
  double seconds = 0;
  std::atomic<bool> begun{false};
  std::thread sleeper([&] {
    const auto ticket = bell.look();
    begun = true;
    const auto since = std::chrono::steady_clock::now();
    bell.sleep(ticket, 10s);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
  });
  while (!begun) std::this_thread::yield();
  std::this_thread::sleep_for(20ms);
  f();
  sleeper.join();
  return seconds;
}

}  // namespace

TEST(doorbell, a_ring_ends_a_sleep) {
  auto bell = of_a_rank_alone();
  EXPECT_LT(sleep_beside(bell, [&] { bell.ring_self(); }), 5);
}

TEST(doorbell, rings_end_no_sleep_while_it_is_watched) {
  auto bell = of_a_rank_alone();
  const double seconds = sleep_beside(bell, [&] {
    auto seen = bell.rings();
    bell.watch();
    bell.ring_self();
    EXPECT_NE(bell.rings(), seen);
    std::this_thread::sleep_for(100ms);
    seen = bell.rings();
    bell.end_watch(seen);  // the watcher has seen it
    std::this_thread::sleep_for(100ms);
    bell.ring_self();
  });
  EXPECT_GT(seconds, 0.2);
  EXPECT_LT(seconds, 5);
}

TEST(doorbell, a_ring_that_the_watcher_has_not_seen_ends_the_sleep_when_it_ends) {
  auto bell = of_a_rank_alone();
  const double seconds = sleep_beside(bell, [&] {
    const auto seen = bell.rings();
    bell.watch();
    bell.ring_self();
    bell.end_watch(seen);
  });
  EXPECT_LT(seconds, 5);
}

// Each ring is seen by the sleeper or by the watcher; none, and the ringer waits for ever.
TEST(doorbell, loses_no_ring_between_sleeper_and_watcher) {
  auto bell = of_a_rank_alone();
  constexpr std::uint32_t wanted = 20'000;
  std::atomic<std::uint32_t> seen{0};
  std::atomic<bool> over{false}, lost{false};
  auto see = [&](std::uint32_t n) {
    for (auto now = seen.load(); static_cast<std::int32_t>(n - now) > 0;)
      if (seen.compare_exchange_weak(now, n)) break;
  };
  std::thread sleeper([&] {
    while (!over) {
      const auto ticket = bell.look();
      see(ticket);
      if (!over) bell.sleep(ticket, 10s);
    }
  });
  std::thread watcher([&] {
    while (!over) {
      auto last = bell.rings() - 1;
      bell.watch();
      for (int i = 0; i < 3; ++i) {
        bell.watch();
        see(last = bell.rings());
        std::this_thread::yield();
      }
      bell.end_watch(last);
      std::this_thread::yield();
    }
  });
  for (std::uint32_t n = 1; n <= wanted && !lost; ++n) {
    bell.ring_self();
    const auto until = std::chrono::steady_clock::now() + 5s;
    while (static_cast<std::int32_t>(seen - n) < 0 && !lost) {
      std::this_thread::yield();
      lost = std::chrono::steady_clock::now() > until;
    }
  }
  EXPECT_FALSE(lost) << "after " << seen;
  over = true;
  bell.ring_self();
  watcher.join();
  const auto since = std::chrono::steady_clock::now();
  bell.ring_self();
  sleeper.join();
  EXPECT_LT(std::chrono::steady_clock::now() - since, 5s);
}

// A ringer that is late must not take the next sleep for the one that it has ended.
TEST(doorbell, loses_no_ring_of_several_ringers) {
  auto bell = of_a_rank_alone();
  std::atomic<bool> over{false};
  std::vector<std::thread> ringers;
  for (int i = 0; i < 3; ++i)
    ringers.emplace_back([&] {
      while (!over) bell.ring_self();
    });
  const auto until = std::chrono::steady_clock::now() + 300ms;
  auto longest = 0ns;
  while (std::chrono::steady_clock::now() < until) {
    const auto since = std::chrono::steady_clock::now();
    bell.sleep(bell.look(), 10s);
    longest = std::max<std::chrono::nanoseconds>(longest, std::chrono::steady_clock::now() - since);
  }
  over = true;
  for (auto& r : ringers) r.join();
  EXPECT_LT(longest, 5s);
}
