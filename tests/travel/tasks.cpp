// Tasks as bytes: input there, result back; and what the list of types tells of a program.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "travel/two_nodes.hpp"

namespace {

using namespace cleave::detail;
using tests::run_away;

struct words {
  int count;
  std::string text;
  auto input() { return std::tie(count, text); }
  std::vector<std::string> run() { return std::vector<std::string>(std::size_t(count), text); }
};
struct silent {
  int n;
  auto input() { return std::tie(n); }
  void run() {}
};
struct stays {
  int n;
  int run() { return n; }
};
struct partly {  // what input() does not name begins anew
  int n;
  int cache = 7;
  auto input() { return std::tie(n); }
  int run() { return n + cache; }
};

int add(int a, const std::string& b, std::vector<int>& c) {
  c.push_back(0);
  return a + std::stoi(b) + static_cast<int>(c.size());
}
long plus_one(long n) noexcept { return n + 1; }
int through(int* p) { return *p; }
template <class T>
T twice(T v) {
  return v + v;
}
std::vector<int> moved(std::vector<int> v) { return v; }

TEST(task, goes_and_its_result_comes_back) {
  EXPECT_EQ(run_away(words{2, "ab"}), (std::vector<std::string>{"ab", "ab"}));
  EXPECT_EQ(run_away(silent{1}), cleave::nothing());
  EXPECT_EQ(run_away(partly{1, 100}), 8);
}

TEST(task, has_a_table_only_if_it_names_its_input) {
  EXPECT_NE(wire_of<words>(), nullptr);
  EXPECT_EQ(wire_of<stays>(), nullptr);
  EXPECT_EQ(find_wire_type(wire_of<words>()->id()), wire_of<words>());
  EXPECT_EQ(find_wire_type(0), nullptr);
  EXPECT_NE(wire_of<words>()->id(), wire_of<silent>()->id());
  EXPECT_NE(wire_of<words>()->name().find("words"), std::string::npos);
}

TEST(task, tables_of_frames_are_in_the_list_by_themselves) {
  cleave::runtime one(cleave::options{.workers = 1});
  one.run([] {
    struct local {
      int n;
      auto input() { return std::tie(n); }
      int run() { return n; }
    };
    auto [x, y] = cleave::both([] { return 1; }, local{2});
    return x + y;
  });
  int mine = 0;
  for (const auto* t = wire_types(); t != nullptr; t = t->next())
    mine += t->name().find("local") != std::string::npos;
  EXPECT_EQ(mine, 1);
}

TEST(task, a_program_has_one_hash) { EXPECT_EQ(program_hash(), program_hash()); }

TEST(task, malformed_input_and_results_change_nothing) {
  task_of<words> t(words{1, "abc"});
  tests::bytes message;
  byte_writer w(message);
  wire_of<words>()->put_input(t, w);
  for (std::size_t n = 0; n <= message.size() + 1; n++) {
    if (n == message.size()) continue;
    tests::bytes other = message;
    other.resize(n);
    byte_reader r(other);
    EXPECT_THROW(wire_of<words>()->make(r), malformed) << n;
  }
  for (const auto& bad : {tests::bytes{}, tests::bytes(1, std::byte{9}), tests::bytes(5),
                          tests::bytes(3, std::byte{1}), tests::bytes(2, std::byte{2})}) {
    byte_reader r(bad);
    EXPECT_THROW(get_outcome(t, *wire_of<words>(), r), malformed);
    EXPECT_FALSE(t.result.has_value());
    EXPECT_EQ(t.error, nullptr);
  }
}

TEST(task, cancelled_is_an_outcome) {
  task_of<words> there(words{}), t(words{});
  there.error = std::make_exception_ptr(cancelled{});
  tests::node home, away;
  tests::returned(there, t, away, home);
  EXPECT_THROW(std::rethrow_exception(t.error), cancelled);
}

TEST(call, copies_arguments_as_the_function_takes_them) {
  std::vector<int> c{1, 2};
  auto task = cleave::call<add>(short{1}, "20", c);
  EXPECT_EQ(run_away(task), 24);
  EXPECT_EQ(task.run(), 24);
  EXPECT_EQ(c.size(), 2u);
  EXPECT_EQ(run_away(cleave::call<plus_one>(1)), 2);
  EXPECT_EQ(run_away(cleave::call<twice<double>>(1.5f)), 3.0);
  EXPECT_EQ(run_away(cleave::call<moved>(c)), c);
}

TEST(call, stays_where_an_argument_cannot_travel) {
  int n = 5;
  auto task = cleave::call<through>(&n);
  EXPECT_EQ(wire_of<decltype(task)>(), nullptr);
  EXPECT_EQ(task.run(), 5);
  EXPECT_NE(wire_of<decltype(cleave::call<plus_one>(1))>(), nullptr);
}

std::uint64_t count(int from, int to) {
  return cleave::sum(
      from, to, [](int) -> std::uint64_t { return 1; },
      [](int i, int j) { return cleave::call<count>(i, j); });
}
void note(int* to, int value) { *to = value; }

TEST(call, that_must_travel_is_the_same_task) {
  auto made = cleave::must_travel(cleave::call<plus_one>(4));
  static_assert(std::is_same_v<decltype(made), decltype(cleave::call<plus_one>(4))>);
  EXPECT_EQ(cleave::must_travel(made).run(), 5) << "a copy";
  EXPECT_EQ(made.run(), 5);
}

TEST(call, works_wherever_a_task_works) {
  cleave::runtime two(cleave::options{.workers = 2, .check = true});
  EXPECT_EQ(two.run([] { return count(0, 100); }), 100u);
  const auto [x, y] =
      two.run([] { return cleave::both([] { return 1; }, cleave::call<plus_one>(1)); });
  EXPECT_EQ(x + y, 3);
  int noted[2] = {0, 0};
  two.run([&noted] {
    cleave::task_group g;
    g.spawn(cleave::call<note>(&noted[0], 1));
    g.spawn(cleave::call<note>(&noted[1], 2));
    g.wait();
  });
  EXPECT_EQ(noted[0] + noted[1], 3);
}

}  // namespace
