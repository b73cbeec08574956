// What a team's graph refuses, and what one node could not do: all nodes are told.
#include "node/team_of.hpp"
#include "temporary_folder.hpp"

#include <atomic>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cleave::tests {
namespace {

INSTANTIATE_TEST_SUITE_P(, team_of,
                         testing::Values(shape{1, 2, 0us}, shape{2, 1, 0us}, shape{3, 1, 200us},
                                         shape{5, 2, 0us}),
                         shape_name);

struct uses_it_elsewhere {
  int nothing = 0;
  auto input() { return std::tie(nothing); }
  void run(team& all) const {
    team_graph g(all);
    auto d = g.make(1);
    g.run(
        [&](int&) {
          EXPECT_THROW(g.bring(d), std::logic_error);
          EXPECT_THROW(g.bring(d, 0), std::logic_error);
          EXPECT_THROW(g.set_home(d, 0), std::logic_error);
        },
        inout(d), on(0));
    EXPECT_TRUE(g.wait());
  }
};

TEST_P(team_of, a_subtask_brings_nothing) { j.root().run_on_all(uses_it_elsewhere{}); }

struct cannot_be_written {
  int n = 0;
  static constexpr bool travels = true;
  void put(detail::byte_writer& w) const {
    if (n == 3) throw std::domain_error("cannot be written");
    w.put(n);
  }
  void get(detail::byte_reader& r) {
    n = r.get<int>();
    if (n == 5) throw std::domain_error("cannot be read");
  }
};
struct moves_what_cannot_travel {
  int limit = 0;
  auto input() { return std::tie(limit); }
  int run(team& all) const {
    team_graph g(all);
    auto x = g.make<cannot_be_written>();
    for (int i = 0; i < 10; ++i)
      g.run([this](cannot_be_written& v) { v.n += v.n + 1 >= limit ? 0
                                                  : limit == 6     ? 5
                                                                   : 1; },
            inout(x), on(static_cast<unsigned>(i) % all.size()));
    g.bring(x);
    g.wait();
    return x->n;
  }
};

TEST_P(team_of, a_value_that_cannot_be_written_or_read) {
  EXPECT_EQ(j.root().run_on_all(moves_what_cannot_travel{3}), 2);
  if (size == 1) return;
  EXPECT_THROW(j.root().run_on_all(moves_what_cannot_travel{5}), std::domain_error);
  EXPECT_THROW(j.root().run_on_all(moves_what_cannot_travel{6}), std::domain_error);
}

/// It is not on the other node then, and goes there when it is asked for again.
struct written_at_the_second_try {
  int n = 0;
  static constexpr bool travels = true;
  static inline std::atomic<bool> failed{false};
  void put(detail::byte_writer& w) const {
    if (n == 3 && !failed.exchange(true)) throw std::domain_error("cannot be written yet");
    w.put(n);
  }
  void get(detail::byte_reader& r) { n = r.get<int>(); }
};
struct tries_again {
  int unused = 0;
  auto input() { return std::tie(unused); }
  void run(team& all) const {
    team_graph g(all);
    auto x = g.make<written_at_the_second_try>();
    g.run([](written_at_the_second_try& v) { v.n = 3; }, out(x), on(0));
    g.run([](const written_at_the_second_try&) {}, in(x), on(1));
    EXPECT_THROW(g.wait(), std::domain_error);
    g.bring(x);
    EXPECT_TRUE(g.wait());
    noted.add(all.rank(), std::to_string(x->n));
  }
};

TEST_P(team_of, a_value_that_could_not_be_sent_is_sent_again) {
  if (size == 1) return;
  written_at_the_second_try::failed = false;
  j.root().run_on_all(tries_again{});
  for (const auto& [rank, lines] : noted.all())
    EXPECT_EQ(lines, std::vector<std::string>{"3"}) << rank;
}

enum class differ_by { nothing, one_more, other_datum, other_node, other_subtask };
struct differs {
  int how = 0, waits = 0;
  auto input() { return std::tie(how, waits); }
  void run(team& all) const {
    const auto by = static_cast<differ_by>(how);
    const bool other = all.rank() == all.size() - 1;
    team_graph g(all);
    auto x = g.make(1), y = g.make(2), z = g.make(0);
    const auto add = [](const int& from, int& to) { to += from; };
    for (int i = 0; i < waits; ++i) {
      g.run(add, in(x), inout(z), on(i % all.size()));
      g.wait();
    }
    if (by == differ_by::one_more && other) g.run(add, in(y), inout(x));
    const auto s = g.run([] {}, on(1 % all.size())), t = g.run([] {}, on(0));
    g.run([] {}, after(by == differ_by::other_subtask && other ? s : t), on(0));
    g.run(add, in(by == differ_by::other_datum && other ? x : y), inout(z));
    g.run(add, in(z), inout(x), on(by == differ_by::other_node && other ? 1 : 0));
    g.bring(x);
    try {
      noted.add(all.rank(), g.wait() ? "whole" : "cancelled");
    } catch (const std::logic_error& e) { noted.add(all.rank(), e.what()); }
  }
};

TEST_P(team_of, nodes_that_make_different_graphs_are_told) {
  for (int how = 0; how < 5; ++how)
    for (const int waits : {0, 3}) {
      noted.clear();
      j.root().run_on_all(differs{how, waits});
      const auto all = noted.all();
      ASSERT_EQ(all.size(), size);
      for (const auto& [rank, lines] : all)
        EXPECT_EQ(
            lines,
            std::vector<std::string>{
                how == 0 || size == 1 ? "whole"
                                      : "cleave::team_graph: the nodes have made different graphs, "
                                        "or not all call wait()"})
            << how << ' ' << waits << ' ' << rank;
    }
}

/// All numbers of what is made are 0.
struct differs_by_nothing_but_one_more {
  int nothing = 0;
  auto input() { return std::tie(nothing); }
  void run(team& all) const {
    team_graph g(all);
    auto x = g.make(1);
    if (all.rank() == all.size() - 1) g.run([] {}, on(0));
    g.run([](int& n) { ++n; }, inout(x));
    try {
      noted.add(all.rank(), g.wait() ? "whole" : "cancelled");
    } catch (const std::logic_error&) { noted.add(all.rank(), "told"); }
  }
};

TEST_P(team_of, one_more_subtask_without_data_makes_another_graph) {
  noted.clear();
  j.root().run_on_all(differs_by_nothing_but_one_more{});
  for (const auto& [rank, lines] : noted.all())
    EXPECT_EQ(lines, std::vector<std::string>{size == 1 ? "whole" : "told"}) << rank;
}

struct notes_what_a_plan_throws {
  std::string plan;
  auto input() { return std::tie(plan); }
  void run(team& all) const {
    try {
      team_graph g(all, plan);
    } catch (const plan_error& e) { noted.add(all.rank(), e.what()); }
  }
};

TEST_P(team_of, a_plan_that_cannot_be_used_is_known_to_all) {
  const temporary_folder folder;
  const auto no_plan = (folder.path / "no.plan").string();
  std::ofstream(no_plan) << "no plan";
  for (const auto& file : {no_plan, (folder.path / "none" / "no.plan").string()}) {
    noted.clear();
    j.root().run_on_all(notes_what_a_plan_throws{file});
    const auto all = noted.all();
    // Alone, what is there is not followed, but still read.
    ASSERT_EQ(all.size(), size);
    for (const auto& [rank, lines] : all) {
      ASSERT_EQ(lines.size(), 1u);
      EXPECT_NE(lines[0].find("no.plan: "), std::string::npos) << lines[0];
      EXPECT_EQ(lines, all.at(0));
    }
  }
}

/// Not all have a plan; afterwards the team is as it was.
struct some_have_a_plan {
  std::string file;
  bool first = false;  // who has one
  auto input() { return std::tie(file, first); }
  void run(team& all) const {
    try {
      team_graph g(all, (all.rank() == 0) == first ? file : "");
      g.wait();
      noted.add(all.rank(), "whole");
    } catch (const std::logic_error&) { noted.add(all.rank(), "different"); }
  }
};

TEST_P(team_of, a_plan_that_not_all_have) {
  if (size == 1) return;
  const temporary_folder folder;
  for (const bool first : {true, false}) {
    noted.clear();
    const auto file = (folder.path / "plan").string();
    j.root().run_on_all(some_have_a_plan{file, first});
    for (const auto& [rank, lines] : noted.all())
      EXPECT_EQ(lines, std::vector<std::string>{"different"}) << rank << first;
  }
}

TEST(team, alone_it_may_have_a_plan) {
  const temporary_folder folder;
  runtime alone(options{.workers = 1});
  const auto file = (folder.path / "plan").string();
  for (int i = 0; i < 2; ++i) {
    noted.clear();
    alone.run_on_all(some_have_a_plan{file, true});
    EXPECT_EQ(noted.all().begin()->second, std::vector<std::string>{"whole"});
  }
}

// A program that does not catch it ends by this line, and not by a signal.
TEST(team, a_plan_that_cannot_be_used_ends_a_program_by_a_line) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const temporary_folder folder;
  const auto file = (folder.path / "cut.plan").string();
  std::ofstream(file) << "cleave plan 1\nand";
  const auto run = [](const std::string& plan) {
    std::thread([&] {
      runtime alone(options{.workers = 1});
      alone.run_on_all(some_have_a_plan{plan, true});
    }).join();
  };
  EXPECT_EXIT(run(file), testing::ExitedWithCode(2),
              "^cleave::team_graph: .*cut.plan: at byte 14 of 17: .*expected .*\n$");
  EXPECT_EXIT(run(folder.path.string()), testing::ExitedWithCode(2),
              "^cleave::team_graph: .*: cannot be written: Is a directory\n$");
}

