// Graphs of a team of nodes: where things are, in which order, and what is thrown. Quick ones of
// what team.cpp has many of.
#include "graph/count_edges.hpp"
#include "graph/recorded_graph.hpp"
#include "node/random_uses.hpp"
#include "node/team_of.hpp"
#include "temporary_folder.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cleave::tests {
namespace {

using detail::access_mode;
using value = std::uint64_t;

INSTANTIATE_TEST_SUITE_P(, team_of,
                         testing::Values(shape{1, 2, 0us}, shape{2, 1, 0us}, shape{3, 1, 200us},
                                         shape{5, 2, 0us}),
                         shape_name);

// ---- a random program, and what it computes if each run() is a call

struct random_lists : random_uses {
  auto input() { return std::tie(seed); }

  template <class Reads, class Changes>
  static void step(int i, const Reads& read, const Changes& change, value& written, value& added) {
    value sum = static_cast<value>(i);
    for (const value& v : read) sum = mix(sum + v);
    for (value& v : change) sum += v, v = mix(sum);
    written = mix(sum + 1), added += mix(sum + 2);
  }
  std::vector<value> by_calls() const {
    std::vector<value> v(data);
    for (int i = 0; i < subtasks; ++i) {
      const auto at = order(i);
      std::vector<value> read;
      std::vector<value*> change;
      std::size_t k = 0;
      while (read.size() < reads(i)) read.push_back(v[at[k++]]);
      while (change.size() < changes(i)) change.push_back(&v[at[k++]]);
      step(i, read, values<value>(change), v[at[k]], v[at[k + 1]]);
    }
    return v;
  }
  std::vector<value> run(team& all) const {
    team_graph g(all);
    if (seed % 2 == 1) g.earliest_first();
    std::vector<datum<value>> v;
    for (std::size_t k = 0; k < data; ++k) v.push_back(g.make<value>(0));
    g.set_home(v[0], all.size() - 1);
    std::array<subtask, 4> before;
    for (int i = 0; i < subtasks; ++i) {
      const auto at = order(i);
      std::vector<datum<value>> read, change;
      std::size_t k = 0;
      while (read.size() < reads(i)) read.push_back(v[at[k++]]);
      while (change.size() < changes(i)) change.push_back(v[at[k++]]);
      const auto f = [i](values<const value> r, values<value> c, value& w, value& a) {
        disturb(static_cast<std::uint64_t>(i)), step(i, r, c, w, a);
      };
      auto& last = before[draw(i, 18) % before.size()];
      const unsigned where = static_cast<unsigned>(draw(i, 19)) % all.size();
      last = i % 3 == 0 ? g.run(f, in(read), inout(change), out(v[at[k]]), add(v[at[k + 1]]))
                        : g.run(f, in(read), inout(change), out(v[at[k]]), add(v[at[k + 1]]),
                                after(last), on(where));
      if (i == subtasks / 2) { EXPECT_TRUE(g.wait()); }
    }
    for (const auto& d : v) g.bring(d);
    EXPECT_TRUE(g.wait());
    std::vector<value> result;
    for (const auto& d : v) result.push_back(*d);
    if (result != by_calls()) noted.add(all.rank(), "wrong");
    return result;
  }
};

TEST_P(team_of, random_lists_of_data) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const random_lists p{{seed}};
    EXPECT_EQ(j.root().run_on_all(p), p.by_calls()) << "seed " << seed;
    EXPECT_TRUE(noted.all().empty()) << "on another node, seed " << seed;
  }
}

// ---- where things are

struct looks_where_it_is {
  int unused = 0;
  auto input() { return std::tie(unused); }
  int run(team& all) const {
    team_graph g(all);
    std::vector<int> own(all.size());  // of this node: what its subtasks write
    const unsigned last = all.size() - 1;
    auto x = g.make(0);
    g.set_home(x, last);
    const auto note = [&](const char* what) { noted.add(all.rank(), what); };
    g.run([=](int& v) { note("writes at home"), v = 5; }, inout(x));
    g.run([=](const int&) { note("reads on 0"); }, in(x), on(0));
    g.wait();
    try {
      if (*x != 5) note("wrong");
    } catch (const std::logic_error&) { note("is not here"); }
    g.bring(x);
    g.wait();
    if (*x != 5) note("wrong");
    for (const unsigned rank : {all.size(), ~0u}) {
      EXPECT_EQ(all.size() == 1, !throws([&] { g.bring(x, rank); }));
      EXPECT_EQ(all.size() == 1, !throws([&] { g.set_home(x, rank); }));
      EXPECT_EQ(all.size() == 1, !throws([&] { g.run([](int&) {}, inout(x), on(rank)); }));
    }
    return *x;
  }
  template <class F>
  static bool throws(F f) {
    try {
      f();
    } catch (const std::out_of_range&) { return true; }
    return false;
  }
};

