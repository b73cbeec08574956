// Task groups: exactly once, nested, with constructs inside and around them, exceptions and
// cancellation.
#include "core/asker.hpp"
#include "core/requests.hpp"
#include "core/worker.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cleave::tests {
namespace {

class task_group_with : public every_runtime {};
CLEAVE_FOR_EVERY_RUNTIME(task_group_with);

TEST_P(task_group_with, tasks_that_return_something) {
  rt.run([] {
    for (int k = 0; k < 100; ++k) {
      task_group g;
      std::vector<task_group::result<int>> numbers;
      for (int i = 0; i < 10; ++i) {
        numbers.push_back(g.spawn([i] {
          disturb(static_cast<std::uint64_t>(i), 3);
          return i * i;
        }));
      }
      auto moved = g.spawn([] { return std::make_unique<std::string>("a result"); });
      g.spawn([] { return std::make_unique<int>(5); });  // dropped
      auto thrown = g.spawn([]() -> int { throw std::runtime_error("x"); });
      EXPECT_THROW(g.wait(), std::runtime_error);
      for (int i = 0; i < 10; ++i) EXPECT_EQ(*numbers[static_cast<std::size_t>(i)], i * i);
      EXPECT_EQ(**std::move(moved), "a result");
      EXPECT_FALSE(thrown);
      EXPECT_THROW(*thrown, std::bad_optional_access);
    }
    task_group g;
    g.cancel();
    try {
      const auto never = g.spawn([] { return 1; });
      EXPECT_FALSE(g.wait());
      EXPECT_FALSE(never);
    } catch (...) { ADD_FAILURE() << "what is outside of the group was cancelled"; }
  });
}

/// Closures of every size and alignment, which come from a worker's memory or the heap; thieves
/// free what others have spawned.
template <std::size_t Bytes, std::size_t Alignment>
struct alignas(Alignment) sized {
  std::array<unsigned char, Bytes> bytes;
};
template <std::size_t Bytes, std::size_t Alignment = 1>
void spawn_sized() {
  task_group g;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 300; ++i) {
    sized<Bytes, Alignment> content;
    content.bytes.fill(static_cast<unsigned char>(i));
    g.spawn([content, i, &wrong] {
      if (i % 50 == 0) std::this_thread::yield();
      const auto at = reinterpret_cast<std::uintptr_t>(&content);
      wrong += at % Alignment != 0 || content.bytes.front() != static_cast<unsigned char>(i) ||
               content.bytes.back() != static_cast<unsigned char>(i);
    });
  }
  g.wait();
  EXPECT_EQ(wrong, 0) << Bytes << " " << Alignment;
}
TEST_P(task_group_with, tasks_of_every_size) {
  rt.run([] {
    for (int k = 0; k < 5; ++k) {
      spawn_sized<1>();
      spawn_sized<40, 8>();
      spawn_sized<64, 16>();
      spawn_sized<64, 64>();
      spawn_sized<200>();
      spawn_sized<1000>();
    }
  });
}

TEST_P(task_group_with, each_task_once) {
  constexpr int n = 2000;  // more than the deque holds at first
  ledger done(n);
  rt.run([&done] {
    task_group g;
    for (std::size_t i = 0; i < n; ++i) g.spawn([&done, i] { done.enter(i); });
    EXPECT_TRUE(g.wait());
  });
  EXPECT_EQ(done.wrong(times()), 0u);
}

TEST_P(task_group_with, nothing_to_do_and_used_again) {
  rt.run([] {
    task_group g;
    EXPECT_TRUE(g.wait());
    std::atomic<int> n{0};
    for (int round = 1; round <= 50; ++round) {
      g.spawn([&n] { ++n; });
      g.spawn([&n] { ++n; });
      EXPECT_TRUE(g.wait());
      EXPECT_EQ(n, 2 * round);
    }
  });
}

struct adding {
  std::atomic<int>* to;
  std::unique_ptr<int> amount;
  void run() { *to += *amount; }
};

TEST_P(task_group_with, task_structs_and_closures_that_only_move) {
  rt.run([] {
    std::atomic<int> n{0};
    {
      task_group g;
      g.spawn(adding{&n, std::make_unique<int>(3)});
      g.spawn([&n, p = std::make_unique<int>(4)] { n += *p; });
      g.spawn([&n, large = std::vector<int>(1000, 5)] { n += large[999]; });
    }  // waits
    EXPECT_EQ(n, 12);
  });
}

