#include "mpi/doorbell.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using cleave::net::mpi::doorbell;

namespace {

doorbell of_a_rank_alone() { return {0, {0}, {}, nullptr, 1}; }

// A sleep that lasts for so long has not ended by a ring. sleep() does not tell: it has been rung
// where the ring has woken nobody, too.
constexpr auto long_enough = 60s;
template <class F>
bool ends_early(F sleep) {
  const auto since = std::chrono::steady_clock::now();
  sleep();
  return std::chrono::steady_clock::now() - since < long_enough;
}

// Whether a thread's sleep on the bell ends early, while f(ended) runs beside it. `ended`: it
// sleeps no more.
template <class F>
bool is_woken_beside(doorbell& bell, F f) {
  bool woken = false;
  std::atomic<bool> begun{false}, ended{false};
  std::thread sleeper([&] {
    const auto ticket = bell.look();
    begun = true;
    woken = ends_early([&] { bell.sleep(ticket, long_enough); });
    ended = true;
  });
  while (!begun) std::this_thread::yield();
  std::this_thread::sleep_for(20ms);  // so that it mostly sleeps already
  f(ended);
  sleeper.join();
  return woken;
}

}  // namespace

TEST(doorbell, a_ring_ends_a_sleep) {
  auto bell = of_a_rank_alone();
  EXPECT_TRUE(is_woken_beside(bell, [&](auto&) { bell.ring_self(); }));
}

TEST(doorbell, rings_end_no_sleep_while_it_is_watched) {
  auto bell = of_a_rank_alone();
  EXPECT_TRUE(is_woken_beside(bell, [&](const auto& ended) {
    auto seen = bell.rings();
    bell.watch();
    bell.ring_self();
    EXPECT_NE(bell.rings(), seen);
    std::this_thread::sleep_for(50ms);
    EXPECT_FALSE(ended);
    seen = bell.rings();
    bell.end_watch(seen);  // the watcher has seen it
    std::this_thread::sleep_for(50ms);
    EXPECT_FALSE(ended);
    bell.ring_self();
  }));
}

TEST(doorbell, a_ring_that_the_watcher_has_not_seen_ends_the_sleep_when_it_ends) {
  auto bell = of_a_rank_alone();
  EXPECT_TRUE(is_woken_beside(bell, [&](auto&) {
    const auto seen = bell.rings();
    bell.watch();
    bell.ring_self();
    bell.end_watch(seen);
  }));
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
      if (!over && !ends_early([&] { bell.sleep(ticket, long_enough); })) lost = true;
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
    while (static_cast<std::int32_t>(seen - n) < 0 && !lost) std::this_thread::yield();
  }
  EXPECT_FALSE(lost) << "after " << seen;
  over = true;
  bell.ring_self();
  watcher.join();
  bell.ring_self();
  sleeper.join();
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
  int late = 0;
  for (const auto until = std::chrono::steady_clock::now() + 300ms;
       std::chrono::steady_clock::now() < until;)
    late += ends_early([&] { bell.sleep(bell.look(), long_enough); }) ? 0 : 1;
  over = true;
  for (auto& r : ringers) r.join();
  EXPECT_EQ(late, 0);
}
