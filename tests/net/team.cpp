// labels: slow
// Tasks that all nodes run together, and graphs between them: several nodes in one process, over a
// network that delays.
#include "core/requests.hpp"
#include "graph/recorded_graph.hpp"
#include "net/loopback.hpp"
#include "temporary_folder.hpp"

#include <cleave/cleave.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cleave::tests {
namespace {

using namespace std::chrono_literals;
using value = std::uint64_t;

/// What copies of a task leave for the test: they cannot point to anything.
class notes {
public:
  void clear() {
    std::lock_guard lock(mutex_);
    by_rank_.clear();
  }
  void add(unsigned rank, const std::string& what) {
    std::lock_guard lock(mutex_);
    by_rank_[rank].push_back(what);
  }
  std::map<unsigned, std::vector<std::string>> all() {
    std::lock_guard lock(mutex_);
    return by_rank_;
  }

private:
  std::mutex mutex_;
  std::map<unsigned, std::vector<std::string>> by_rank_;
} noted;

struct shape {
  unsigned nodes, workers;
  microseconds delay;
};
void PrintTo(const shape& s, std::ostream* to) {
  *to << s.nodes << " nodes, " << s.workers << " workers, " << s.delay.count() << " us";
}

class team_of : public testing::TestWithParam<shape> {
protected:
  void SetUp() override { noted.clear(); }
  static weather of(shape s) {
    weather w;
    w.delay = s.delay;
    w.workers_send = s.nodes != 3;
    return w;
  }
  job j{GetParam().nodes, GetParam().workers, of(GetParam())};
  const unsigned size = GetParam().nodes;
};
INSTANTIATE_TEST_SUITE_P(, team_of,
                         testing::Values(shape{1, 2, 0us}, shape{2, 1, 0us}, shape{2, 2, 300us},
                                         shape{3, 1, 200us}, shape{5, 2, 0us}, shape{7, 1, 50us}),
                         [](const auto& of) {
                           return std::to_string(of.param.nodes) + "_nodes_of_" +
                                  std::to_string(of.param.workers) + "_within_" +
                                  std::to_string(of.param.delay.count()) + "_us";
                         });

// ---- the task

struct says_who_it_is {
  int n = 0;
  auto input() { return std::tie(n); }
  int run(team& all) {
    noted.add(all.rank(), std::to_string(all.size()) + " " + std::to_string(n));
    return n + 1;
  }
};

TEST_P(team_of, each_node_runs_its_copy) {
  for (int round = 0; round < 20; ++round) {
    noted.clear();
    EXPECT_EQ(j.root().run_on_all(says_who_it_is{round}), round + 1);
    const auto all = noted.all();
    ASSERT_EQ(all.size(), size);
    for (const auto& [rank, lines] : all)
      EXPECT_EQ(lines, std::vector{std::to_string(size) + " " + std::to_string(round)});
  }
}

// ---- graphs: a random program, and what it computes if each run() is a call

struct random_program {
  std::uint64_t seed = 0;
  int thrower = 1 << 30;  // some of the subtasks from that one on throw
  std::string plan = {};
  auto input() { return std::tie(seed, thrower, plan); }

  static constexpr int data = 10, subtasks = 250;

