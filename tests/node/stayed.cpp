// What is said of tasks that other nodes ask for, and that cannot leave their process.
#include "node/stayed.hpp"

#include "core/pool.hpp"
#include "node/nodes/loopback.hpp"
#include "node/other_nodes.hpp"

#include <cleave/cleave.hpp>
#include <cleave/detail/clock.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <tuple>
#include <vector>

namespace cleave::tests {

using namespace std::chrono_literals;

void take(std::chrono::microseconds some) {
  const auto end = std::chrono::steady_clock::now() + some;
  while (std::chrono::steady_clock::now() < end) poll();
}

long leaves_at(const int* leaf, int n) {
  if (n == 0) return take(1ms), *leaf;
  auto [x, y] = both([=] { return leaves_at(leaf, n - 1); }, call<leaves_at>(leaf, n - 1));
  return x + y;
}
struct secret {
  secret() = default;
  explicit secret(int n) : n_(n) {}
  int n() const { return n_; }

private:
  int n_ = 0;
};
secret hidden(int n) {
  if (n == 0) return take(1ms), secret(1);
  auto [x, y] = both([=] { return hidden(n - 1); }, call<hidden>(n - 1));
  return secret(x.n() + y.n());
}

namespace {

constexpr std::uint64_t millisecond = 1000;

std::vector<stayed_task> stayed_in(job& j) {
  return net::other_nodes::of(*j.root().pool()).stayed();
}
int lines_in(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

/// Runs f on the first of two nodes with a worker each; returns what is said on standard error.
template <class F>
std::string said_of(job& j, F f) {
  testing::internal::CaptureStderr();
  j.root().run(f);
  return testing::internal::GetCapturedStderr();
}

TEST(stayed, names_the_argument_once) {
  job j(2, 1);
  const int leaf = 1;
  const std::string said = said_of(j, [&leaf] { return leaves_at(&leaf, 9); });
  const auto all = stayed_in(j);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].task, "call<cleave::tests::leaves_at>");
  EXPECT_EQ(all[0].why, "argument 1, int const*, cannot be serialized");
  EXPECT_GT(all[0].times, 1u);
  EXPECT_EQ(lines_in(said), 1) << said;
  EXPECT_NE(said.find(all[0].task + ": " + all[0].why), std::string::npos) << said;
  EXPECT_EQ(j.crossed(), 0u);
}

TEST(stayed, names_the_result) {
  job j(2, 1);
  said_of(j, [] { return hidden(8); });
  const auto all = stayed_in(j);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].why, "its result, cleave::tests::secret, cannot be serialized");
}

TEST(stayed, names_closures_and_loops) {
  job j(2, 1);
  said_of(j, [] {
    each(0, 200, [](int) { take(1ms); });
    return 0;
  });
  auto all = stayed_in(j);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].why, "its loop has no put");
  EXPECT_NE(all[0].task.find("{lambda(int)#1}"), std::string::npos) << all[0].task;
  EXPECT_EQ(all[0].task.find("cleave::each"), std::string::npos) << all[0].task;

  said_of(j, [] {
    for (int i = 0; i < 100; ++i) both([] { take(1ms); }, [] { take(1ms); });
    return 0;
  });
  all = stayed_in(j);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].why, "it is a closure, not a task");
}

TEST(stayed, names_tasks_of_groups) {
  struct worth {
    int n = 0;
    auto input() { return std::tie(n); }
    int run() { return take(1ms), n; }
  };
  job j(2, 1);
  const std::string said = said_of(j, [] {
    task_group g;
    for (int i = 0; i < 400; ++i) g.spawn([] { take(1ms); });
    g.wait();
    return 0;
  });
  auto all = stayed_in(j);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].why, "it was spawned in a task_group");
  EXPECT_NE(all[0].task.find("{lambda()#1}"), std::string::npos) << all[0].task;
  EXPECT_EQ(lines_in(said), 1) << said;
  said_of(j, [] {
    task_group g;
    for (int i = 0; i < 400; ++i) g.spawn(worth{i});
    g.wait();
    return 0;
  });
  all = stayed_in(j);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_NE(all[1].task.find("worth"), std::string::npos) << all[1].task;
}

