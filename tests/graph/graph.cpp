// Graphs of subtasks: each once, in an order that the program could have had; exceptions and
// cancellation.
#include "core/requests.hpp"
#include "graph/count_edges.hpp"
#include "sanitized.hpp"

#include <array>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cleave::tests {
namespace {

class graph_with : public every_runtime {};
CLEAVE_FOR_EVERY_RUNTIME(graph_with);

TEST_P(graph_with, the_example) {
  rt.run([] {
    graph g;
    auto x = g.make(1.0), y = g.make(2.0), z = g.make<double>();
    g.run([](double& a) { a += 1; }, inout(x));
    g.run([](const double& a, const double& b, double& c) { c = a * b; }, in(x), in(y), out(z));
    EXPECT_TRUE(g.wait());
    EXPECT_EQ(*z, 4);
  });
}

TEST_P(graph_with, a_chain_in_order) {
  rt.run([] {
    graph g;
    auto sequence = g.make<std::vector<int>>();
    for (int i = 0; i < 3'000; ++i)
      g.run([i](std::vector<int>& s) { s.push_back(i), disturb(i); }, inout(sequence));
    EXPECT_TRUE(g.wait());
    ASSERT_EQ(sequence->size(), 3'000u);
    for (int i = 0; i < 3'000; ++i) ASSERT_EQ((*sequence)[i], i);
  });
}

TEST_P(graph_with, nothing_to_do_and_used_again) {
  rt.run([] {
    graph g;
    EXPECT_TRUE(g.wait());
    auto n = g.make(0);
    for (int round = 1; round <= 50; ++round) {
      for (int i = 0; i < 3; ++i) g.run([](int& v) { ++v; }, inout(n));
      EXPECT_TRUE(g.wait());
      EXPECT_EQ(*n, 3 * round);
    }
  });
}

// ---- a random program, and what it computes if each run() is a call

using value = std::uint64_t;

struct random_program {
  std::uint64_t seed;
  static constexpr int data = 12, subtasks = 400;

  std::uint64_t draw(int i, int what) const { return random_at(seed * 100'000 + i * 16 + what); }
  int datum_of(int i, int k) const { return static_cast<int>(draw(i, k) % data); }
  int kind(int i) const { return static_cast<int>(draw(i, 8) % 8); }

  static void mixes(const value& a, value& b, std::uint64_t by) { b = mix(a ^ by) + b; }
  static void writes(const value& a, const value& b, value& c) { c = mix(a + 3 * b); }

  std::vector<value> by_calls() const {
    std::vector<value> v(data);
    for (int i = 0; i < subtasks; ++i) {
      value &a = v[datum_of(i, 0)], &b = v[datum_of(i, 1)], &c = v[datum_of(i, 2)];
      switch (kind(i)) {
        case 0: mixes(value{a}, b, draw(i, 3)); break;
        case 1: {
          const value x = a, y = b;
          writes(x, y, c);
        } break;
        case 2: c = draw(i, 4); break;
        default: b += mix(value{a} + draw(i, 5)), c += draw(i, 6);
      }
    }
    return v;
  }

  // A datum that is read and written by one subtask is read first, as there.
  std::vector<value> by_graph(bool in_order = false) const {
    graph g;
    if (in_order) g.earliest_first();
    std::vector<datum<value>> v;
    for (int i = 0; i < data; ++i) v.push_back(g.make<value>(0));
    for (int i = 0; i < subtasks; ++i) {
      const auto a = v[datum_of(i, 0)], b = v[datum_of(i, 1)], c = v[datum_of(i, 2)];
      const std::uint64_t x = draw(i, 3), y = draw(i, 4), z = draw(i, 5), w = draw(i, 6);
      switch (kind(i)) {
        case 0:
          g.run([=](const value& r, value& s) { disturb(x), mixes(value{r}, s, x); }, in(a),
                inout(b));
          break;
        case 1:
          g.run(
              [=](const value& r, const value& s, value& t) {
                const value p = r, q = s;
                disturb(y), writes(p, q, t);
              },
              in(a), in(b), out(c));
          break;
        case 2: g.run([=](value& t) { t = y; }, out(c)); break;
        default:
          // What is read and added to by one: there is no order in which others could add.
          if (datum_of(i, 0) == datum_of(i, 1) || datum_of(i, 0) == datum_of(i, 2))
            g.run([=](value& r, value& s, value& t) { s += mix(value{r} + z), t += w; }, inout(a),
                  inout(b), inout(c));
          else
            g.run([=](const value& r, value& s, value& t) { s += mix(r + z), disturb(w), t += w; },
                  in(a), add(b), add(c));
      }
    }
    EXPECT_TRUE(g.wait());
    std::vector<value> result;
    for (const auto& d : v) result.push_back(*d);
    return result;
  }
};

TEST_P(graph_with, random_programs) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const random_program p{seed};
    rt.run([&] { EXPECT_EQ(p.by_graph(seed % 2 == 1), p.by_calls()) << "seed " << seed; });
  }
}

// One worker begins the earliest of those whose predecessors are done, whatever became ready last.
TEST(graph, earliest_first_begins_the_earliest_that_is_ready) {
  constexpr int subtasks = 200;
  runtime alone(options{.workers = 1});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<std::vector<int>> before(subtasks);  // also in numbers of subtasks
    std::vector<int> begun;
    alone.run([&] {
      graph g;
      g.earliest_first();
      auto gate = g.make(0);
      std::vector<subtask> made;
      g.run([](int&) {}, inout(gate));
      for (int i = 0; i < subtasks; ++i) {
        for (int k = 0; k < 3 && i > 0; ++k)
          before[i].push_back(static_cast<int>(random_at(seed * 10'000 + i * 4 + k) % i));
        const auto earlier = [&](int k) { return i > 0 ? made[before[i][k]] : subtask(); };
        made.push_back(g.run([&, i](const int&) { begun.push_back(i); }, in(gate),
                             after(earlier(0)), after(earlier(1)), after(earlier(2))));
      }
      EXPECT_TRUE(g.wait());
    });
    std::vector<bool> done(subtasks);
    ASSERT_EQ(begun.size(), std::size_t{subtasks});
    for (const int next : begun) {
      for (int i = 0; i < next; ++i)
        ASSERT_TRUE(done[i] || !std::ranges::all_of(before[i], [&](int b) { return done[b]; }))
            << next << " begins before " << i;
      done[next] = true;
    }
  }
}

TEST(graph, without_a_runtime_run_is_the_call) {
  const random_program p{1};
  EXPECT_EQ(p.by_graph(), p.by_calls());
  EXPECT_EQ(p.by_graph(true), p.by_calls());
  graph g;
  auto n = g.make(0);
  g.run([](int& v) { v = 7; }, out(n));
  EXPECT_EQ(*n, 7);
}

// Without, a chain would be made whole before its only ready subtask ran.
TEST(graph, one_worker_runs_subtasks_before_they_fill_the_memory) {
  runtime alone(options{.workers = 1});
  alone.run([] {
    const auto held = std::make_shared<int>(1);
    graph g;
    auto a = g.make(0);
    long most = 0;
    for (int i = 0; i < 20'000; ++i) {
      g.run([held](int& n) { ++n; }, inout(a));
      most = std::max(most, held.use_count());
    }
    g.wait();
    EXPECT_EQ(*a, 20'000);
    EXPECT_LT(most, 2'000);
  });
}

TEST_P(graph_with, those_that_share_many_data_run_in_order) {
  rt.run([] {
    graph g;
    std::vector<datum<int>> v;
    for (int i = 0; i < 20; ++i) v.push_back(g.make(0));
    for (int round = 0; round < 200; ++round)
      g.run(
          [round](values<int> all) {
            for (int& n : all) EXPECT_EQ(n++, round);
          },
          inout(v));
    EXPECT_TRUE(g.wait());
    for (const auto& d : v) EXPECT_EQ(*d, 200);
  });
}

// ---- add

TEST_P(graph_with, those_that_add_run_one_at_a_time) {
  rt.run([] {
    graph g;
    struct guarded {
      std::atomic<int> inside{0};
      int n = 0;
    };
    constexpr int data = 4;
    std::vector<datum<guarded>> v;
    for (int i = 0; i < data; ++i) v.push_back(g.make<guarded>());
    std::atomic<int> overlaps{0};
    auto both_of = [&overlaps](guarded& a, guarded& b) {
      for (guarded* x : {&a, &b}) overlaps += x->inside.exchange(1), ++x->n;
      std::this_thread::yield();
      for (guarded* x : {&a, &b}) x->inside = 0;
    };
    int per_pair = 20;
    for (int round = 0; round < per_pair; ++round)
      for (int i = 0; i < data; ++i)
        for (int j = 0; j < data; ++j)
          if (i != j) g.run(both_of, add(v[i]), add(v[j]));
    int seen = 0;
    g.run([&](const guarded& a) { seen = a.n; }, in(v[0]));
    EXPECT_TRUE(g.wait());
    EXPECT_EQ(overlaps, 0);
    EXPECT_EQ(seen, 2 * (data - 1) * per_pair);
    for (const auto& d : v) EXPECT_EQ(d->n, seen);
  });
}

// One of those that add may end while the reader is put behind them: its memory is free then. They
// do not yield, as each of them would lose its turn on a busy machine.
TEST(graph, the_reader_of_what_many_add_to_always_runs) {
  runtime three(options{.workers = 3});
  three.run([] {
    int reads = 0;
    constexpr int graphs = sanitized ? 50 : 500;
    for (int n = 0; n < graphs; ++n) {
      graph g;
      auto x = g.make(0), y = g.make(0);
      for (int i = 0; i < 64; ++i) g.run([](int& a, int& b) { ++a, ++b; }, add(x), add(y));
      g.run([&](int) { ++reads; }, in(x));
      EXPECT_TRUE(g.wait());
    }
    EXPECT_EQ(reads, graphs);
  });
}

// Whoever is first in a datum's line may have to go on to another one's: then the next is tried.
TEST(graph, who_waits_to_add_to_another_datum_too_keeps_nobody_waiting) {
  runtime two(options{.workers = 2});
  two.run([] {
    graph g;
    auto x = g.make(0), y = g.make(0);
    std::atomic<bool> made{false}, begun{false}, ran{false};
    const auto await = [](std::atomic<bool>& flag) {
      while (!flag) std::this_thread::yield();
    };
    g.run([&](int&) { begun = true, await(ran); }, add(y));
    g.run([&](int&) { await(begun), await(made); }, add(x));
    g.run([&](int&, int&) { EXPECT_TRUE(ran); }, add(x), add(y));
    g.run([&](int&) { ran = true; }, add(x));
    made = true;
    EXPECT_TRUE(g.wait());
  });
}

// ---- how many edges there are

using detail::access_mode;

/// A graph of which nothing runs before wait(): one worker, and few subtasks.
class counted_graph : detail::graph_scope {
public:
  ~counted_graph() { end(false); }
  void use(std::initializer_list<detail::datum_use> uses, unsigned ticks = 0) {
    std::unique_ptr<counting> made(new (memory) counting(*this, ran_, ticks));
    all_.push_back(enter(std::move(made), uses, {}));
  }
  /// In a profile, where the one that was made so many before the last one has ended.
  std::uint64_t end_of(std::size_t before) const { return all_[made() - 1 - before].at->path; }
  std::size_t edges() const { return edges_of(all_); }
  bool wait() { return finish(); }
  std::size_t made() const { return all_.size(); }
  std::size_t ran() const { return ran_; }

private:
  std::vector<detail::vertex_ref> all_;
  std::size_t ran_ = 0;
};

TEST(edges, are_few_for_each_mode_after_each_other_one) {
  runtime alone(options{.workers = 1});
  constexpr std::size_t count = 200;
  for (const auto first : every_mode)
    for (const auto second : every_mode)
      for (const auto third : every_mode)
        alone.run([&] {
          detail::any_datum x;
          counted_graph g;
          g.use({{&x, access_mode::inout}});
          for (const auto mode : {first, second, third})
            for (std::size_t i = 0; i < count; ++i) g.use({{&x, mode}});
          ASSERT_EQ(g.ran(), 0u);
          EXPECT_LE(g.edges(), most_edges_of_a_use * g.made())
              << static_cast<int>(first) << static_cast<int>(second) << static_cast<int>(third);
          EXPECT_GE(g.edges(), g.made() - 1);
          EXPECT_TRUE(g.wait());
          EXPECT_EQ(g.ran(), g.made());
        });
}

TEST(edges, are_few_in_mixed_orders_of_several_data) {
  runtime alone(options{.workers = 1});
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    alone.run([&] {
      std::array<detail::any_datum, 3> data;
      counted_graph g;
      for (auto& d : data) g.use({{&d, access_mode::inout}});
      std::uint64_t draws = seed * 10'000;
      const auto draw = [&](std::uint64_t below) { return random_at(draws++) % below; };
      const auto mode = [&] { return every_mode[draw(every_mode.size())]; };
      while (g.made() < 600) {
        const auto a = mode(), b = mode();
        auto &x = data[draw(3)], &y = data[draw(3)];
        for (auto n = draw(100); n > 0; --n) g.use({{&x, a}, {&y, b}});
      }
      EXPECT_LE(g.edges(), 2 * most_edges_of_a_use * g.made()) << "seed " << seed;
      EXPECT_TRUE(g.wait());
      EXPECT_EQ(g.ran(), g.made());
    });
}

TEST(edges, of_what_is_joined_are_on_the_paths_of_a_profile) {
  runtime alone(options{.profile = true});
  alone.run([] {
    detail::any_datum x;
    counted_graph g;
    constexpr unsigned longest = 2'000'000;
    for (unsigned i = 0; i < 6; ++i) g.use({{&x, access_mode::add}}, i == 2 ? longest : 0);
    for (int i = 0; i < 6; ++i) g.use({{&x, access_mode::in}});
    for (std::size_t i = 0; i < 6; ++i) EXPECT_GE(g.end_of(i), g.end_of(6 + 3));
    EXPECT_TRUE(g.wait());
  });
}

// ---- precedence, kinds of data and functions

TEST_P(graph_with, after_comes_after) {
  rt.run([] {
    graph g;
    std::atomic<int> n{0};
    std::vector<subtask> first;
    for (int i = 0; i < 20; ++i) first.push_back(g.run([&] { ++n; }));
    subtask second = g.run(
        [&] {
          EXPECT_GE(n, 2);
          n += 100;
        },
        after(first[3]), after(first[19]));
    g.run([&] { EXPECT_GE(n, 100); }, after(second), after(subtask{}));
    EXPECT_TRUE(g.wait());
    EXPECT_EQ(n, 120);
    g.run([&] { ++n; }, after(second));  // long done
    EXPECT_TRUE(g.wait());
    EXPECT_EQ(n, 121);
  });
}

struct only_moves {
  explicit only_moves(int v) : p(std::make_unique<int>(v)) {}
  std::unique_ptr<int> p;
};
void set_to_seven(int& v) { v = 7; }

TEST_P(graph_with, data_and_functions_that_only_move_and_members_and_the_programs_own_objects) {
  rt.run([] {
    int own = 1;
    const std::string text = "text";
    {
      graph g;
      auto a = g.make(only_moves(3));
      auto b = g.make<only_moves>(4);
      auto c = g.refer(own);
      auto t = g.make(text);
      g.run([p = std::make_unique<int>(5)](only_moves& x) { *x.p += *p; }, inout(a));
      g.run([](const only_moves& x, only_moves& y) { *y.p += *x.p; }, in(a), inout(b));
      g.run(set_to_seven, out(c));
      g.run(&std::string::clear, inout(t));
      EXPECT_TRUE(g.wait());
      EXPECT_EQ(*b->p, 12);
      EXPECT_EQ(*t, "");
    }
    EXPECT_EQ(own, 7);
  });
}

long fib(int n) {
  if (n < 2) return n;
  auto [x, y] = both([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return x + y;
}

TEST_P(graph_with, constructs_and_graphs_inside) {
  rt.run([] {
    graph g;
    auto x = g.make(0L), y = g.make(0L);
    for (int i = 0; i < 8; ++i)
      g.run([i](long& v) { v += fib(i + 3); }, i % 2 == 0 ? inout(x) : inout(y));
    g.run(
        [](long& a, const long& b) {
          graph inner;
          auto z = inner.make(b);
          for (int i = 0; i < 10; ++i) inner.run([](long& v) { v += 1; }, inout(z));
          inner.wait();
          a += *z;
        },
        inout(x), in(y));
    EXPECT_TRUE(g.wait());
    EXPECT_EQ(*y, 3 + 8 + 21 + 55);
    EXPECT_EQ(*x, 2 + 5 + 13 + 34 + *y + 10);
  });
}

TEST_P(graph_with, a_subtask_that_comes_after_many) {
  rt.run([] {
    graph g;
    std::vector<datum<int>> v;
    for (int i = 0; i < 500; ++i) v.push_back(g.make(0));
    auto all = g.make(0);
    for (auto d : v) g.run([](int& x, const int&) { ++x; }, inout(d), in(all));
    g.run([](int& x) { x = 1; }, inout(all));  // after 500 readers
    for (auto d : v) g.run([](int& x, const int& a) { x += a; }, inout(d), in(all));
    EXPECT_TRUE(g.wait());
    for (auto d : v) EXPECT_EQ(*d, 2);
  });
}

TEST_P(graph_with, lists_of_data) {
  rt.run([] {
    graph g;
    std::vector<datum<int>> v;
    std::array<datum<int>, 3> last{};
    for (int i = 0; i < 50; ++i) v.push_back(g.make(i));
    for (auto& each : last) each = g.make(0);
    auto sum = g.make(0L);
    const auto add_up = [](values<const int> all, long& to) {
      for (const int x : all) to += x;
    };
    g.run(add_up, in(v), inout(sum));
    // After who reads it; before who reads it next.
    g.run(
        [](values<int> all, int extra) {
          for (int& x : all) x = 2 * x + extra;
          all[0] += static_cast<int>(all.size());
        },
        inout(v), in(v[1]));
    g.run(add_up, in(v), inout(sum));
    g.run(
        [](values<int> all, values<const int> from) {
          for (std::size_t i = 0; i < all.size(); ++i) all[i] = from[from.size() - 1 - i];
        },
        out(last), in(v));
    g.run([](values<int> all) { all[2] += 1000; }, add(last));
    g.run([](values<int> none) { EXPECT_EQ(none.size(), 0u); }, inout(std::vector<datum<int>>()));
    EXPECT_TRUE(g.wait());
    EXPECT_EQ(*sum, 1225 + (2 * 1225 + 50 * 1 + 50));
    EXPECT_EQ(*last[0], 99);
    EXPECT_EQ(*last[2], 1095);
    EXPECT_EQ(*v[0], 51);
  });
}

/// Readers, and then those that add, come after all of many that add, and nothing before.
TEST_P(graph_with, many_that_add_and_many_that_read_in_turn) {
  rt.run([] {
    graph g;
    constexpr int many = 60, rounds = 6;
    auto n = g.make(0), never = g.make(0);
    std::atomic<int> reading{0}, wrong{0};
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < many; ++i)
        g.run([&, i](int& v) { wrong += reading % many != 0, disturb(i), ++v; }, add(n));
      for (int i = 0; i < many; ++i)
        g.run(
            [&, round, i](const int& v, const int&) {
              wrong += v != many * (round + 1), disturb(i), ++reading;
            },
            in(n), in(never));
    }
    EXPECT_TRUE(g.wait());
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(reading, many * rounds);
  });
}

// ---- what goes wrong

TEST_P(graph_with, the_exception_is_the_one_of_the_program_by_calls) {
  for (int round = 0; round < 20; ++round)
    rt.run([round] {
      graph g;
      if (round % 2 == 1) g.earliest_first();
      auto a = g.make(0), b = g.make(0);
      std::atomic<int> before{0};
      for (int i = 0; i < 100; ++i) {
        g.run([&](int&) { ++before; }, i % 2 == 0 ? inout(a) : inout(b));
        disturb(round * 1'000 + i);
      }
      g.run([](int&) { throw std::runtime_error("first"); }, inout(a));
      g.run([](int&) { throw std::runtime_error("second"); }, inout(b));
      g.run([](int&) { ADD_FAILURE() << "comes after the first"; }, inout(a));
      try {
        g.wait();
        ADD_FAILURE() << "nothing was thrown";
      } catch (const std::runtime_error& e) { EXPECT_STREQ(e.what(), "first"); }
      EXPECT_EQ(before, 100);
      g.run([](int& x) { x = 9; }, inout(a));
      EXPECT_TRUE(g.wait());
      EXPECT_EQ(*a, 9);
    });
}

TEST_P(graph_with, cancelled_it_drops_what_has_not_begun) {
  const auto held = std::make_shared<int>(1);
  for (const bool ordered : {false, true})
    rt.run([&] {
      std::atomic<int> ran{0};
      graph g;
      if (ordered) g.earliest_first();
      auto a = g.make(held), b = g.make(held);
      for (int i = 0; i < 20'000; ++i) {
        g.run(
            [&, held](std::shared_ptr<int>&) {
              if (++ran == 5) g.cancel();
            },
            inout(a));
        g.run([&, held](std::shared_ptr<int>&, const std::shared_ptr<int>&) { ++ran; }, add(b),
              in(a));
      }
      EXPECT_FALSE(g.wait());
      EXPECT_LT(ran, 40'000);
    });
  EXPECT_EQ(held.use_count(), 1) << "something was not freed";
}

TEST_P(graph_with, cancelled_before_it_runs_a_long_chain_is_dropped) {
  const auto held = std::make_shared<int>(1);
  rt.run([&] {
    cancel_scope scope;
    const bool whole = scope.run([&] {
      graph g;
      auto a = g.make(0), gate = g.make(0);
      const bool alone = GetParam().workers == 1 || GetParam().check;
      std::atomic<bool> begun{alone}, open{alone};
      g.run(
          [&](int&) {
            begun = true;
            while (!open) std::this_thread::yield();
          },
          inout(gate));
      while (!begun) std::this_thread::yield();  // run() would run it here, were it not on another
      for (int i = 0; i < 100'000; ++i) g.run([held](int&, const int&) {}, inout(a), in(gate));
      scope.cancel();
      open = true;
      g.wait();
      poll();
    });
    EXPECT_FALSE(whole);
  });
  EXPECT_EQ(held.use_count(), 1) << "something was not freed";
}

/// What comes after a subtask that is dropped is dropped, all of it, whatever comes after that.
TEST_P(graph_with, all_that_comes_after_what_is_dropped_is_freed) {
  const auto held = std::make_shared<int>(1);
  const auto make = [&](graph& g, int readers) {
    if (readers % 2 == 1) g.earliest_first();
    auto x = g.make(0), y = g.make(0);
    const auto one = [&](auto... uses) { g.run([held](auto&&...) {}, uses...); };
    one(inout(x));
    for (int i = 0; i < readers; ++i) {
      if (i % 3 == 1) one(in(x), inout(y));
      else one(in(x));
    }
    for (int i = 0; i < readers; ++i) one(add(x), add(y));
    for (int i = 0; i < readers; ++i) one(in(x), in(y));
  };
  for (int readers = 0; readers < 12; ++readers) {
    struct left {};
    rt.run([&] {
      graph g;
      g.cancel();
      make(g, readers);
      EXPECT_FALSE(g.wait());
    });
    EXPECT_EQ(held.use_count(), 1) << readers << " readers, cancelled before";
    rt.run([&] {
      graph g;
      make(g, readers);
      g.cancel();
      EXPECT_FALSE(g.wait());
    });
    EXPECT_EQ(held.use_count(), 1) << readers << " readers, cancelled";
    EXPECT_THROW(rt.run([&] {
      graph g;
      make(g, readers);
      throw left();
    }),
                 left);
    EXPECT_EQ(held.use_count(), 1) << readers << " readers, left by an exception";
  }
}

TEST_P(graph_with, left_by_an_exception_it_waits) {
  const auto held = std::make_shared<int>(1);
  EXPECT_THROW(rt.run([&] {
    graph g;
    auto a = g.make(0);
    for (int i = 0; i < 100; ++i) g.run([held](int&) { disturb(7); }, inout(a));
    throw std::runtime_error("meanwhile");
  }),
               std::runtime_error);
  EXPECT_EQ(held.use_count(), 1);
}

TEST_P(graph_with, wrong_data_and_threads_are_refused) {
  rt.run([] {
    graph g, other;
    auto a = g.make(1), b = other.make(2);
    EXPECT_THROW(g.run([](int&) {}, inout(b)), std::invalid_argument);
    EXPECT_THROW(g.run([](int&, int&) {}, inout(a), inout(datum<int>{})), std::invalid_argument);
    const auto first = other.run([](int&) {}, inout(b));
    EXPECT_THROW(g.run([](int&) {}, inout(a), after(first)), std::invalid_argument);
    other.run([](int&) {}, inout(b), after(first), after(cleave::subtask()));
    EXPECT_TRUE(g.wait());
    EXPECT_EQ(*a, 1);
    std::optional<graph> one;
    cleave::subtask of_the_last;
    for (int i = 0; i < 3; ++i) {  // at the same place
      one.emplace();
      auto c = one->make(1);
      const auto use = [&] { of_the_last = one->run([](int&) {}, inout(c), after(of_the_last)); };
      if (i == 0) use();
      else EXPECT_THROW(use(), std::invalid_argument);
    }
    std::thread([&] {
      EXPECT_THROW(g.run([](int&) {}, inout(a)), std::logic_error);
      EXPECT_THROW(g.wait(), std::logic_error);
      EXPECT_THROW(g.make(1), std::logic_error);
    }).join();
  });
}

}  // namespace
}  // namespace cleave::tests