  std::uint64_t draw(int i, int what) const { return random_at(seed * 100'000 + i * 16 + what); }
  int datum_of(int i, int k) const { return static_cast<int>(draw(i, k) % data); }
  void may_throw(int i) const {
    if (i >= thrower && draw(i, 9) % 4 == 0)
      throw std::runtime_error("subtask " + std::to_string(i));
  }

  std::vector<value> by_calls() const {
    std::vector<value> v(data);
    for (int i = 0; i < subtasks; ++i) {
      value &a = v[datum_of(i, 0)], &b = v[datum_of(i, 1)], &c = v[datum_of(i, 2)];
      switch (draw(i, 8) % 6) {
        case 0: may_throw(i), b = mix(value{a} ^ draw(i, 3)) + b; break;
        case 1: {
          const value x = a, y = b;
          may_throw(i), c = mix(x + 3 * y);
        } break;
        case 2: may_throw(i), c = draw(i, 4); break;
        case 3: {
          const value x = a;
          may_throw(i), b += mix(x), c += draw(i, 6);
        } break;
        default: may_throw(i), b += draw(i, 5);
      }
    }
    return v;
  }

  std::vector<value> run(team& all) const {
    team_graph g(all, plan);
    std::vector<datum<value>> v;
    for (int i = 0; i < data; ++i) {
      v.push_back(g.make<value>(0));
      if (draw(i, 10) % 3 == 0)
        g.set_home(v.back(), static_cast<unsigned>(draw(i, 11)) % all.size());
    }
    subtask before;
    for (int i = 0; i < subtasks; ++i) {
      const auto a = v[datum_of(i, 0)], b = v[datum_of(i, 1)], c = v[datum_of(i, 2)];
      const auto x = draw(i, 3), y = draw(i, 4), z = draw(i, 5), w = draw(i, 6);
      const unsigned there = static_cast<unsigned>(draw(i, 12)) % all.size();
      switch (draw(i, 8) % 6) {
        case 0:
          before =
              g.run([=, *this](const value& r,
                               value& s) { disturb(x), may_throw(i), s = mix(value{r} ^ x) + s; },
                    in(a), inout(b));
          break;
        case 1:
          before = g.run(
              [=, *this](const value& r, const value& s, value& t) {
                const value p = r, q = s;
                disturb(y), may_throw(i), t = mix(p + 3 * q);
              },
              in(a), in(b), out(c), on(there));
          break;
        case 2: g.run([=, *this](value& t) { may_throw(i), t = y; }, out(c), after(before)); break;
        case 3:
          // What is read and added to by one: there is no order in which others could add.
          if (datum_of(i, 0) == datum_of(i, 1) || datum_of(i, 0) == datum_of(i, 2))
            g.run(
                [=, *this](value& r, value& s, value& t) {
                  may_throw(i);
                  s += mix(value{r}), t += w;
                },
                inout(a), inout(b), inout(c));
          else
            g.run([=, *this](const value& r, value& s,
                             value& t) { may_throw(i), s += mix(r), disturb(w), t += w; },
                  in(a), add(b), add(c), on(there));
          break;
        default:
          g.run([=, *this](value& s) { disturb(w), may_throw(i), s += z; }, add(b), after(before));
      }
    }
    for (auto d : v) g.bring(d);
    try {
      EXPECT_TRUE(g.wait());
    } catch (const std::runtime_error& e) {
      noted.add(all.rank(), e.what());
      throw;
    }
    std::vector<value> result;
    for (const auto& d : v) result.push_back(*d);
    if (result != by_calls()) noted.add(all.rank(), "wrong");
    return result;
  }
};

TEST_P(team_of, random_programs) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    const random_program p{seed};
    EXPECT_EQ(j.root().run_on_all(p), p.by_calls()) << "seed " << seed;
    EXPECT_TRUE(noted.all().empty()) << "on another node, seed " << seed;
  }
}

TEST_P(team_of, random_programs_by_a_plan) {
  const temporary_folder folder;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto file = (folder.path / std::to_string(seed)).string();
    const random_program p{seed, 1 << 30, file};
    for (const char* run : {"recorded", "planned", "planned again"})
      EXPECT_EQ(j.root().run_on_all(p), p.by_calls()) << run << ", seed " << seed;
    EXPECT_TRUE(noted.all().empty()) << "on another node, seed " << seed;
    const auto g = detail::read_recorded_graph(file);
    EXPECT_EQ(g.subtasks.size(), static_cast<std::size_t>(random_program::subtasks));
    EXPECT_EQ(g.nodes, size);
    EXPECT_EQ(g.workers, GetParam().workers);
    for (const auto& s : g.subtasks) EXPECT_GT(s.duration, 0);
    for (const double bytes : g.bytes) EXPECT_EQ(bytes, sizeof(value));
  }
}

/// The work is where the plan finds it: all data have their home on node 0.
struct all_at_one_home {
  std::string plan;
  int subtasks = 0;
  auto input() { return std::tie(plan, subtasks); }
  /// Where each of them ran.
  std::vector<int> run(team& all) const {
    team_graph g(all, plan);
    std::vector<datum<int>> done;
    for (int i = 0; i < subtasks; ++i) {
      done.push_back(g.make<int>(-1));
      g.set_home(done.back(), 0);
      g.run(
          "slow",
          [r = all.rank()](int& at) {
            std::this_thread::sleep_for(1ms);
            at = static_cast<int>(r);
          },
          out(done.back()));
    }
    for (auto each : done) g.bring(each);
    g.wait();
    std::vector<int> ranks;
    for (auto each : done) ranks.push_back(*each);
    return ranks;
  }
};