/// For 320 ms nothing but closures can be given, but every 8 ms a task leaves.
TEST(stayed, says_nothing_of_closures_where_tasks_leave) {
  struct slice {
    int from = 0, to = 0;
    auto input() { return std::tie(from, to); }
    void run() {
      each(
          from, to, [](int) { take(200us); },
          [](int f, int t) {
            return slice{f, t};
          });
    }
  };
  job j(2, 1);
  const std::string said = said_of(j, [&j] {
    for (int k = 0; k < 40; ++k) {
      for (const auto before = j.crossed(); j.crossed() == before;) slice{0, 10}.run();
      for (int i = 0; i < 4; ++i) both([] { take(1ms); }, [] { take(1ms); });
    }
    return 0;
  });
  EXPECT_EQ(said, "");
  ASSERT_EQ(stayed_in(j).size(), 1u);
  EXPECT_EQ(stayed_in(j)[0].why, "it is a closure, not a task");
}

TEST(stayed, says_nothing_of_what_travels) {
  struct slice {
    int from = 0, to = 0;
    auto input() { return std::tie(from, to); }
    void run() {
      each(
          from, to, [](int) { take(100us); },
          [](int f, int t) {
            return slice{f, t};
          });
    }
  };
  job j(2, 1);
  EXPECT_EQ(said_of(j, [] { return slice{0, 2000}.run(), 0; }), "");
  EXPECT_TRUE(stayed_in(j).empty());
}

// ---- when the user is told

struct first_task {
  void run() {}
};
struct second_task {
  void run() {}
};

class told : public testing::Test {
protected:
  /// Notes the type at that millisecond; returns whether something was said.
  bool at(std::uint64_t ms, const detail::staying_type& type = one) {
    testing::internal::CaptureStderr();
    noted.note(type, (1'000'000 + ms * millisecond) * detail::ticks_per_microsecond());
    return !testing::internal::GetCapturedStderr().empty();
  }
  static constexpr const detail::staying_type& one = detail::staying<first_task>;
  static constexpr const detail::staying_type& other = detail::staying<second_task>;
  net::stayed_types noted;
};

TEST_F(told, once_after_200_ms) {
  for (std::uint64_t ms = 0; ms < 200; ms += 20) EXPECT_FALSE(at(ms)) << ms;
  EXPECT_TRUE(at(200));
  EXPECT_FALSE(at(220));
  EXPECT_TRUE(at(240, other)) << "another type";
  EXPECT_FALSE(at(260, other));
}

TEST_F(told, after_ten_notes) {
  for (std::uint64_t k = 0; k < 9; ++k) EXPECT_FALSE(at(100 * k)) << k;
  EXPECT_TRUE(at(900));
}

TEST_F(told, not_while_something_leaves) {
  for (std::uint64_t ms = 0; ms < 2000; ms += 10) {
    if (ms % 190 == 0) noted.something_leaves();
    EXPECT_FALSE(at(ms)) << ms;
  }
}

TEST_F(told, not_of_single_moments) {
  for (std::uint64_t ms = 0; ms < 30'000; ms += 1500) EXPECT_FALSE(at(ms)) << ms;
}

TEST_F(told, nothing_after_the_end) {
  noted.end();
  for (std::uint64_t ms = 0; ms < 500; ms += 20) EXPECT_FALSE(at(ms)) << ms;
  EXPECT_TRUE(noted.all().empty());
}

TEST_F(told, counts_once_in_20_ms) {
  at(0), at(0), at(1), at(20), at(39), at(60);
  ASSERT_EQ(noted.all().size(), 1u);
  EXPECT_EQ(noted.all()[0].times, 3u);
}

}  // namespace
}  // namespace cleave::tests
