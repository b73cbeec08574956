// The deque of ready tasks, and with groups: against a sequential oracle, and with thieves.
#include "core/deque.hpp"

#include "core/ready_tasks.hpp"
#include "core/requests.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <thread>

namespace cleave::tests {
namespace {

struct numbered : detail::task {
  void execute() noexcept override {}
  std::size_t number = 0;
};

TEST(deque, does_what_a_sequential_one_does) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    detail::deque<detail::native_deque> d;
    detail::scope groups[2] = {detail::scope(nullptr), detail::scope(nullptr)};
    std::vector<numbered> tasks(3000);  // grows twice and more
    std::deque<numbered*> oracle;
    std::size_t next = 0;
    const unsigned pushes = 3 + static_cast<unsigned>(round) % 5;
    while (next < tasks.size()) {
      const unsigned what = random() % 8;
      if (what < pushes) {
        tasks[next].parent = &groups[random() % 2];
        d.reserve();
        d.push(tasks[next]);
        oracle.push_back(&tasks[next++]);
      } else if (what == 7) {
        numbered* expected = oracle.empty() ? nullptr : oracle.back();
        if (expected != nullptr) oracle.pop_back();
        ASSERT_EQ(d.take(), expected);
      } else {
        const detail::scope* group =
            std::array<const detail::scope*, 3>{nullptr, &groups[0], &groups[1]}[random() % 3];
        numbered* expected = oracle.empty() ? nullptr : oracle.front();
        if (expected != nullptr && group != nullptr && expected->parent != group)
          expected = nullptr;
        if (expected != nullptr) oracle.pop_front();
        ASSERT_EQ(group == nullptr ? d.steal() : d.steal_within(*group), expected);
      }
      ASSERT_EQ(d.empty(), oracle.empty());
    }
  }
}

/// The owner pushes and takes, thieves steal, some of them by group: each task is had once.
void with_thieves(int thieves, std::size_t count, unsigned takes_of_8, bool by_group) {
  detail::deque<detail::native_deque> d;
  detail::scope groups[2] = {detail::scope(nullptr), detail::scope(nullptr)};
  std::vector<numbered> tasks(count);
  for (std::size_t i = 0; i < count; ++i) tasks[i].number = i, tasks[i].parent = &groups[i % 2];
  ledger had(count);
  std::atomic<bool> done{false};
  std::atomic<std::size_t> wrong_group{0};
  const auto account = [&](detail::task* t) { had.enter(static_cast<numbered*>(t)->number); };

  std::vector<std::thread> threads;
  for (int k = 0; k < thieves; ++k) {
    threads.emplace_back([&, k] {
      const detail::scope* wanted = by_group ? &groups[k % 2] : nullptr;
      for (;;) {
        const bool last_round = done;
        if (detail::task* t = wanted == nullptr ? d.steal() : d.steal_within(*wanted)) {
          wrong_group += wanted != nullptr && t->parent != wanted;
          account(t);
        } else if (last_round) {
          return;
        }
      }
    });
  }
  std::mt19937 random(static_cast<unsigned>(thieves) + takes_of_8);
  for (std::size_t i = 0; i < count;) {
    if (random() % 8 < takes_of_8) {
      if (detail::task* t = d.take()) account(t);
    } else {
      d.reserve();
      d.push(tasks[i++]);
    }
  }
  while (detail::task* t = d.take()) account(t);
  done = true;
  for (auto& t : threads) t.join();
  EXPECT_EQ(had.wrong(), 0u);
  EXPECT_EQ(wrong_group, 0u);
  EXPECT_TRUE(d.empty());
}

TEST(deque, each_task_is_had_once_by_owner_or_thieves) {
  for (int thieves : {1, 2, 3, 7}) {
    for (unsigned takes : {0u, 2u, 4u, 6u}) with_thieves(thieves, 30'000, takes, false);
  }
}

TEST(deque, thieves_by_group_get_their_own_only) {
  for (int thieves : {2, 4}) with_thieves(thieves, 30'000, 3, true);
}

/// Owner and thief race for the one task there is; the thief of a group looks at it first.
void race_for_the_last(bool by_group) {
  detail::deque<detail::native_deque> d;
  detail::scope group(nullptr);
  std::vector<numbered> tasks(50'000);
  ledger had(tasks.size());
  std::atomic<bool> done{false};
  std::thread thief([&] {
    while (!done) {
      if (detail::task* t = by_group ? d.steal_within(group) : d.steal())
        had.enter(static_cast<numbered*>(t)->number);
    }
  });
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].number = i, tasks[i].parent = &group;
    d.reserve();
    d.push(tasks[i]);
    if (detail::task* t = d.take()) had.enter(static_cast<numbered*>(t)->number);
  }
  done = true;
  thief.join();
  EXPECT_EQ(had.wrong(), 0u);
}
TEST(deque, the_last_task) { race_for_the_last(false); }
TEST(deque, the_last_task_is_looked_at) { race_for_the_last(true); }

/// What is not below the wanted scope stays, for the owner and for others.
TEST(deque, what_is_within_a_scope_is_taken_and_nothing_else) {
  detail::scope wanted(nullptr), inside(&wanted), further(&inside), beside(nullptr);
  detail::deque<detail::native_deque> d;
  std::array<numbered, 4> tasks;
  const std::array<detail::scope*, 4> of{&wanted, &further, &beside, &inside};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].parent = of[i];
    d.reserve();
    d.push(tasks[i]);
  }
  EXPECT_EQ(d.steal_within(beside), nullptr);
  EXPECT_EQ(d.steal_within(wanted), &tasks[0]);
  EXPECT_EQ(d.steal_within(wanted), &tasks[1]);
  EXPECT_EQ(d.steal_within(wanted), nullptr) << "one of another scope lies before it";
  EXPECT_EQ(d.size(), 2);
  EXPECT_EQ(d.steal(), &tasks[2]);
  EXPECT_EQ(d.steal_within(inside), &tasks[3]);
  EXPECT_TRUE(d.empty());
}