TEST_P(team_of, where_subtasks_run_and_values_are) {
  EXPECT_EQ(j.root().run_on_all(looks_where_it_is{}), 5);
  auto all = noted.all();
  std::map<unsigned, std::vector<std::string>> expected;
  expected[size - 1].push_back("writes at home");
  expected[0].push_back("reads on 0");
  for (unsigned rank = 1; rank + 1 < size; ++rank) expected[rank].push_back("is not here");
  EXPECT_EQ(all, expected);
}

/// A value that all others read goes on from those that have it.
struct one_for_all {
  static constexpr std::size_t length = 50'000;
  int readers = 0;
  auto input() { return std::tie(readers); }
  void run(team& all) const {
    team_graph g(all);
    auto x = g.make(std::vector<int>(length, 0));
    g.run([](std::vector<int>& v) { v.assign(length, 7); }, out(x), on(0));
    for (unsigned rank = 0; rank < all.size(); ++rank)
      for (int k = 0; k < readers; ++k)
        g.run(
            [rank](const std::vector<int>& v) {
              if (v.back() == 7) noted.add(rank, "seven");
            },
            in(x), on(rank));
    g.wait();
  }
};

TEST(team, a_value_is_sent_once_to_each_node_by_a_tree) {
  constexpr unsigned size = 16;
  noted.clear();
  job j(size, 1);
  j.root().run_on_all(one_for_all{3});
  const auto all = noted.all();
  ASSERT_EQ(all.size(), size);
  for (const auto& [rank, lines] : all) EXPECT_EQ(lines.size(), 3u);
  for (unsigned rank = 0; rank < size; ++rank) {
    constexpr std::uint64_t one_value = one_for_all::length * sizeof(int);
    const auto sent = j.nodes[rank]->carried().sent_bytes / one_value;
    EXPECT_LE(sent, 4u) << "by node " << rank;
  }
}

std::atomic<int> at_once{0};

/// Each comes after one on another node by nothing but after().
struct comes_after {
  int length = 0;
  auto input() { return std::tie(length); }
  void run(team& all) const {
    team_graph g(all);
    subtask before;
    for (int i = 0; i < length; ++i)
      before = g.run(
          [i, rank = all.rank()] {
            disturb(static_cast<std::uint64_t>(i));
            if (at_once++ != i) noted.add(rank, "too early");
          },
          after(before), on(static_cast<unsigned>(i) % all.size()));
    g.wait();
  }
};

TEST_P(team_of, after_another_node) {
  for (int round = 0; round < 5; ++round) {
    at_once = 0;
    j.root().run_on_all(comes_after{50});
    EXPECT_EQ(at_once, 50);
    EXPECT_TRUE(noted.all().empty());
  }
}

/// What is written anew does not travel before.
struct writes_anew {
  static constexpr std::size_t length = 50'000;
  int times = 0;
  auto input() { return std::tie(times); }
  void run(team& all) const {
    team_graph g(all);
    auto x = g.make(std::vector<int>(length, 0));
    for (int i = 0; i < times; ++i)
      g.run([i](std::vector<int>& v) { v.assign(length, i); }, out(x),
            on(static_cast<unsigned>(i) % all.size()));
    g.wait();
  }
};

TEST(team, what_is_written_anew_is_not_sent) {
  job j(2, 1);
  j.root().run_on_all(writes_anew{10});
  for (const auto& node : j.nodes)
    EXPECT_LT(node->carried().sent_bytes, writes_anew::length * sizeof(int));
}

// ---- how many edges there are

/// Nothing runs before wait(): one worker, and so few subtasks that the owner only makes them.
class counted_team_graph : detail::graph_scope {
public:
  counted_team_graph() {
    distribute(*detail::team_of_this_node(), {});
    give_home(x_);
  }
  ~counted_team_graph() { end(false); }
  void use(access_mode mode, unsigned rank) {
    const std::array uses{detail::datum_use{&x_, mode}};
    detail::vertex_ref elsewhere;
    ++made_;
    if (!place(nullptr, uses, {}, rank, elsewhere)) return;
    all_.push_back(enter(std::unique_ptr<counting>(new (memory) counting(*this, ran_)), uses, {}));
  }
  bool wait() { return finish(); }
  bool is_right() const { return edges_of(all_) <= most_edges_of_a_use * made_; }
  bool ran(bool all) const { return ran_ == (all ? all_.size() : 0); }

private:
  detail::any_datum x_;
  std::vector<detail::vertex_ref> all_;
  std::size_t made_ = 0, ran_ = 0;
};

