// What a worker does for those that ask, step by step: they have no threads (asker.hpp).
#include "core/asker.hpp"
#include "core/requests.hpp"

#include <chrono>
#include <utility>
#include <vector>

namespace cleave::tests {
namespace {

/// Runs f on the only worker of a runtime, with all constructs divisible.
template <class F>
void alone(F f) {
  runtime rt(options{.workers = 1, .cutoff = false});
  rt.run(f);
}

struct extent {
  int from, to;
  std::pair<int, int> run() { return {from, to}; }
};
using extents = std::vector<std::pair<int, int>>;

/// The parts that were given of a loop of n iterations, which does `body` in each.
template <class Body>
extents given_of(int n, Body body) {
  extents given;
  each(
      0, n, body,
      [](int from, int to) {
        return extent{from, to};
      },
      [&given](std::pair<int, int> part) { given.push_back(part); });
  return given;
}

TEST(victim, gives_equal_parts_of_a_loop_to_all_that_ask) {
  alone([] {
    // An answer ends when it takes long: the host may have taken the CPU meanwhile.
    const extents equal{{4, 8}, {8, 12}, {12, 16}};
    extents given;
    for (int round = 0; round < 1000 && given != equal; ++round) {
      asker a(1), b(2), c(3);
      a.ask(), b.ask(), c.ask();
      given = given_of(16, [](int) {});
    }
    EXPECT_EQ(given, equal);
  });
}

TEST(victim, gives_a_part_of_the_oldest_loop) {
  alone([] {
    asker a(1);
    extents inner;
    const extents outer = given_of(4, [&](int i) {
      if (i != 0) return;
      inner = given_of(4, [&](int j) {
        if (j == 0) a.ask();
      });
    });
    EXPECT_EQ(inner, extents{});
    EXPECT_EQ(outer, (extents{{2, 4}}));
  });
}

/// The first branch may have been a long one that never polled.
TEST(victim, answers_between_the_branches) {
  alone([] {
    asker a(1);
    bool answered = false;
    each(
        0, 2,
        [&](int i) {
          if (i == 0) both([&] { a.ask(); }, [&] { answered = a.is_answered(); });
        },
        [](int from, int to) {
          return extent{from, to};
        },
        [](std::pair<int, int>) {});
    EXPECT_TRUE(answered);
  });
}

/// A worker that never polls in its tasks answers after each.
TEST(victim, answers_between_two_tasks_of_a_group) {
  alone([] {
    asker a(1);
    int ran = 0, answered_after = 0;
    task_group g;
    for (int i = 0; i < 4; ++i)
      g.spawn([&] {
        if (++ran == 1) a.ask();
        else if (a.run()) answered_after = ran - 1;
      });
    g.wait();
    EXPECT_EQ(answered_after, 2);  // what was given counts as the second that ran
  });
}

/// How often a task was divided is counted from the root, whatever its worker ran before.
TEST(victim, counts_divisions_as_before_when_it_has_run_a_part) {
  alone([] {
    asker a(1);
    std::uint32_t first = 0, inside = 0, after = 0;
    const auto generation = [&a] {
      poll();
      detail::task* const t = a.take();
      const std::uint32_t found = t != nullptr ? t->generation : 0;
      if (t != nullptr) detail::here.self->execute(*t);
      return found;
    };
    const auto divided = [&](auto second) {
      std::uint32_t found = 0;
      a.ask();
      both([&] { found = generation(); }, second);
      return found;
    };
    first = divided([&] { inside = divided([] {}); });
    after = divided([] {});
    EXPECT_EQ(first, 1u);
    EXPECT_EQ(inside, 2u);
    EXPECT_EQ(after, 1u);
  });
}

struct nothing_to_do {
  void run() {}
};
/// Counts as much as an answer can.
nothing_to_do long_put() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(60);
  while (std::chrono::steady_clock::now() < end) {}
  return {};
}

/// Has answers take their share. Returns whether a poll has then left the asker without an answer.
bool use_up_share(asker& a) {
  bool answered = true;
  for (int k = 0; answered && k < 100'000; ++k) {
    a.ask();
    both(
        [&] {
          poll();
          answered = a.is_answered();
        },
        [] {}, long_put);
    if (answered) a.take();
  }
  return !answered;
}

/// It has made a task, and may be the last poll for long.
TEST(victim, answers_at_a_spawn_however_much_was_answered) {
  alone([&] {
    asker a(1);
    for (int round = 0; round < 20; ++round) {
      ASSERT_TRUE(use_up_share(a));
      bool ran = false;
      task_group g;
      g.spawn([&] { ran = true; });
      EXPECT_TRUE(a.run());
      EXPECT_TRUE(ran);
      g.wait();
    }
  });
}

/// Somebody asked when there was nothing to give. A construct has something now, and answers have
/// taken their share: then the next poll is to look.
TEST(victim, looks_again_at_who_is_parked_when_that_was_put_off) {
  alone([&] {
    asker a(1);
    int put_off = 0, forgotten = 0;
    for (int round = 0; round < 20; ++round) {
      ASSERT_TRUE(use_up_share(a));
      detail::here.self->box().forget(detail::asked);
      detail::here.self->box().remind(detail::parked);
      both(
          [&] {
            const bool waits = !a.is_answered();
            put_off += waits;
            forgotten += waits && (detail::rung_signals() & detail::asked) == 0;
          },
          [] {}, long_put);
      if (a.is_answered()) a.take();
    }
    EXPECT_EQ(forgotten, 0) << "of " << put_off;
  });
}

}  // namespace
}  // namespace cleave::tests