struct makes_by_its_base {
  int n = 0;
  auto input() { return std::tie(n); }
  void run(team& all) const {
    team_graph g(all);
    graph& base = g;
    int m = n;
    if (all.size() == 1) return void(base.make(n));
    EXPECT_THROW(base.make(n), std::logic_error);
    EXPECT_THROW(base.refer(m), std::logic_error);
  }
};

TEST_P(team_of, what_a_base_makes_could_not_travel) { j.root().run_on_all(makes_by_its_base{1}); }

/// Of a subtask that one node could not make all are told.
struct cannot_be_moved {
  cannot_be_moved() = default;
  cannot_be_moved(const cannot_be_moved&) = default;
  cannot_be_moved(cannot_be_moved&&) { throw std::range_error("moved"); }
  void operator()(int& v) const { v = 5; }
};
struct makes_one_in_vain {
  int n = 0;
  auto input() { return std::tie(n); }
  void run(team& all) const {
    team_graph g(all);
    auto x = g.make(1);
    const cannot_be_moved f;
    if (all.rank() == 0) EXPECT_THROW(g.run("f", f, inout(x), on(0)), std::range_error);
    else g.run("f", f, inout(x), on(0));
    g.run([](int& v) { v = 7; }, inout(x), on(all.size() - 1));
    EXPECT_THROW(g.wait(), std::range_error);
    g.bring(x);
    EXPECT_TRUE(g.wait());
    EXPECT_EQ(*x, 1);
  }
};

TEST_P(team_of, a_subtask_that_cannot_be_made) {
  for (int round = 0; size > 2 && round < 20; ++round) j.root().run_on_all(makes_one_in_vain{});
}

}  // namespace
}  // namespace cleave::tests