struct uses_in_turn {
  static constexpr int each = 20;
  int modes = 0;
  auto input() { return std::tie(modes); }
  void run(team& all) const {
    counted_team_graph g;
    const auto of = [&](int k) {
      return every_mode[static_cast<std::size_t>(modes >> (2 * k) & 3)];
    };
    g.use(access_mode::inout, 0);
    for (int k = 0; k < 3; ++k)
      for (int i = 0; i < each; ++i) g.use(of(k), static_cast<unsigned>(k) % all.size());
    if (!g.ran(false) || !g.is_right()) noted.add(all.rank(), "too many edges");
    if (!g.wait() || !g.ran(true)) noted.add(all.rank(), "not all have run");
  }
};

TEST(team, edges_are_few_for_each_mode_after_each_other_one) {
  noted.clear();
  job j(2, 1);
  for (int modes = 0; modes < 64; ++modes) {
    j.root().run_on_all(uses_in_turn{modes});
    ASSERT_TRUE(noted.all().empty()) << modes << ": " << noted.all().begin()->second[0];
  }
}

// ---- what goes wrong

/// A chain through all nodes, in which one throws: those after it do not run.
struct throws_in_a_chain {
  int at = 0;
  auto input() { return std::tie(at); }
  void run(team& all) const {
    team_graph g(all);
    auto x = g.make(0);
    for (int i = 0; i < 40; ++i)
      g.run(
          [this, i](int&) {
            if (i == at) throw std::out_of_range("in a chain");
            ++at_once;
          },
          inout(x), on(static_cast<unsigned>(i) % all.size()));
    g.wait();
  }
};

TEST_P(team_of, what_comes_after_an_exception_does_not_run) {
  for (int at = 0; at < 40; at += 7) {
    at_once = 0;
    EXPECT_THROW(j.root().run_on_all(throws_in_a_chain{at}), std::out_of_range);
    EXPECT_EQ(at_once, at);
  }
}

/// What is used after an exception is what was there before it, wherever it is asked for.
struct goes_on_after_throwing {
  bool in_vain = false;  // something after it writes, too
  auto input() { return std::tie(in_vain); }
  void run(team& all) const {
    const unsigned last = all.size() - 1;
    team_graph g(all);
    auto x = g.make(0), y = g.make(0), r = g.make(0);
    g.bring(x);
    g.run([](int& v) { v = 1; }, out(x), on(0));
    g.run([](int&) { throw std::range_error(""); }, inout(y), on(0));
    if (in_vain) g.run([](int& v) { v = 7; }, out(x), on(last));
    else g.run([](const int&) {}, in(x), on(last));
    EXPECT_THROW(g.wait(), std::range_error);
    g.run([](const int& v, int& o) { o = v; }, in(x), out(r), on(last));
    g.bring(r), g.bring(x);
    EXPECT_TRUE(g.wait());
    EXPECT_EQ(*r, *x);
    noted.add(all.rank(), std::to_string(*r));
  }
};

TEST_P(team_of, what_was_written_before_an_exception_is_there) {
  for (int round = 0; round < 15; ++round)
    for (const bool in_vain : {false, true}) {
      if (in_vain && size == 1) continue;
      noted.clear();
      j.root().run_on_all(goes_on_after_throwing{in_vain});
      for (const auto& [rank, lines] : noted.all())
        EXPECT_EQ(lines, std::vector<std::string>{"1"}) << rank << ' ' << in_vain;
    }
}

/// What was written in vain may have gone on to somebody.
struct passes_on_in_vain {
  int nothing = 0;
  auto input() { return std::tie(nothing); }
  void run(team& all) const {
    team_graph g(all);
    auto d = g.make(1), y = g.make(0), z = g.make(0);
    g.run(
        [](int&) {
          std::this_thread::sleep_for(std::chrono::milliseconds(30));
          throw std::range_error("");
        },
        inout(y), on(2 % all.size()));
    g.run([](int& v) { v = 2; }, inout(d), on(0));
    g.run([](const int&, int&) {}, in(d), inout(z), on(1 % all.size()));
    EXPECT_THROW(g.wait(), std::range_error);
    g.bring(d);
    EXPECT_TRUE(g.wait());
    noted.add(0, std::to_string(*d));
  }
};