TEST_P(team_of, a_plan_deals_the_work_to_all_nodes) {
  const temporary_folder folder;
  const auto file = (folder.path / "plan").string();
  constexpr int subtasks = 60;
  const all_at_one_home program{file, subtasks};
  EXPECT_EQ(j.root().run_on_all(program), std::vector<int>(subtasks, 0));
  // Shares are equal as recorded: on a busy machine a subtask may have taken several times as long.
  const auto g = detail::read_recorded_graph(file);
  const auto ranks = j.root().run_on_all(program);
  ASSERT_EQ(g.subtasks.size(), ranks.size());
  std::vector<double> work(size), durations;
  double all = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    durations.push_back(g.subtasks[i].duration);
    work[static_cast<std::size_t>(ranks[i])] += durations.back();
    all += durations.back();
  }
  std::sort(durations.begin(), durations.end());
  const double share = all / size;
  // Three usual subtasks, or by how much the longest one is more than a share.
  const double off = std::max(3 * durations[durations.size() / 2], durations.back() - share);
  for (const double of_node : work) EXPECT_NEAR(of_node, share, off);
}

/// Steps that are alike, all of whose data have their home on node 0.
struct steps_at_one_home {
  std::string plan;
  int steps = 0;
  auto input() { return std::tie(plan, steps); }
  static constexpr int data = 24;
  int run(team& all) const {
    team_graph g(all, plan);
    std::vector<datum<int>> at;
    for (int i = 0; i < data; ++i) at.push_back(g.make<int>(-1)), g.set_home(at.back(), 0);
    for (int step = 0; step < steps; ++step)
      for (auto each : at)
        g.run(
            "slow",
            [r = all.rank()](int& ran_on) {
              std::this_thread::sleep_for(500us);
              ran_on = static_cast<int>(r);
            },
            inout(each));
    for (auto each : at) g.bring(each);
    g.wait();
    return static_cast<int>(std::count_if(at.begin(), at.end(), [](auto d) { return *d != 0; }));
  }
};

TEST_P(team_of, what_comes_after_a_plan_runs_where_it_has_left_the_data) {
  const temporary_folder folder;
  const auto file = (folder.path / "plan").string();
  EXPECT_EQ(j.root().run_on_all(steps_at_one_home{file, 3}), 0);
  constexpr int data = steps_at_one_home::data;
  EXPECT_NEAR(j.root().run_on_all(steps_at_one_home{file, 9}), data - data / static_cast<int>(size),
              3);
}

TEST_P(team_of, a_plan_of_another_graph_is_followed_as_far_as_it_is_the_same) {
  const temporary_folder folder;
  const auto file = (folder.path / "plan").string();
  const random_program recorded{1, 1 << 30, file}, other{2, 1 << 30, file};
  j.root().run_on_all(recorded);
  EXPECT_EQ(j.root().run_on_all(other), other.by_calls());
  j.root().run_on_all(all_at_one_home{file, 400});
  EXPECT_TRUE(noted.all().empty());
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

TEST_P(team_of, the_exception_is_the_one_of_the_program_by_calls) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    noted.clear();
    const random_program p{seed, static_cast<int>(7 * seed)};
    std::string expected;
    try {
      p.by_calls();
    } catch (const std::runtime_error& e) { expected = e.what(); }
    try {
      j.root().run_on_all(p);
      ADD_FAILURE() << "nothing was thrown, seed " << seed;
    } catch (const std::runtime_error& e) { EXPECT_EQ(e.what(), expected) << "seed " << seed; }
    for (const auto& [rank, lines] : noted.all())
      EXPECT_EQ(lines, std::vector{expected}) << "node " << rank << ", seed " << seed;
  }
}

/// Waits several times, and makes graphs one after the other and two at once.
struct many_graphs {
  int rounds = 0;
  auto input() { return std::tie(rounds); }
  value run(team& all) const {
    value sum = 0;
    for (int round = 0; round < rounds; ++round) {
      team_graph g(all), h(all);
      auto x = g.make<value>(round), y = h.make<value>(1);
      for (int i = 0; i < 10; ++i) {
        const auto where = on(static_cast<unsigned>(i) % all.size());
        g.run([](value& v) { v += 1; }, inout(x), where);
        h.run([](value& v) { v *= 2; }, inout(y), where);
        if (i == 4) { EXPECT_TRUE(g.wait()); }
      }
      h.bring(y), g.bring(x);
      EXPECT_TRUE(h.wait());
      EXPECT_TRUE(g.wait());
      sum += *x + *y;
    }
    return sum;
  }
};