TEST_P(task_group_with, a_task_does_not_wait_for_its_own_group) {
  rt.run([] {
    std::atomic<int> refused{0};
    task_group g;
    for (int i = 0; i < 20; ++i)
      g.spawn([&] {
        task_group inner;
        inner.spawn([] {});
        inner.wait();
        try {
          cancel_scope within;
          within.run([&] { g.wait(); });
        } catch (const std::logic_error&) { ++refused; }
      });
    EXPECT_TRUE(g.wait());
    EXPECT_EQ(refused, 20);
  });
}

TEST_P(task_group_with, tasks_spawn_into_their_group) {
  rt.run([] {
    std::atomic<int> n{0};
    task_group g;
    struct grow {
      task_group& g;
      std::atomic<int>& n;
      int depth;
      void run() {
        ++n;
        if (depth == 0) return;
        g.spawn(grow{g, n, depth - 1});
        g.spawn(grow{g, n, depth - 1});
      }
    };
    g.spawn(grow{g, n, 9});
    EXPECT_TRUE(g.wait());
    EXPECT_EQ(n, 1023);
  });
}

int tree(int depth) {
  std::atomic<int> n{1};
  if (depth == 0) return 1;
  task_group g;
  for (int i = 0; i < 2; ++i) g.spawn([&n, depth] { n += tree(depth - 1); });
  g.wait();
  return n;
}

TEST_P(task_group_with, groups_in_tasks_of_groups) {
  EXPECT_EQ(rt.run([] { return tree(9); }), 1023);
}

TEST_P(task_group_with, two_groups_filled_in_turns) {
  rt.run([] {
    std::atomic<int> a{0}, b{0};
    task_group first, second;
    for (int i = 0; i < 3; ++i) {
      second.spawn([&b] { ++b; });
      first.spawn([&a] { ++a; });
      second.spawn([&b] { ++b; });
    }
    first.wait();
    EXPECT_EQ(a, 3);
    second.wait();
    EXPECT_EQ(b, 6);
  });
}

long loop_with_groups(int n) {
  return sum(0, n, [](int i) {
    std::atomic<long> k{0};
    task_group g;
    for (int j = 0; j < 5; ++j) {
      g.spawn([&k, i, j] {
        disturb(static_cast<std::uint64_t>(i * 5 + j));
        k += sum(0, 10, [](int x) {
          disturb(static_cast<std::uint64_t>(x));
          return x;
        });
        auto [x, y] = both(
            [] {
              force_split();
              return 1;
            },
            [] { return 2; });
        k += x + y;
      });
    }
    force_split();
    g.wait();
    return k.load();
  });
}

TEST_P(task_group_with, constructs_in_groups_in_constructs) {
  EXPECT_EQ(rt.run([] { return loop_with_groups(60); }), 60L * 5 * 48);
}

TEST_P(task_group_with, the_exception_of_the_earliest_spawned_and_all_others_run) {
  for (int k = 0; k < 10; ++k) {
    std::atomic<int> n{0};
    try {
      rt.run([&n] {
        task_group g;
        for (int i = 0; i < 50; ++i) {
          g.spawn([&n, i] {
            ++n;
            poll();
            if (i >= 20) throw i;
          });
        }
        g.wait();
      });
      ADD_FAILURE() << "threw nothing";
    } catch (int i) { EXPECT_EQ(i, 20); }
    EXPECT_EQ(n, 50);
  }
}

TEST_P(task_group_with, an_exception_is_thrown_once) {
  rt.run([] {
    task_group g;
    g.spawn([] { throw std::runtime_error("x"); });
    EXPECT_THROW(g.wait(), std::runtime_error);
    EXPECT_TRUE(g.wait());
    g.spawn([] { throw 1; });  // one that was spawned later
    EXPECT_THROW(g.wait(), int);
  });
}

/// Made and left in a destructor, while an exception that is none of its own unwinds the stack.
TEST_P(task_group_with, of_a_destructor_is_not_cancelled) {
  std::atomic<unsigned> n{0};
  struct at_end {
    std::atomic<unsigned>& n;
    ~at_end() {
      task_group g;
      for (int i = 0; i < 10; ++i) g.spawn([this] { ++n; });
    }
  };
  rt.run([&n] {
    try {
      const at_end counts{n};
      throw std::runtime_error("x");
    } catch (const std::runtime_error&) {}
  });
  EXPECT_EQ(n, 10 * times());
}

TEST_P(task_group_with, left_by_an_exception_it_is_cancelled) {
  std::atomic<int> began{0}, ended{0};
  EXPECT_THROW(rt.run([&] {
    task_group g;
    for (int i = 0; i < 16; ++i) {
      g.spawn([&] {
        ++began;
        struct at_end {
          std::atomic<int>& n;
          ~at_end() { ++n; }
        } counts{ended};
        for (;;) poll();
      });
    }
    throw std::runtime_error("x");
  }),
               std::runtime_error);
  EXPECT_EQ(began, ended);
}