// ---- with groups

struct of_group : detail::group_task {
  explicit of_group(detail::group_scope& g) : group_task(g) {}
  void execute() noexcept override {}
};

/// Against a sequential oracle: three groups, two of them inside one scope.
TEST(ready_tasks, tell_what_they_hold) {
  std::mt19937 random(1);
  for (int round = 0; round < 30; ++round) {
    detail::ready_tasks ready;
    detail::scope around(nullptr);
    std::array<detail::group_scope, 3> groups;
    for (std::size_t g = 0; g < 2; ++g) groups[g].put_below(&around);
    std::vector<std::unique_ptr<of_group>> tasks;
    std::deque<detail::task*> oracle;
    const auto of = [&](const detail::scope& g) {
      return std::count_if(oracle.begin(), oracle.end(),
                           [&](const detail::task* t) { return t->parent == &g; });
    };
    for (int k = 0; k < 500; ++k) {
      detail::group_scope& group = groups[random() % 3];
      switch (random() % (round % 2 == 0 ? 8 : 5)) {
        case 0: {
          detail::task* const oldest = oracle.empty() ? nullptr : oracle.front();
          if (oldest != nullptr) oracle.pop_front();
          ASSERT_EQ(ready.steal(), oldest);
          break;
        }
        case 1: {
          const auto newest =
              std::find_if(oracle.rbegin(), oracle.rend(),
                           [&](const detail::task* t) { return t->parent == &group; });
          detail::task* const expected = newest == oracle.rend() ? nullptr : *newest;
          const auto above = newest - oracle.rbegin();
          const auto taken = ready.take(group);
          ASSERT_EQ(taken.found, expected);
          if (expected != nullptr) oracle.erase(std::next(newest).base());
          const bool many = above > static_cast<std::ptrdiff_t>(detail::ready_tasks::few);
          ASSERT_EQ(taken.left != nullptr, expected != nullptr && many);
          std::ptrdiff_t left = 0;  // what it leaves, the oldest first
          for (detail::task* t = taken.left; t != nullptr; t = t->before, ++left)
            ASSERT_EQ(t, oracle[oracle.size() - static_cast<std::size_t>(above - left)]);
          if (left != 0) oracle.resize(oracle.size() - static_cast<std::size_t>(left));
          break;
        }
        case 2: ASSERT_EQ(ready.holds(&group), of(group) != 0); break;
        case 3: {
          const auto* const found = ready.filled_within(&around, around.depth);
          ASSERT_EQ(found != nullptr, of(groups[0]) + of(groups[1]) != 0);
          ASSERT_TRUE(found == nullptr || of(*found) != 0);
          if (of(group) == 0) ready.emptied(group);
          break;
        }
        default:
          tasks.push_back(std::make_unique<of_group>(group));
          ready.reserve();
          ready.push(*tasks.back());
          oracle.push_back(tasks.back().get());
      }
      ASSERT_EQ(ready.empty(), oracle.empty());
    }
  }
}

/// However groups are filled and emptied, no task is passed again and again.
TEST(ready_tasks, pass_each_task_a_few_times) {
  constexpr std::size_t n = 6000;
  std::mt19937 random(1);
  for (const std::size_t groups : {2u, 3u, 60u}) {
    for (const std::size_t turn : {std::size_t{1}, std::size_t{7}, n / groups}) {
      detail::ready_tasks ready;
      std::vector<detail::group_scope> made(groups);
      std::vector<std::size_t> left(groups);
      std::vector<std::unique_ptr<of_group>> tasks;
      const auto number = [&](const detail::task& t) {
        return static_cast<std::size_t>(static_cast<detail::group_scope*>(t.parent) - made.data());
      };
      for (std::size_t i = 0; i < n; ++i) {
        tasks.push_back(std::make_unique<of_group>(made[i / turn % groups]));
        ready.reserve();
        ready.push(*tasks.back());
      }
      std::size_t had = 0, takes = 0;
      for (std::size_t g = 0; g < groups; ++g) {
        for (detail::ready_tasks::taken t; (t = ready.take(made[g])).found != nullptr; ++takes) {
          ++had;
          for (; t.left != nullptr; t.left = t.left->before) ++left[number(*t.left)];
        }
        had += left[g], ++takes;
        ready.emptied(made[g]);
      }
      EXPECT_EQ(had, n);
      EXPECT_TRUE(ready.empty());
      EXPECT_LE(ready.passed, detail::ready_tasks::few * takes + n);
    }
  }
}

/// Whoever waits for a group whose tasks thieves have looks at what lies above them once.
TEST(ready_tasks, pass_nothing_again_where_nothing_is) {
  detail::ready_tasks ready;
  detail::group_scope stolen, another;
  std::vector<std::unique_ptr<of_group>> tasks;
  for (int i = 0; i < 100; ++i) {
    tasks.push_back(std::make_unique<of_group>(i == 0 ? stolen : another));
    ready.reserve();
    ready.push(*tasks.back());
  }
  EXPECT_EQ(ready.steal(), tasks[0].get());
  for (int k = 0; k < 10; ++k) EXPECT_EQ(ready.take(stolen).found, nullptr);
  EXPECT_EQ(ready.passed, 99u);
  EXPECT_EQ(ready.take(another).found, tasks[99].get());
  ready.reserve();
  ready.push(*tasks[0]);
  EXPECT_EQ(ready.take(stolen).found, tasks[0].get());
  ready.emptied(stolen), ready.emptied(another);
}

}  // namespace
}  // namespace cleave::tests
