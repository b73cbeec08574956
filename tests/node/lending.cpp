// Graphs of a team whose idle nodes are lent subtasks: what comes out, what is lent, and what goes
// wrong.
#include "node/team_of.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cleave::tests {
namespace {

using value = std::uint64_t;

INSTANTIATE_TEST_SUITE_P(, team_of,
                         testing::Values(shape{1, 2, 0us}, shape{2, 1, 0us}, shape{2, 2, 0us},
                                         shape{3, 1, 200us}, shape{5, 2, 0us}),
                         shape_name);

/// Subtasks that ran on another node than the one that has their place.
std::atomic<int> lent{0};

void compute(int microseconds) {
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

// ---- random programs

struct random_program {
  std::uint64_t seed = 0;
  int thrower = 1 << 30;  // some of the subtasks from that one on throw
  auto input() { return std::tie(seed, thrower); }
  static constexpr std::size_t data = 8;
  static constexpr int subtasks = 120;

  std::uint64_t draw(int i, std::uint64_t what) const {
    return random_at(seed * 100'000 + static_cast<std::uint64_t>(i) * 32 + what);
  }
  /// Which data it reads, changes and writes, in this order.
  std::array<std::size_t, data> order(int i) const {
    std::array<std::size_t, data> all{};
    for (std::size_t k = 0; k < data; ++k) all[k] = k;
    for (std::size_t k = data; k > 1; --k) std::swap(all[k - 1], all[draw(i, k) % k]);
    return all;
  }
  std::size_t reads(int i) const { return draw(i, 16) % 4; }
  std::size_t changes(int i) const { return draw(i, 17) % 3; }
  bool throws(int i) const { return i >= thrower && draw(i, 20) % 4 == 0; }
  bool waits_after(int i) const { return i % 40 == 39; }
  int first_thrown() const {
    for (int i = 0; i < subtasks; ++i)
      if (throws(i)) return i;
    return -1;
  }

  template <class Reads, class Changes>
  static void step(int i, const Reads& read, const Changes& change, value& written) {
    value sum = static_cast<value>(i);
    for (const value& v : read) sum = mix(sum + v);
    for (value& v : change) sum += v, v = mix(sum);
    written = mix(sum + 1);
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
      step(i, read, values<value>(change), v[at[k]]);
      if (i % 7 == 0) v[at[k]] += v[at[(k + 1) % data]];
      if (waits_after(i)) ++v[0];
    }
    return v;
  }
  std::vector<value> run(team& all) const {
    team_graph g(all, dynamic);
    std::vector<datum<value>> v;
    for (std::size_t k = 0; k < data; ++k) v.push_back(g.make<value>(0));
    // Most have their place on one node.
    for (const auto& d : v)
      if (draw(0, 21) % 2 == 0) g.set_home(d, static_cast<unsigned>(seed) % all.size());
    std::array<subtask, 4> before;
    for (int i = 0; i < subtasks; ++i) {
      const auto at = order(i);
      std::vector<datum<value>> read, change;
      std::size_t k = 0;
      while (read.size() < reads(i)) read.push_back(v[at[k++]]);
      while (change.size() < changes(i)) change.push_back(v[at[k++]]);
      const auto f = [i, this](values<const value> r, values<value> c, value& w) {
        compute(static_cast<int>(draw(i, 22) % 4) * 60);
        disturb(static_cast<std::uint64_t>(i));
        if (throws(i)) throw std::out_of_range(std::to_string(i));
        step(i, r, c, w);
      };
      auto& last = before[draw(i, 18) % before.size()];
      const unsigned where = static_cast<unsigned>(draw(i, 19)) % all.size();
      switch (i % 5) {
        case 0: last = g.run(f, in(read), inout(change), out(v[at[k]]), on(where)); break;
        case 1: last = g.run(f, in(read), inout(change), out(v[at[k]]), after(last)); break;
        case 2:
          last = g.run([f](value& w, values<value> c, values<const value> r) { f(r, c, w); },
                       out(v[at[k]]), inout(change), in(read));
          break;
        default: last = g.run(f, in(read), inout(change), out(v[at[k]]));
      }
      if (i % 7 == 0)
        g.run([](value& sum, const value& more) { sum += more; }, add(v[at[k]]),
              in(v[at[(k + 1) % data]]));
      if (waits_after(i)) {  // the program changes data that it has
        if (i % 80 == 79) g.bring(v[0]);
        else g.run([](value& w) { ++w; }, inout(v[0]));
        EXPECT_TRUE(g.wait());
        if (i % 80 == 79) ++*v[0];
      }
    }
    for (const auto& d : v) g.bring(d);
    EXPECT_TRUE(g.wait());
    std::vector<value> result;
    for (const auto& d : v) result.push_back(*d);
    if (result != by_calls()) noted.add(all.rank(), "wrong");
    return result;
  }
};

TEST_P(team_of, random_programs) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const random_program p{seed};
    EXPECT_EQ(j.root().run_on_all(p), p.by_calls()) << "seed " << seed;
    EXPECT_TRUE(noted.all().empty()) << "on another node, seed " << seed;
  }
}

TEST_P(team_of, the_first_exception_of_a_random_program) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const random_program p{seed, static_cast<int>(seed) * 12};
    try {
      j.root().run_on_all(p);
      EXPECT_EQ(p.first_thrown(), -1) << "seed " << seed;
    } catch (const std::out_of_range& e) {
      EXPECT_EQ(e.what(), std::to_string(p.first_thrown())) << "seed " << seed;
    }
  }
}

// ---- who runs what

/// All subtasks have their place on node 0, whose first one ends last.
struct is_held_up {
  int count = 0;
  auto input() { return std::tie(count); }
  std::vector<value> run(team& all) const {
    static std::atomic<int> done;
    if (all.rank() == 0) done = 0;
    team_graph g(all, dynamic);
    auto start = g.make(0);
    std::vector<datum<value>> v;
    for (int i = 0; i < count; ++i) {
      v.push_back(g.make<value>(i));
      g.set_home(v.back(), 0);
    }
    g.run(
        [this](int&) {
          while (done < count) std::this_thread::yield();
        },
        out(start), on(0));
    for (const auto& d : v)
      g.run(
          [&all](value& x) {
            compute(50);
            x = mix(x), ++done;
            if (all.rank() != 0) ++lent;
          },
          inout(d));
    for (const auto& d : v) g.bring(d);
    g.wait();
    std::vector<value> result;
    for (const auto& d : v) result.push_back(*d);
    return result;
  }
};

TEST_P(team_of, others_do_what_a_node_that_is_held_up_does_not) {
  if (size == 1) return;
  constexpr int count = 40;
  lent = 0;
  const auto result = j.root().run_on_all(is_held_up{count});
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(result[static_cast<std::size_t>(i)], mix(static_cast<value>(i)));
  // A worker of node 0 is held up, and others there may run what they like.
  if (GetParam().workers == 1) EXPECT_EQ(lent, count);
  else EXPECT_GT(lent, 0);
}

}  // namespace
}  // namespace cleave::tests
