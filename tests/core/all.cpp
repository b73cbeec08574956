// `all`: both of more than two branches.
#include "core/requests.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace cleave::tests {
namespace {

class all_with : public every_runtime {};
CLEAVE_FOR_EVERY_RUNTIME(all_with);

/// Leaves of a tree whose nodes have two to seven children.
long leaves(int n) {
  if (n < 2) return 1;
  disturb(static_cast<std::uint64_t>(n), 5);
  const auto child = [n](int less) { return [=] { return leaves(n - less); }; };
  const auto total = [](auto... each) { return (each + ...); };
  switch (n % 6) {
    case 0: return std::apply(total, all(child(1), child(2)));
    case 1: return std::apply(total, all(child(1), child(2), child(3)));
    case 2: return std::apply(total, all(child(2), child(3), child(2), child(3)));
    case 3: return std::apply(total, all(child(3), child(3), child(2), child(4), child(2)));
    case 4:
      return std::apply(total, all(child(3), child(4), child(3), child(4), child(5), child(6)));
    default:
      return std::apply(total,
                        all(child(4), child(4), child(4), child(5), child(5), child(5), child(5)));
  }
}
long leaves_by_calls(int n) {
  if (n < 2) return 1;
  const auto in = [n](auto... less) { return (leaves_by_calls(n - less) + ...); };
  switch (n % 6) {
    case 0: return in(1, 2);
    case 1: return in(1, 2, 3);
    case 2: return in(2, 3, 2, 3);
    case 3: return in(3, 3, 2, 4, 2);
    case 4: return in(3, 4, 3, 4, 5, 6);
    default: return in(4, 4, 4, 5, 5, 5, 5);
  }
}

TEST_P(all_with, closures) {
  EXPECT_EQ(rt.run([] { return leaves(24); }), leaves_by_calls(24));
}

struct leaves_task {
  int n;
  auto input() { return std::tie(n); }
  long run() { return leaves_of_tasks(n); }
  static long leaves_of_tasks(int n) {
    if (n < 2) return 1;
    disturb(static_cast<std::uint64_t>(n), 5);
    auto [w, x, y, z] = all([=] { return leaves_of_tasks(n - 1); }, leaves_task{n - 2},
                            [=] { return leaves_of_tasks(n - 3); }, leaves_task{n - 4});
    return w + x + y + z;
  }
};

/// What leaves_of_tasks returns.
long leaves_of_four(int n) {
  if (n < 2) return 1;
  return leaves_of_four(n - 1) + leaves_of_four(n - 2) + leaves_of_four(n - 3) +
         leaves_of_four(n - 4);
}

TEST_P(all_with, closures_and_tasks) {
  EXPECT_EQ(rt.run([] { return leaves_task{14}.run(); }), leaves_of_four(14));
}

TEST_P(all_with, a_task_as_the_first_branch) {
  EXPECT_EQ(rt.run([] {
    auto [w, x, y, z] = all(leaves_task{8}, leaves_task{7}, leaves_task{6}, leaves_task{5});
    return w + x + y + z;
  }),
            leaves_of_four(9));
}

/// run() is what a task does, whatever else it can do.
struct task_and_call {
  long run() { return 1; }
  long operator()() { return 2; }
};

TEST_P(all_with, tasks_that_can_also_be_called) {
  rt.run([] {
    disturb(1, 2);
    EXPECT_EQ(all(task_and_call{}, task_and_call{}, task_and_call{}), std::tuple(1L, 1L, 1L));
  });
}

TEST_P(all_with, results_of_many_types_in_order) {
  for (bool split : {false, true}) {
    rt.run([split] {
      const auto disturbed = [split](auto value) {
        return [=] {
          if (split) force_split();
          return value;
        };
      };
      const auto results = all(disturbed(1), disturbed(std::string("two")), disturbed(3.0),
                               disturbed('4'), disturbed(std::string(500, '5')));
      EXPECT_EQ(results, std::tuple(1, std::string("two"), 3.0, '4', std::string(500, '5')));
    });
  }
}

TEST_P(all_with, branches_that_return_nothing) {
  std::atomic<int> calls{0};
  rt.run([&calls] {
    const auto one = [&calls] {
      force_split();
      ++calls;
    };
    static_assert(std::is_void_v<decltype(all(one, one, one))>);
    all(one, one, one);
    auto [x, none, y] = all([] { return 7; }, one, [] { return 8; });
    static_assert(std::is_same_v<decltype(none), nothing>);
    EXPECT_EQ(x * 10 + y, 78);
  });
  EXPECT_EQ(calls, 4 * static_cast<int>(times()));
}

TEST_P(all_with, branches_that_return_references) {
  static int x = 1;
  rt.run([] {
    const auto ref = []() -> int& {
      force_split();
      return x;
    };
    static_assert(std::is_same_v<decltype(all(ref, ref, ref)), std::tuple<int, int, int>>);
    EXPECT_EQ(all(ref, ref, ref), std::tuple(1, 1, 1));
  });
}

struct moving_task {
  std::unique_ptr<int> p;
  std::unique_ptr<int> run() { return std::move(p); }
};

TEST_P(all_with, branches_and_results_that_only_move) {
  for (bool split : {false, true}) {
    rt.run([split] {
      const auto branch = [split](int n) {
        return [split, p = std::make_unique<int>(n)]() mutable {
          if (split) force_split();
          return std::move(p);
        };
      };
      auto [a, b, c, d, e] = all(branch(1), moving_task{std::make_unique<int>(2)}, branch(3),
                                 moving_task{std::make_unique<int>(4)}, branch(5));
      EXPECT_EQ(std::to_string(*a) + std::to_string(*b) + std::to_string(*c) + std::to_string(*d) +
                    std::to_string(*e),
                "12345");
    });
  }
}

TEST_P(all_with, function_pointers) {
  rt.run([] {
    int (*one)() = [] {
      force_split();
      return 1;
    };
    EXPECT_EQ(all(one, one, one), std::tuple(1, 1, 1));
  });
}

TEST_P(all_with, the_earliest_exception) {
  for (unsigned throwing = 1; throwing < 32; ++throwing) {
    for (bool split : {false, true}) {
      const auto branch = [=](int n) {
        return [=] {
          if (split) force_split();
          if (throwing >> n & 1) throw n;
          return n;
        };
      };
      int thrown = -1;
      try {
        rt.run([=] { return all(branch(0), branch(1), branch(2), branch(3), branch(4)); });
      } catch (int n) { thrown = n; }
      int expected = 0;
      while ((throwing >> expected & 1) == 0) ++expected;
      EXPECT_EQ(thrown, expected) << throwing;
    }
  }
}

/// In which order one worker enters so many branches, the first of which gives work away. Under
/// force_split that is run at once, and divided wherever it can be, so it is entered backwards.
template <std::size_t... N>
std::string order_of(runtime& rt, std::index_sequence<N...>) {
  std::string order;
  rt.run([&order] {
    all([&order] {
      order += std::to_string(N);
      if (N == 0) force_split();
    }...);
  });
  return order;
}

TEST(all_alone, gives_the_larger_half) {
  runtime rt(options{.workers = 1});
  EXPECT_EQ(order_of(rt, std::make_index_sequence<2>()), "01");
  EXPECT_EQ(order_of(rt, std::make_index_sequence<3>()), "021");
  EXPECT_EQ(order_of(rt, std::make_index_sequence<4>()), "0321");
  EXPECT_EQ(order_of(rt, std::make_index_sequence<5>()), "04321");
  EXPECT_EQ(order_of(rt, std::make_index_sequence<7>()), "0654312");
  EXPECT_EQ(order_of(rt, std::make_index_sequence<8>()), "07654123");
}

TEST(all_alone, gives_halves_of_what_is_left) {
  runtime rt(options{.workers = 1});
  std::string order;
  rt.run([&order] {
    const auto enter = [&order](char c) { return [&order, c] { order += c; }; };
    all(
        [&order] {
          force_split();
          order += '|';
          force_split();
          order += '|';
          force_split();
          order += '|';
          force_split();
        },
        enter('1'), enter('2'), enter('3'), enter('4'), enter('5'), enter('6'), enter('7'));
  });
  EXPECT_EQ(order, "7654|32|1|");
}

/// Its copy may throw, and so may its move, after which it would be empty.
struct fragile {
  std::vector<int> content{1, 2, 3};
  bool* armed;
  explicit fragile(bool* a) : armed(a) {}
  fragile(const fragile& other) : content((other.check(), other.content)), armed(other.armed) {}
  fragile(fragile&& other) : content(std::move(other.content)), armed(other.armed) { check(); }
  void check() const {
    if (*armed) throw std::runtime_error("x");
  }
};

/// Branches that could not be given are as they were: they are given later, or run here.
TEST(all_alone, branches_whose_copy_throws) {
  runtime rt(options{.workers = 1});
  for (const bool given_later : {false, true}) {
    rt.run([given_later] {
      bool armed = false;
      const auto size = [&armed] { return [f = fragile(&armed)] { return f.content.size(); }; };
      auto [a, b, c, d] = all(
          [&armed, given_later] {
            armed = true;
            EXPECT_THROW(force_split(), std::runtime_error);
            EXPECT_THROW(force_split(), std::runtime_error);
            armed = false;
            if (given_later) force_split();
            return 1;
          },
          size(), size(), size());
      EXPECT_EQ(a, 1);
      EXPECT_EQ(b + c + d, 9u);
    });
    EXPECT_EQ(rt.statistics().splits, given_later ? 2u : 0u);
  }
}

TEST(all_alone, runs_on_a_thread_that_is_no_worker) {
  EXPECT_EQ(leaves(12), leaves_by_calls(12));
  std::string order;
  const auto enter = [&order](char c) { return [&order, c] { order += c; }; };
  all(enter('0'), enter('1'), enter('2'), enter('3'), enter('4'));
  EXPECT_EQ(order, "01234");
}

}  // namespace
}  // namespace cleave::tests