TEST_P(team_of, nodes_have_one_value_after_an_exception) {
  for (int round = 0; round < 2; ++round) {
    noted.clear();
    j.root().run_on_all(passes_on_in_vain{});
    const auto values = noted.all()[0];
    EXPECT_EQ(std::set<std::string>(values.begin(), values.end()).size(), 1u);
  }
}

/// Two waits. Nodes pass the first one at different times, and what happens after it on one of them
/// is not of the first one on another.
struct waits_twice {
  bool leaves = false;  // node 1, by an exception that it catches itself
  auto input() { return std::tie(leaves); }
  void run(team& all) const {
    try {
      team_graph g(all);
      auto x = g.make(0);
      g.run([](int& v) { v = 1; }, inout(x), on(1 % all.size()));
      g.bring(x);
      noted.add(all.rank(), g.wait() && *x == 1 ? "first" : "wrong");
      if (leaves && all.rank() == 1) throw std::range_error("leaves");
      if (!leaves) g.run([](int&) { throw std::range_error("second"); }, inout(x), on(1));
      if (!leaves) g.bring(x);
      if (!leaves) g.wait();
    } catch (const std::range_error& e) { noted.add(all.rank(), e.what()); }
    team_graph h(all);
    h.wait();
  }
};

TEST_P(team_of, two_waits_are_not_mixed_up) {
  if (size == 1) return;
  for (int round = 0; round < 15; ++round)
    for (const bool leaves : {false, true}) {
      noted.clear();
      j.root().run_on_all(waits_twice{leaves});
      const auto all = noted.all();
      ASSERT_EQ(all.size(), size);
      for (const auto& [rank, lines] : all) {
        std::vector<std::string> expected{"first"};
        if (!leaves) expected.push_back("second");
        if (leaves && rank == 1) expected.push_back("leaves");
        ASSERT_EQ(lines, expected) << rank;
      }
    }
}

/// Each round has its error, whoever is behind in the one before; and nobody reads what was not
/// written.
struct throws_each_round {
  int rounds = 0;
  auto input() { return std::tie(rounds); }
  void run(team& all) const {
    team_graph g(all);
    auto x = g.make(0);
    for (int i = 0; i < rounds; ++i) {
      const unsigned here = static_cast<unsigned>(i) % all.size();
      auto v = g.make<std::vector<int>>();
      g.run([i](int&) { throw std::range_error(std::to_string(i)); }, inout(x), on(here));
      g.run([](int&, std::vector<int>& to) { to = {1}; }, inout(x), out(v), on(here));
      for (unsigned rank = 0; rank < all.size(); ++rank)
        g.run([](const std::vector<int>& from) { EXPECT_FALSE(from.empty()); }, in(v), on(rank));
      try {
        g.wait();
        noted.add(all.rank(), "nothing thrown");
      } catch (const std::range_error& e) { noted.add(all.rank(), e.what()); }
    }
  }
};

TEST_P(team_of, an_error_of_the_next_round_is_not_lost) {
  constexpr int rounds = 50;
  std::vector<std::string> expected;
  for (int i = 0; i < rounds; ++i) expected.push_back(std::to_string(i));
  j.root().run_on_all(throws_each_round{rounds});
  for (const auto& [rank, lines] : noted.all()) EXPECT_EQ(lines, expected) << rank;
}

/// The last subtask that was made throws, and the graph goes on: a later wait() throws what is
/// thrown later, or nothing.
struct last_one_throws {
  int rounds = 0;
  auto input() { return std::tie(rounds); }
  void run(team& all) const {
    team_graph g(all);
    auto x = g.make(0);
    for (int i = 0; i < rounds; ++i) {
      const auto here = on(static_cast<unsigned>(i) % all.size());
      g.run([i](int&) { throw std::range_error(std::to_string(i)); }, out(x), here);
      try {
        g.wait();
        noted.add(all.rank(), "nothing thrown");
      } catch (const std::range_error& e) { noted.add(all.rank(), e.what()); }
      g.run([i](int& v) { v = i; }, out(x), here);
      g.bring(x);
      if (!g.wait() || *x != i) noted.add(all.rank(), "wrong");
    }
  }
};

