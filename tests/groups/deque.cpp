// The deque of ready tasks: against a sequential oracle, and with thieves.
#include "groups/deque.hpp"

#include "core/requests.hpp"

#include <deque>
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
        ASSERT_EQ(d.steal(group), expected);
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
        if (detail::task* t = d.steal(wanted)) {
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

/// Owner and thief race for the one task there is.
TEST(deque, the_last_task) {
  detail::deque<detail::native_deque> d;
  detail::scope group(nullptr);
  std::vector<numbered> tasks(50'000);
  ledger had(tasks.size());
  std::atomic<bool> done{false};
  std::thread thief([&] {
    while (!done) {
      if (detail::task* t = d.steal(nullptr)) had.enter(static_cast<numbered*>(t)->number);
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

}  // namespace
}  // namespace cleave::tests