TEST_P(task_group_with, cancel_drops_and_stops) {
  rt.run([] {
    task_group g;
    std::atomic<int> n{0};
    for (int i = 0; i < 100; ++i) {
      g.spawn([&] {
        ++n;
        g.cancel();
        for (;;) poll();
      });
    }
    EXPECT_FALSE(g.wait());
    EXPECT_LE(n, 8);  // no more than one for each worker had begun
    poll();
  });
}

TEST_P(task_group_with, waits_for_its_own_tasks_only) {
  // A lock held across wait() is never asked for by what runs meanwhile on this worker.
  rt.run([] {
    task_group outer;
    thread_local int inside = 0;
    for (int i = 0; i < 50; ++i) {
      outer.spawn([] {
        EXPECT_EQ(inside, 0) << "an unrelated task runs in a wait";
        task_group g;
        for (int j = 0; j < 4; ++j)
          g.spawn([] {
            for (int k = 0; k < 200; ++k) poll();
          });
        ++inside;
        g.wait();
        --inside;
      });
    }
    outer.wait();
  });
}

// Whether two tasks run at once: each waits for that a little.
class meeting {
public:
  void pass() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    if (++inside_ >= 2) met_ = true;
    while (!met_ && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    --inside_;
  }
  bool met() const { return met_; }

private:
  std::atomic<int> inside_{0};
  std::atomic<bool> met_{false};
};
void meet_in_a_group(meeting& m) {
  task_group inner;
  for (int i = 0; i < 500; ++i) inner.spawn([&m] { m.pass(); });
  inner.wait();
}

TEST(task_group_further_in, who_joins_takes_its_tasks) {
  runtime rt(options{.workers = 2});
  rt.run([] {
    meeting m;
    std::atomic<bool> given{false};
    both(
        [&] {
          while (!given) poll();
        },
        [&] {
          given = true;
          meet_in_a_group(m);
        });
    EXPECT_TRUE(m.met());
  });
}

TEST(task_group_further_in, who_waits_for_a_group_around_it_takes_its_tasks) {
  runtime rt(options{.workers = 2});
  rt.run([] {
    meeting m;
    std::atomic<bool> taken{false};
    task_group around;
    around.spawn([&] {
      taken = true;
      meet_in_a_group(m);
    });
    while (!taken) std::this_thread::yield();
    around.wait();
    EXPECT_TRUE(m.met());
  });
}