TEST_P(team_of, many_graphs) {
  EXPECT_EQ(j.root().run_on_all(many_graphs{20}), 20 * (10 + 1024) + 19 * 20 / 2);
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
    const auto sent = j.nodes[rank]->link().counted().carried.sent_bytes / one_value;
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
    EXPECT_LT(node->link().counted().carried.sent_bytes, writes_anew::length * sizeof(int));
}

/// A value that is read on node 2 as soon as it can be, which may not have begun.
struct sends_at_once {
  int n = 0;
  auto input() { return std::tie(n); }
  void run(team& all) const {
    team_graph g(all);
    auto x = g.make(0);
    g.run([n = n](int& v) { v = n; }, out(x), on(1));
    g.run(
        [n = n](const int& v) {
          if (v == n) ++at_once;
        },
        in(x), on(2));
    g.wait();
  }
};

TEST(team, a_value_for_a_node_that_has_not_begun) {
  weather w;
  w.delay = 3000us;
  job j(3, 1, w);
  at_once = 0;
  for (int round = 0; round < 40; ++round) j.root().run_on_all(sends_at_once{round});
  EXPECT_EQ(at_once, 40);
}

/// The worker that makes the graph on node 1 is busy until another one there has run what needs a
/// value of node 0.
struct needs_an_idle_worker {
  int unused = 0;
  auto input() { return std::tie(unused); }
  void run(team& all) const {
    team_graph g(all);
    auto x = g.make(0);
    g.run([](int& v) { std::this_thread::sleep_for(500us), v = 1; }, out(x), on(0));
    g.run([](const int& v) { at_once = v; }, in(x), on(1));
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (all.rank() == 1 && at_once == 0 && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    if (all.rank() == 1 && at_once == 0) noted.add(1, "nobody ran it");
    g.wait();
  }
};

TEST(team, an_idle_worker_runs_what_has_come) {
  noted.clear();
  job j(2, 2);
  for (int round = 0; round < 20 && noted.all().empty(); ++round) {
    at_once = 0;
    j.root().run_on_all(needs_an_idle_worker{});
  }
  EXPECT_TRUE(noted.all().empty());
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
  for (int at = 0; at < 40; at += 3) {
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
  for (int round = 0; round < 60; ++round)
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
  for (int round = 0; round < 5; ++round) {
    noted.clear();
    j.root().run_on_all(passes_on_in_vain{});
    const auto values = noted.all()[0];
    EXPECT_EQ(std::set<std::string>(values.begin(), values.end()).size(), 1u);
  }
}

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
  for (int round = 0; round < 60; ++round)
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

/// Adds one so often, on each node in turn.
void count_up(team_graph& g, datum<int> x, unsigned times, const team& all) {
  for (unsigned i = 0; i < times; ++i) g.run([](int& v) { ++v; }, inout(x), on(i % all.size()));
}

struct throws_on_one {
  unsigned rank = 0;
  int where = 0;
  auto input() { return std::tie(rank, where); }
  int run(team& all) const {
    if (where == 0 && all.rank() == rank) throw std::length_error("at the beginning");
    team_graph g(all);
    auto x = g.make(0);
    count_up(g, x, 50, all);
    if (where == 1 && all.rank() == rank) throw std::length_error("between");
    count_up(g, x, 50, all);
    g.wait();
    if (where == 2 && all.rank() == rank) throw std::length_error("after it");
    auto y = g.make(0);
    count_up(g, y, 100, all);
    g.bring(y);
    g.wait();
    return *y;
  }
};

TEST_P(team_of, an_exception_of_one_node_ends_all) {
  for (unsigned rank = 0; rank < size; ++rank)
    for (int where = 0; where < 3; ++where)
      EXPECT_THROW(j.root().run_on_all(throws_on_one{rank, where}), std::length_error)
          << "node " << rank << ", place " << where;
  EXPECT_EQ(j.root().run_on_all(throws_on_one{0, 4}), 100);
}

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

/// Travels, but is made again of what it does not take.
struct picky : std::runtime_error {
  explicit picky(int of) : std::runtime_error("picky"), n(of) {
    if (n > 0) throw std::domain_error("not made again");
  }
  picky(int of, bool) : std::runtime_error("picky"), n(of) {}
  auto input() { return std::tie(n); }
  int n;
};
const travels<picky> picky_travels;

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

enum class ends { after_all, without_a_subtask, without_a_wait, after_two_waits };
struct ends_early {
  int how = 0;
  bool first = false;  // who does: the first node, or the last one
  auto input() { return std::tie(how, first); }
  void run(team& all) const {
    const bool other = all.rank() == (first ? 0 : all.size() - 1);
    make(all, other ? static_cast<ends>(how) : ends::after_all);
    team_graph h(all);
    h.wait();
  }
  static void make(team& all, ends by) {
    team_graph g(all);
    if (by == ends::without_a_subtask) return;
    auto x = g.make(0);
    for (unsigned k = 0; k < 2 * all.size(); ++k)
      g.run([](int& v) { ++v; }, inout(x), on(k % all.size()));
    g.bring(x);
    if (by == ends::without_a_wait) return;
    try {
      g.wait();
      if (by == ends::after_two_waits) g.wait();
      noted.add(all.rank(), std::to_string(*x));
    } catch (const std::logic_error&) { noted.add(all.rank(), "different"); }
  }
};

TEST_P(team_of, a_graph_that_not_all_nodes_wait_for) {
  if (size == 1) return;
  for (int round = 0; round < 20; ++round)
    for (const bool first : {false, true})
      for (int how = 0; how < 4; ++how) {
        noted.clear();
        j.root().run_on_all(ends_early{how, first});
        for (const auto& [rank, lines] : noted.all()) {
          const bool other = rank == (first ? 0 : size - 1);
          const bool whole = how == 0 || (how == 3 && !other);
          EXPECT_EQ(lines, std::vector{whole ? std::to_string(2 * size) : "different"})
              << how << first << ' ' << rank;
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

struct makes_fewer {
  unsigned who = 0;
  int graphs = 0;
  std::string plan;
  auto input() { return std::tie(who, graphs, plan); }
  void run(team& all) const {
    for (int i = 0; i < 2; ++i) {
      if (all.rank() == who && i == graphs) return;
      team_graph g(all, plan);
      auto x = g.make(0);
      g.run([](int& v) { ++v; }, inout(x), on(1));
      g.bring(x);
      g.wait();
    }
  }
};

TEST_P(team_of, a_graph_that_not_all_nodes_make) {
  if (size == 1) return;
  const temporary_folder folder;
  for (int round = 0; round < 20; ++round)
    for (const unsigned who : {0u, 1u, size - 1})
      for (const int graphs : {0, 1}) {
        const auto plan = (folder.path / std::to_string(round)).string();
        try {
          j.root().run_on_all(makes_fewer{who, graphs, round % 2 == 0 ? "" : plan});
          ADD_FAILURE() << "nobody has noticed it";
        } catch (const std::logic_error& e) {
          EXPECT_STREQ(e.what(),
                       "cleave::team_graph: the nodes have made different numbers of graphs");
        }
      }
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

struct made_elsewhere {
  int n = 0;
  auto input() { return std::tie(n); }
  void run(team& all) const {
    std::atomic<int> is{0};
    task_group others;
    others.spawn([&] {
      try {
        team_graph g(all);
        is = 1;
      } catch (const std::logic_error&) { is = 2; }
    });
    while (is == 0) {}  // another worker runs it
    EXPECT_EQ(is, 2);
    others.wait();
  }
};

TEST_P(team_of, a_graph_is_made_where_the_task_began) {
  if (size > 1 && GetParam().workers > 1) j.root().run_on_all(made_elsewhere{});
}

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

struct made_in_a_subtask {
  int n = 0;
  auto input() { return std::tie(n); }
  void run(team& all) const {
    team_graph g(all);
    auto x = g.make(0);
    g.run([&all](int&) { team_graph inner(all); }, inout(x), on(all.size() - 1));
    EXPECT_THROW(g.wait(), std::logic_error);
    team_graph after_it(all);
    EXPECT_TRUE(after_it.wait());
  }
};

TEST_P(team_of, no_graph_is_made_in_a_subtask_of_one) {
  if (size > 1) j.root().run_on_all(made_in_a_subtask{});
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
  constexpr int rounds = 200;
  std::vector<std::string> expected;
  for (int i = 0; i < rounds; ++i) expected.push_back(std::to_string(i));
  j.root().run_on_all(throws_each_round{rounds});
  for (const auto& [rank, lines] : noted.all()) EXPECT_EQ(lines, expected) << rank;
}

struct throws_picky {
  int n = 0;
  auto input() { return std::tie(n); }
  void run(team& all) const {
    team_graph g(all);
    auto x = g.make(0);
    g.run([](int&) { throw picky(1, false); }, inout(x), on(1));
    try {
      g.wait();
    } catch (const picky&) {
      return noted.add(all.rank(), "picky");
    } catch (const std::domain_error&) { return noted.add(all.rank(), "cannot be made"); }
    noted.add(all.rank(), "nothing");
  }
};

TEST_P(team_of, an_exception_that_cannot_be_made_again) {
  if (size == 1) return;
  j.root().run_on_all(throws_picky{});
  const auto all = noted.all();
  ASSERT_EQ(all.size(), size);
  for (const auto& [rank, lines] : all)
    EXPECT_EQ(lines, std::vector<std::string>{rank == 1 ? "picky" : "cannot be made"}) << rank;
}

struct cancels {
  unsigned rank = 0;
  auto input() { return std::tie(rank); }
  int run(team& all) const {
    {
      team_graph g(all);
      auto x = g.make(0);
      for (unsigned i = 0; i < 200; ++i) {
        g.run([](int& v) { ++v, disturb(static_cast<std::uint64_t>(v)); }, inout(x),
              on(i % all.size()));
        if (i == 100 && all.rank() == rank) g.cancel();
      }
      EXPECT_FALSE(g.wait());
    }
    team_graph h(all);
    auto y = h.make(0);
    count_up(h, y, 20, all);
    h.bring(y);
    EXPECT_TRUE(h.wait());
    return *y;
  }
};

TEST_P(team_of, one_node_cancels_a_graph) {
  for (unsigned rank = 0; rank < size; ++rank) EXPECT_EQ(j.root().run_on_all(cancels{rank}), 20);
}

struct goes_on_until_cancelled {
  int unused = 0;
  auto input() { return std::tie(unused); }
  int run(team& all) const {
    team_graph g(all);
    auto x = g.make(0);
    for (int round = 0;; ++round) {
      count_up(g, x, 1000, all);
      if (round == 1) noted.add(all.rank(), "under way");
      g.wait();
    }
  }
};

TEST_P(team_of, cancelled_from_outside) {
  cancel_scope scope;
  std::thread canceller([&] {
    while (noted.all().size() < size) std::this_thread::sleep_for(100us);
    scope.cancel();
  });
  EXPECT_FALSE(scope.run([&] { j.root().run_on_all(goes_on_until_cancelled{}); }));
  canceller.join();
  EXPECT_EQ(j.root().run_on_all(says_who_it_is{1}), 2);
}

/// Node 1 takes part until its death.
struct survives {
  unsigned all_there_were = 0;
  auto input() { return std::tie(all_there_were); }
  value run(team& all) const {
    team_graph g(all);
    auto x = g.make<value>(0);
    for (unsigned i = 0; i < 300; ++i) {
      if (i == 150) noted.add(all.rank(), all.size() == all_there_were ? "half" : "again");
      const bool waits = i == 150 && all.size() == all_there_were;
      g.run(
          [=](value& v) {
            v = mix(v + i);
            while (waits) poll();
          },
          inout(x), on(i % all.size()));
    }
    g.bring(x);
    g.wait();
    return *x;
  }
};

TEST_P(team_of, a_lost_node) {
  if (size == 1) return;
  value expected = 0;
  for (unsigned i = 0; i < 300; ++i) expected = mix(expected + i);
  std::thread killer([&] {
    while (noted.all().size() < size) std::this_thread::sleep_for(100us);
    j.network.kill(size - 1, true);
  });
  EXPECT_EQ(j.root().run_on_all(survives{size}), expected);
  killer.join();
  EXPECT_EQ(j.root().run_on_all(says_who_it_is{1}), 2);
}

// ---- with the other ways to run

long fib(int n) {
  if (n < 2) return n;
  auto [x, y] = both([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return x + y;
}
struct divides_in_subtasks {
  int n = 0;
  auto input() { return std::tie(n); }
  long run(team& all) const {
    team_graph g(all);
    auto sum = g.make(0L);
    for (unsigned i = 0; i < 2 * all.size(); ++i) {
      auto part = g.make(0L);
      g.run([n = n](long& v) { v = fib(n); }, out(part));
      g.run([](const long& v, long& s) { s += v; }, in(part), add(sum));
    }
    g.bring(sum, 0);
    g.wait();
    return all.rank() == 0 ? *sum : 0;
  }
};

TEST_P(team_of, constructs_inside_and_other_runs_between) {
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(j.root().run_on_all(divides_in_subtasks{12}), 2 * size * 144);
    EXPECT_EQ(j.root().run([] { return fib(15); }), 610);
  }
}

}  // namespace
}  // namespace cleave::tests
