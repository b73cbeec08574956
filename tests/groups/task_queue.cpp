// Tasks that are no worker's yet: their order, and that each is taken once.
#include "groups/task_queue.hpp"

#include "core/requests.hpp"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace cleave::tests {
namespace {

struct counted_task : detail::task {
  void execute() noexcept override {}
  std::atomic<int> taken{0};
};

TEST(task_queue, the_oldest_of_a_group_or_of_all) {
  detail::task_queue q;
  detail::scope group(nullptr), another(nullptr);
  std::array<counted_task, 3> t;
  EXPECT_TRUE(q.empty());
  EXPECT_EQ(q.take(), nullptr);
  for (std::size_t i = 0; i < t.size(); ++i) {
    t[i].parent = i == 0 ? &another : &group;
    q.push(t[i]);
  }
  EXPECT_FALSE(q.empty());
  EXPECT_TRUE(q.holds(&group));
  EXPECT_EQ(q.take(&group), &t[1]);
  EXPECT_EQ(q.take(), &t[0]);
  EXPECT_FALSE(q.holds(&another));
  EXPECT_EQ(q.take(&another), nullptr);
  EXPECT_TRUE(q.holds(nullptr));
  EXPECT_EQ(q.take(&group), &t[2]);
  EXPECT_TRUE(q.empty());
  EXPECT_FALSE(q.holds(nullptr));
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