/// Spawns into groups in turn and then never polls, until whoever waits around has done it all.
void leave_to_who_waits(std::atomic<bool>& begun) {
  std::atomic<int> done{0};
  task_group first, second, third;
  begun = true;
  for (int i = 0; i < 4; ++i) first.spawn([&] { ++done; });
  for (int i = 0; i < 4; ++i) second.spawn([&] { ++done; });
  for (int i = 0; i < 4; ++i) {
    third.spawn([&] { ++done; });
    first.spawn([&] { ++done; });
  }
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (done < 16 && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  EXPECT_EQ(done, 16) << "ready tasks stay where somebody waits for them";
  third.wait(), second.wait(), first.wait();
}

TEST(task_group_further_in, who_waits_takes_tasks_of_all_groups_there) {
  runtime rt(options{.workers = 2});
  rt.run([] {
    std::atomic<bool> begun{false};
    task_group around;
    around.spawn([&] { leave_to_who_waits(begun); });
    while (!begun) std::this_thread::yield();
    around.wait();
  });
}

TEST(task_group_further_in, who_joins_takes_tasks_of_all_groups_there) {
  runtime rt(options{.workers = 2});
  rt.run([] {
    std::atomic<bool> begun{false};
    both(
        [&] {
          while (!begun) poll();
        },
        [&] { leave_to_who_waits(begun); });
  });
}

constexpr std::chrono::seconds limit_if_wrong{20};
template <class Holds>
void wait_without_polls(Holds holds) {
  const auto limit = std::chrono::steady_clock::now() + limit_if_wrong;
  while (!holds() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
}

/// Workers that sleep are given what is spawned, each a task, by one that never polls.
TEST(task_group_alone, a_spawn_answers_those_that_ask) {
  for (const int others : {1, 3}) {
    runtime rt(options{.workers = 1 + others});
    rt.run([&] {
      // Longer than they nap: they have asked, and sleep.
      std::this_thread::sleep_for(std::chrono::milliseconds(120));
      std::atomic<int> there{0};
      const auto all = [&] { return there == others; };
      task_group g;
      for (int i = 0; i < others; ++i)
        g.spawn([&] {
          ++there;
          wait_without_polls(all);
        });
      wait_without_polls(all);
      EXPECT_EQ(there, others);
      g.wait();
    });
  }
}

/// Who waits for a group may sleep until its last task has ended.
TEST(task_group_alone, its_last_task_rings_who_waits) {
  runtime rt(options{.workers = 2});
  rt.run([] {
    for (int round = 0; round < 20; ++round) {
      std::atomic<bool> begun{false}, may_end{false};
      task_group g;
      g.spawn([&] {
        begun = true;
        wait_without_polls([&] { return may_end.load(); });
      });
      wait_without_polls([&] { return begun.load(); });
      // The task ends once the owner sleeps: only a ring ends the wait.
      std::thread ends([&may_end, &word = detail::here.word] {
        while ((word.load() & detail::sleeping) == 0) std::this_thread::yield();
        may_end = true;
      });
      EXPECT_TRUE(g.wait());
      ends.join();
    }
  });
}

/// A task that its group has counted before it is made ready.
struct counted_ready final : detail::group_task {
  counted_ready(detail::group_scope& g, std::atomic<bool>& flag) : group_task(g), done(flag) {}
  void execute() noexcept override { done = true; }
  std::atomic<bool>& done;
};

/// What becomes ready by a message, say, is run by a worker that sleeps: its owner does not look.
TEST(task_group_alone, what_is_made_ready_wakes_a_worker) {
  runtime rt(options{.workers = 2});
  rt.run([] {
    std::atomic<detail::local*> other{nullptr};
    {
      task_group g;
      g.spawn([&] { other = &detail::here; });
      wait_without_polls([&] { return other != nullptr; });
      g.wait();
    }
    const auto sleeps = [&] { return (other.load()->word & detail::sleeping) != 0; };
    wait_without_polls(sleeps);
    ASSERT_TRUE(sleeps());
    std::atomic<bool> done{false};
    detail::group_scope g;
    g.pending.begin();
    detail::make_ready(*new counted_ready(g, done));
    wait_without_polls([&] { return done.load(); });
    EXPECT_TRUE(done);
    detail::wait(g);
  });
}

/// Another thread makes a task ready when the only worker sleeps. If that does not run it,
/// `give_up` ends what it waits for.
template <class GiveUp>
std::thread make_ready_when_it_sleeps(detail::group_scope& g, std::atomic<bool>& done,
                                      GiveUp give_up) {
  return std::thread([&g, &done, give_up, &word = detail::here.word, self = detail::here.self] {
    wait_without_polls([&] { return (word & detail::sleeping) != 0; });
    detail::make_ready(*new counted_ready(g, done));
    wait_without_polls([&] { return done.load(); });
    give_up();
    self->box().ring(detail::news);
  });
}

TEST(task_group_alone, who_sleeps_in_a_wait_runs_what_is_made_ready) {
  runtime rt(options{.workers = 1});
  rt.run([] {
    detail::group_scope g;
    std::atomic<bool> done{false};
    g.pending.begin();
    std::thread other = make_ready_when_it_sleeps(g, done, [&] {
      if (!done) g.pending.end();
    });
    detail::wait(g);
    EXPECT_TRUE(done);
    other.join();
  });
}

TEST(task_group_alone, who_sleeps_in_a_join_runs_what_is_made_ready) {
  runtime rt(options{.workers = 1, .cutoff = false});
  rt.run([] {
    asker a(1);
    detail::group_scope g;
    std::atomic<bool> done{false};
    std::thread other;
    both(
        [&] {
          a.ask();
          poll();
          detail::task* const part = a.take();  // it runs nowhere, but for tasks of the group
          ASSERT_NE(part, nullptr);
          g.put_below(part), g.pending.begin();
          other = make_ready_when_it_sleeps(g, done, [part] {
            part->execute();
            part->completed.end();
          });
        },
        [] {});
    EXPECT_TRUE(done);
    other.join();
  });
}

/// Also by one whose answers have taken more than their share: it is a new task, and may be the
/// last for long.
TEST(task_group_alone, a_spawn_answers_however_much_was_answered) {
  struct nothing_to_do {
    void run() {}
  };
  runtime rt(options{.workers = 2});
  rt.run([&] {
    for (int round = 0; round < 20; ++round) {
      int puts = 0;
      cancel_scope enough;
      enough.run([&] {
        each(
            0, 1 << 30,
            [&](int) {
              if (puts >= 6) enough.cancel();
            },
            [&](int, int) {  // counts as much as an answer can
              const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(60);
              while (std::chrono::steady_clock::now() < end) {}
              ++puts;
              return nothing_to_do{};
            },
            [] {});
      });
      // Until the other one sleeps, but not until this one's share is made up for.
      const std::uint64_t sleeps = rt.statistics().sleeps;
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(150);
      while (rt.statistics().sleeps == sleeps && std::chrono::steady_clock::now() < end) {}
      std::atomic<bool> done{false};
      task_group g;
      g.spawn([&] { done = true; });
      wait_without_polls([&] { return done.load(); });
      EXPECT_TRUE(done);
      g.wait();
    }
  });
}

/// Each group's wait passes over others' tasks, however they were filled; none of them twice.
TEST(task_group_alone, groups_are_waited_for_in_linear_time) {
  constexpr int n = 2000;
  runtime rt(options{.workers = 1});
  const auto passed = [] { return detail::here.self->ready.passed; };
  rt.run([&] {
    std::atomic<int> done{0};
    const auto count = [&done] { ++done; };
    {  // one after another
      task_group a, b, c;
      for (task_group* g : {&a, &b, &c})
        for (int i = 0; i < n; ++i) g->spawn(count);
      a.wait(), b.wait(), c.wait();
      EXPECT_EQ(done.exchange(0), 3 * n);
    }
    {  // in turn
      task_group a, b, c;
      for (int i = 0; i < n; ++i) a.spawn(count), b.spawn(count), c.spawn(count);
      b.wait(), c.wait(), a.wait();
      EXPECT_EQ(done.exchange(0), 3 * n);
    }
    {  // while one of them is waited for
      task_group a, b;
      for (int i = 0; i < n; ++i)
        a.spawn([&] {
          b.spawn(count);
          b.spawn(count);
        });
      a.wait(), b.wait();
      EXPECT_EQ(done.exchange(0), 2 * n);
    }
    EXPECT_LE(passed(), (detail::ready_tasks::few + 1) * 9 * n);
  });
}

/// Worker B waits for a task that A runs; A waits for a group whose task lies in B's deque under
/// one of another group. B has to hand it over from there.
TEST(task_group_alone, a_task_under_those_of_another_group) {
  runtime rt(options{.workers = 2});
  rt.run([] {
    std::atomic<bool> a_begun{false}, other_spawned{false}, spawned{false};
    std::atomic<int> done{0};
    task_group other;
    both(
        [&] {
          while (!a_begun) poll();
          other.spawn([&done] { ++done; });
          other_spawned = true;
        },
        [&] {
          a_begun = true;
          while (!other_spawned) {}
          task_group g;
          both(
              [&] {
                while (!spawned) poll();
              },  // B, who waits, takes the second branch back
              [&] {
                g.spawn([&done] { ++done; });
                spawned = true;
              });
          g.wait();
        });
    other.wait();
    EXPECT_EQ(done, 2);
  });
}

TEST(task_group_outside, is_cancelled_by_another_thread) {
  std::atomic<task_group*> made{nullptr};
  std::atomic<bool> runs{false};
  std::thread outside([&] {
    task_group g;
    made = &g;
    g.spawn([&] {
      runs = true;
      for (;;) poll();
    });
    EXPECT_FALSE(g.wait());
  });
  while (!runs) std::this_thread::yield();
  made.load()->cancel();
  EXPECT_THROW(made.load()->wait(), std::logic_error) << "another thread's";
  outside.join();
}

TEST(task_group_outside, runs_at_once) {
  task_group g;
  int n = 0;
  g.spawn([&n] { ++n; });
  EXPECT_EQ(n, 1);
  g.spawn([&n] { throw ++n; });
  EXPECT_THROW(g.wait(), int);
  EXPECT_EQ(n, 2);
}

TEST(task_group_outside, made_outside_of_run_and_filled_inside) {
  runtime rt(options{.workers = 2});
  for (int k = 0; k < 100; ++k) {
    std::atomic<int> n{0};
    task_group g;
    rt.run([&] {
      for (int i = 0; i < 10; ++i) g.spawn([&n] { ++n; });
    });
    g.wait();
    EXPECT_EQ(n, 10);
  }
}

TEST(task_group_outside, outlives_the_runtime_that_has_filled_it) {
  for (int k = 0; k < 100; ++k) {
    std::atomic<int> n{0};
    task_group g;
    {
      runtime rt(options{.workers = 2});
      rt.run([&] {
        for (int i = 0; i < 100; ++i) g.spawn([&n] { ++n; });
      });
    }
    g.wait();
    EXPECT_EQ(n, 100);
  }
}

}  // namespace
}  // namespace cleave::tests
