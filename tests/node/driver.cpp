// labels: once slow
// Several nodes in one process: tasks travel between their pools, over a network that delays, loses
// and doubles messages.
#include "node/travelling.hpp"

#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace cleave::tests {
namespace {

long fib_by_call(int n) {
  note_arrival();
  if (n < 2) return n;
  auto [x, y] = both([n] { return fib_by_call(n - 1); }, call<fib_by_call>(n - 2));
  return x + y;
}

struct rows {
  int n = 0;
  std::vector<int> queens;
  bool free(int column) const {
    const int row = static_cast<int>(queens.size());
    for (int i = 0; i < row; ++i) {
      const int c = queens[static_cast<std::size_t>(i)];
      if (c == column || c - column == row - i || column - c == row - i) return false;
    }
    return true;
  }
  auto fields() { return std::tie(n, queens); }
};
long solutions(rows& b, int first, int last);
struct piece {
  rows b;
  int first = 0, last = 0;
  auto input() { return std::tie(b, first, last); }
  long run() {
    note_arrival();
    return solutions(b, first, last);
  }
};
long solutions(rows& b, int first, int last) {
  if (static_cast<int>(b.queens.size()) == b.n) return 1;
  return sum(
      first, last,
      [&b](int i) -> long {
        if (!b.free(i)) return 0;
        step placed{[&b, i] { b.queens.push_back(i); }, [&b] { b.queens.pop_back(); }};
        return solutions(b, 0, b.n);
      },
      [&b](int from, int to) {
        return piece{b, from, to};
      });
}
long solutions(int n) {
  rows b{n, {}};
  return solutions(b, 0, n);
}

std::unique_ptr<ledger> items;
/// Each item once, wherever.
long visit(int first, int last) {
  note_arrival();
  return sum(
      first, last,
      [](int i) -> long {
        items->enter(static_cast<std::size_t>(i));
        compute(20us);
        poll();
        return i;
      },
      [](int from, int to) { return call<visit>(from, to); });
}

// ---- what arrives

TEST_F(nodes, a_struct_with_input_travels) {
  job j(2, 1);
  EXPECT_EQ(run(j,
                [] {
                  struct there {
                    int n = 0;
                    auto input() { return std::tie(n); }
                    long run() {
                      note_arrival();
                      return fib(n);
                    }
                  };
                  auto [arrived, f] = both([] { return await_travellers(); }, there{12});
                  EXPECT_TRUE(arrived);
                  return f + fib(15);
                }),
            144 + 610);
  EXPECT_GE(j.crossed(), 1u);
  EXPECT_TRUE(soon([&] { return j.nodes[1]->link().counted().tasks_in >= 1; }));
  EXPECT_EQ(j.root().link().counted().nodes, 2u);
}

TEST_F(nodes, a_call_travels) {
  job j(2, 1);
  EXPECT_EQ(run(j,
                [] {
                  auto [arrived, f] =
                      both([] { return await_travellers(); }, call<fib_by_call>(14));
                  EXPECT_TRUE(arrived);
                  return f;
                }),
            377);
}

TEST_F(nodes, what_has_no_input_stays) {
  job j(3, 2);
  EXPECT_EQ(run(j,
                [] {
                  return sum(0, 400, [](int i) -> long {
                    EXPECT_FALSE(elsewhere());
                    compute(20us);
                    return i;
                  });
                }),
            400 * 399 / 2);
  EXPECT_EQ(j.crossed(), 0u);
}

TEST_F(nodes, a_workspace_travels_as_it_was) {
  for (unsigned k = 0; k < 5; ++k) {
    travelled = 0;
    job j(3, 1, {.seed = k, .delay = microseconds(200)});
    EXPECT_EQ(run(j, [] { return solutions(9); }), 352);
  }
}

TEST_F(nodes, each_item_exactly_once) {
  std::uint64_t crossed = 0;
  for (unsigned count = 2; count <= 4; ++count) {
    for (unsigned workers = 1; workers <= 3; ++workers) {
      items = std::make_unique<ledger>(1500);
      net::settings how = quick();
      how.lost_after = 60s;  // who is slow is not taken for dead
      job j(count, workers, {.seed = workers, .delay = microseconds(300)}, how);
      EXPECT_EQ(run(j, [] { return visit(0, 1500); }), 1500 * 1499 / 2);
      EXPECT_EQ(items->wrong(), 0u) << count << " nodes of " << workers;
      crossed += j.crossed();
    }
  }
  EXPECT_GT(crossed, 9u);
}

TEST_F(nodes, a_part_of_what_is_awaited_is_taken_back) {
  job j(2, 1);
  static std::atomic<bool> taken_back;
  taken_back = false;
  struct part {
    auto input() { return std::tie(); }
    long run() {
      taken_back = !elsewhere();
      return 2;
    }
  };
  struct awaited {
    auto input() { return std::tie(); }
    long run() {
      note_arrival();
      auto [a, b] = both(
          [] {
            const auto end = clock::now() + 20s;
            while (!taken_back && clock::now() < end) poll();
            return 1L;
          },
          part{});
      return a + b;
    }
  };
  EXPECT_EQ(run(j,
                [] {
                  auto [arrived, n] = both([] { return await_travellers(); }, awaited{});
                  return arrived ? n : 0;
                }),
            3);
  EXPECT_TRUE(taken_back);
}

TEST_F(nodes, work_is_found_when_it_begins) {
  net::settings how = quick();
  how.heartbeat_every = how.idle_for = how.lost_after = how.ask_again_at_most = 100s;
  job j(2, 1, {}, how);
  std::this_thread::sleep_for(20ms);  // both have said that they have nothing
  EXPECT_EQ(run(j,
                [] {
                  auto [arrived, f] = both([] { return await_travellers(); }, call<fib_by_call>(5));
                  return arrived ? f : 0;
                }),
            5);
}

TEST_F(nodes, thousands_of_short_runs) {
  job j(3, 2);
  root_pool = j.root().pool();
  for (int k = 0; k < 2000; ++k)
    ASSERT_EQ(j.root().run([k] { return fib(k % 8); }), fib(k % 8)) << k;
}

// ---- bad weather

unsigned seeds() {
  const char* const given = std::getenv("CLEAVE_SEEDS");
  return given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : 12;
}

/// A search that is cancelled somewhere in the middle, again and again; or not, by the seed.
long search_some(unsigned seed) {
  cancel_scope s;
  const auto found = s.run([&] {
    return both(
               [&] {
                 compute(microseconds(seed % 7 * 300));
                 if (seed % 2 != 0) s.cancel();
                 return fib(10);
               },
               call<fib>(13))
        .first;
  });
  return found.value_or(55);
}

TEST_F(nodes, the_answer_is_right_in_any_weather) {
  const auto base = static_cast<unsigned>(test_seed() * 1000);
  for (unsigned seed = base; seed < base + seeds(); ++seed) {
    SCOPED_TRACE("CLEAVE_TEST_SEED-like number " + std::to_string(seed));
    const unsigned count = 2 + seed % 3;
    job j(count, 1 + seed / 3 % 3,
          {.seed = seed,
           .delay = microseconds(seed % 5 * 200),
           .loss = seed % 4 == 0 ? 0 : 0.02 * (seed % 4),
           .twice = seed % 3 * 0.1});
    std::atomic<bool> over{false};
    std::thread death([&] {
      for (net::address who = 1; who < count; ++who) {
        for (unsigned k = 0; k < 5 + seed % 11 && !over; ++k) std::this_thread::sleep_for(1ms);
        if (seed % 5 < 3 && !over) j.network.kill(who, seed % 2 == 0);
      }
    });
    for (unsigned k = 0; k < 3; ++k) {
      EXPECT_EQ(run(j, [] { return fib(14); }), 377);
      EXPECT_EQ(run(j, [] { return solutions(7); }), 40);
      EXPECT_EQ(run(j, [seed] { return search_some(seed); }), 55);
    }
    over = true;
    death.join();
  }
}

}  // namespace
}  // namespace cleave::tests
