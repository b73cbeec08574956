// Tasks that are no worker's yet: their order, and that each is taken once.
#include "core/task_queue.hpp"

#include "core/requests.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

namespace cleave::tests {
namespace {

struct counted_task : detail::task {
  void execute() noexcept override {}
  std::atomic<int> taken{0};
};

TEST(task_queue, the_oldest_of_a_scope_or_of_all) {
  detail::task_queue q;
  detail::scope around(nullptr), group(&around), another(nullptr);
  std::array<counted_task, 5> t;
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(q.take(), nullptr);
  const std::array<detail::scope*, 5> of{&another, &group, &group, &another, &group};
  for (std::size_t i = 0; i < t.size(); ++i) {
    t[i].parent = of[i];
    q.push(t[i]);
    EXPECT_EQ(q.pushes(), i + 1);
  }
  EXPECT_FALSE(q.empty());
  EXPECT_EQ(q.take_within(around), &t[1]);
  EXPECT_EQ(q.take(), &t[0]);
  EXPECT_EQ(q.take_within(group), &t[2]);
  EXPECT_EQ(q.take_within(another), &t[3]);
  EXPECT_EQ(q.take_within(another), nullptr);
  EXPECT_EQ(q.take(), &t[4]);
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(q.take_within(around), nullptr);
  EXPECT_EQ(q.pushes(), 5u);
}

TEST(task_queue, does_what_a_sequential_one_does) {
  std::mt19937 random(1);
  detail::task_queue q;
  std::array<detail::scope, 3> groups{detail::scope(nullptr), detail::scope(nullptr),
                                      detail::scope(nullptr)};
  std::vector<counted_task> tasks(3000);
  std::vector<counted_task*> oracle;
  for (std::size_t next = 0; next < tasks.size() || !oracle.empty();) {
    const auto what = random() % 5;
    if (what < 3 && next < tasks.size()) {
      tasks[next].parent = &groups[random() % 3];
      q.push(tasks[next]);
      oracle.push_back(&tasks[next++]);
      continue;
    }
    const detail::scope* const wanted = what == 3 ? &groups[random() % 3] : nullptr;
    const auto at = std::find_if(oracle.begin(), oracle.end(), [&](const counted_task* t) {
      return wanted == nullptr || t->parent == wanted;
    });
    counted_task* const expected = at == oracle.end() ? nullptr : *at;
    if (expected != nullptr) oracle.erase(at);
    ASSERT_EQ(wanted == nullptr ? q.take() : q.take_within(*wanted), expected);
    ASSERT_EQ(q.empty(), oracle.empty());
  }
}

TEST(task_queue, each_is_taken_once) {
  constexpr std::size_t pushers = 2, each = 5'000;
  detail::task_queue q;
  std::vector<counted_task> tasks(pushers * each);
  std::atomic<std::size_t> left{tasks.size()};
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p < pushers; ++p) {
    threads.emplace_back([&, p] {
      for (std::size_t i = 0; i < each; ++i) q.push(tasks[p * each + i]);
    });
    threads.emplace_back([&] {
      while (left.load() != 0)
        if (auto* t = static_cast<counted_task*>(q.take()))
          t->taken.fetch_add(1), left.fetch_sub(1);
    });
  }
  for (auto& t : threads) t.join();
  for (const counted_task& t : tasks) EXPECT_EQ(t.taken.load(), 1);
  EXPECT_TRUE(q.empty());
}

}  // namespace
}  // namespace cleave::tests