TEST_P(team_of, an_error_of_the_last_subtask_is_thrown_once) {
  constexpr int rounds = 20;
  std::vector<std::string> expected;
  for (int i = 0; i < rounds; ++i) expected.push_back(std::to_string(i));
  j.root().run_on_all(last_one_throws{rounds});
  ASSERT_EQ(noted.all().size(), size);
  for (const auto& [rank, lines] : noted.all()) EXPECT_EQ(lines, expected) << rank;
}

/// What is dropped has a subtask that nothing comes after, beside one that a value from elsewhere
/// waits for: wait() would wait for that for ever.
struct cancels_what_others_wait_for {
  int unused = 0;
  auto input() { return std::tie(unused); }
  void run(team& all) const {
    const unsigned other = all.size() - 1;
    team_graph g(all);
    auto w = g.make(0), v = g.make(0), x = g.make(0), y = g.make(0);
    std::atomic<bool> made{false};
    g.run(
        [&](int&) {
          while (!made) std::this_thread::yield();
          g.cancel();
        },
        inout(w), on(0));
    g.run([](const int&, int&) {}, in(w), inout(v), on(0));
    g.run([](const int&, const int&) {}, in(v), in(x), on(0));
    g.run([](const int&) {}, in(v), on(0));
    g.run([](int& a) { a = 2; }, out(x), on(other));
    g.run([](const int& a, int& b) { b = a; }, in(x), inout(y), on(0));
    made = true;
    if (g.wait()) noted.add(all.rank(), "not cancelled");
  }
};

TEST_P(team_of, what_was_cancelled_is_not_waited_for) {
  for (int round = 0; round < 5; ++round) j.root().run_on_all(cancels_what_others_wait_for{});
  EXPECT_TRUE(noted.all().empty());
}

/// What is made after a cancellation waits for no value, as nobody sends one.
struct goes_on_after_cancelling {
  unsigned who = 0;
  auto input() { return std::tie(who); }
  void run(team& all) const {
    team_graph g(all);
    auto x = g.make(0);
    if (all.rank() == who) g.cancel();
    for (unsigned i = 0; i < 20; ++i) g.run([](int& v) { ++v; }, inout(x), on(i % all.size()));
    if (g.wait()) noted.add(all.rank(), "not cancelled");
  }
};

TEST_P(team_of, what_is_made_after_a_cancellation_is_not_waited_for) {
  for (unsigned who = 0; who < size; ++who) j.root().run_on_all(goes_on_after_cancelling{who});
  EXPECT_TRUE(noted.all().empty());
}

// ---- what is recorded

struct is_recorded {
  std::string plan;
  auto input() { return std::tie(plan); }
  void run(team& all) const {
    const unsigned last = all.size() - 1;
    team_graph g(all, plan);
    auto a = g.make<value>(1), b = g.make<value>(2);
    auto c = g.make<std::uint32_t>(3);
    auto d = g.make<std::uint16_t>(4);
    const auto first = g.run(
        "first", [](value& v) { ++v; }, inout(a), on(last));
    g.run(
        "second", [](value& v, std::uint32_t& w) { ++v, w = 5; }, add(b), out(c), on(0));
    g.run(
        "first", [](const std::uint16_t&) {}, in(d), after(first), on(0));
    g.wait();
  }
};

TEST_P(team_of, a_recording_has_what_subtasks_used) {
  const temporary_folder folder;
  const auto file = (folder.path / "plan").string();
  j.root().run_on_all(is_recorded{file});
  const auto g = detail::read_recorded_graph(file);
  EXPECT_EQ(g.nodes, size);
  ASSERT_EQ(g.subtasks.size(), 3u);
  const std::array ran_on{size - 1, 0u, 0u};
  const std::array<const char*, 3> names{"first", "second", "first"};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(g.names[g.subtasks[i].name], names[i]);
    EXPECT_EQ(g.subtasks[i].asked, ran_on[i]);
    EXPECT_EQ(g.subtasks[i].ran_on, ran_on[i]);
    EXPECT_GT(g.subtasks[i].duration, 0);
  }
  ASSERT_EQ(g.uses.size(), 4u);
  const std::array modes{access_mode::inout, access_mode::add, access_mode::out, access_mode::in};
  for (std::uint32_t k = 0; k < 4; ++k) {
    EXPECT_EQ(g.uses[k].datum, k);
    EXPECT_EQ(g.uses[k].mode, modes[k]);
  }
  EXPECT_EQ(g.after, std::vector<std::uint32_t>{0});
  EXPECT_EQ(g.bytes, (std::vector<double>{8, 8, 4, 0})) << "nobody has written the last one";
}

}  // namespace
}  // namespace cleave::tests
