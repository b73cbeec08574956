// What a subtask writes goes at once to nodes that have read the last two values of several of the
// data; nothing else goes before it is read.
#include "node/random_uses.hpp"
#include "node/team_of.hpp"

#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace cleave::tests {
namespace {

struct program {
  static constexpr std::size_t length = 20'000;
  using list = std::vector<int>;
  int data = 0, rounds = 0, unread = 0;
  bool adds = false;
  auto input() { return std::tie(data, rounds, unread, adds); }

  /// The first node writes, the second one reads each datum with a subtask of its own.
  int run(team& all) const {
    team_graph g(all);
    std::vector<datum<list>> lists;
    std::vector<datum<int>> sums;
    for (int k = 0; k < data; ++k) {
      lists.push_back(g.make(list(length, 0)));
      sums.push_back(g.make(0));
      g.set_home(sums.back(), 1);
    }
    for (int round = 1; round <= rounds + unread; ++round) {
      if (adds) {
        const auto add_one = [](values<list> to) {
          for (list& l : to) ++l.front();
        };
        g.run(add_one, add(lists), on(0));
      } else {
        const auto write = [round](values<list> to) {
          for (list& l : to) l.assign(length, round);
        };
        g.run(write, out(lists), on(0));
      }
      if (round > rounds) continue;
      for (int k = 0; k < data; ++k) {
        const auto read = [](const list& l, int& sum) { sum += l.front(); };
        g.run(read, in(lists[std::size_t(k)]), inout(sums[std::size_t(k)]));
      }
    }
    g.wait();
    for (const auto& s : sums) g.bring(s);
    g.wait();
    return std::accumulate(sums.begin(), sums.end(), 0,
                           [](int sum, const auto& s) { return sum + *s; });
  }
};

std::uint64_t lists_sent(const job& j, std::size_t node) {
  return j.nodes[node]->carried().sent_bytes / (program::length * sizeof(int));
}
/// How many lists the first of two nodes has sent, after the right sums were found.
std::uint64_t sent(const program& p) {
  job j(2, 1);
  EXPECT_EQ(j.root().run_on_all(p), p.data * p.rounds * (p.rounds + 1) / 2);
  return lists_sent(j, 0);
}

TEST(push, what_was_read_twice_goes_before_it_is_read) {
  EXPECT_EQ(sent({4, 2, 1}), 4u * 3);
  EXPECT_EQ(sent({4, 5, 1}), 4u * 6);
}

TEST(push, what_nobody_has_read_since_goes_no_more) { EXPECT_EQ(sent({4, 3, 5}), 4u * 4); }

TEST(push, what_was_read_once_waits_until_it_is_read_again) { EXPECT_EQ(sent({4, 1, 3}), 4u); }

TEST(push, a_single_datum_waits_until_it_is_read) { EXPECT_EQ(sent({1, 4, 3}), 4u); }

TEST(push, what_is_added_to_waits_until_it_is_read) { EXPECT_EQ(sent({4, 4, 3, true}), 4u * 4); }

/// In each of some rounds the first node writes lists; Round says who reads them.
template <class Round>
struct written_by_the_first {
  using list = program::list;
  int lists = 0, rounds = 0;
  auto input() { return std::tie(lists, rounds); }
  int run(team& all) const {
    team_graph g(all);
    std::vector<datum<list>> data;
    for (int k = 0; k < lists; ++k) data.push_back(g.make(list(program::length, 0)));
    const auto write = [&] {
      const auto assign = [](values<list> to) {
        for (list& l : to) l.assign(program::length, 1);
      };
      g.run(assign, out(data), on(0));
    };
    for (int round = 0; round < rounds; ++round) Round()(g, all.size(), data, write);
    g.wait();
    return rounds;
  }
};

/// It ends with a subtask that changes what it has read, and so has it.
struct ends_where_it_is_read {
  void operator()(team_graph& g, unsigned, const auto& lists, const auto& write) const {
    write();
    g.run([](values<const program::list>) {}, in(lists), on(1));
    write();
    g.run([](values<program::list>) {}, inout(lists), on(1));
  }
};

TEST(push, nothing_goes_to_the_node_that_writes) {
  job j(2, 1);
  j.root().run_on_all(written_by_the_first<ends_where_it_is_read>{3, 4});
  EXPECT_EQ(lists_sent(j, 0), 3u * 8);
  EXPECT_EQ(lists_sent(j, 1), 0u);
}

struct all_read {
  void operator()(team_graph& g, unsigned nodes, const auto& lists, const auto& write) const {
    write();
    for (unsigned rank = 0; rank < nodes; ++rank)
      g.run([](values<const program::list>) {}, in(lists), on(rank));
  }
};

TEST(push, what_many_read_goes_by_a_tree) {
  job j(12, 1);
  j.root().run_on_all(written_by_the_first<all_read>{2, 5});
  for (std::size_t node = 0; node < j.nodes.size(); ++node)
    EXPECT_LE(lists_sent(j, node), 2u * 4 * 5) << "by node " << node;
}

// ---- random programs that repeat themselves

struct repeated : random_uses {
  static constexpr int pattern = 10, rounds = 12;
  int thrower = -1;  // the subtask that throws
  auto input() { return std::tie(seed, thrower); }

  using value = std::uint64_t;
  static void step(int i, const std::vector<const value*>& read, const std::vector<value*>& write) {
    value sum = static_cast<value>(i);
    for (const value* v : read) sum = mix(sum + *v);
    for (value* v : write) *v = sum = mix(sum + *v);
  }
  std::vector<value> by_calls() const {
    std::vector<value> v(data, 0);
    for (int i = 0; i < pattern * rounds; ++i) {
      const auto at = order(i % pattern);
      std::vector<const value*> read;
      std::vector<value*> write;
      for (std::size_t k = 0; k < 3; ++k) read.push_back(&v[at[k]]);
      for (std::size_t k = 3; k < 7; ++k) write.push_back(&v[at[k]]);
      step(i, read, write);
    }
    return v;
  }
  std::vector<value> run(team& all) const {
    team_graph g(all);
    std::vector<datum<value>> v;
    for (std::size_t k = 0; k < data; ++k) v.push_back(g.make<value>(0));
    for (int i = 0; i < pattern * rounds; ++i) {
      const auto at = order(i % pattern);
      std::vector<datum<value>> read, write;
      for (std::size_t k = 0; k < 3; ++k) read.push_back(v[at[k]]);
      for (std::size_t k = 3; k < 7; ++k) write.push_back(v[at[k]]);
      const auto f = [i, fails = i == thrower](values<const value> r, values<value> w) {
        disturb(static_cast<std::uint64_t>(i));
        if (fails) throw std::runtime_error("subtask " + std::to_string(i));
        std::vector<const value*> from;
        std::vector<value*> to;
        for (const value& one : r) from.push_back(&one);
        for (value& one : w) to.push_back(&one);
        step(i, from, to);
      };
      const auto where = static_cast<unsigned>(draw(i % pattern, 19)) % all.size();
      g.run(f, in(read), inout(write), on(where));
      if (i == pattern * rounds / 2) g.wait();
    }
    for (const auto& d : v) g.bring(d);
    g.wait();
    std::vector<value> result;
    for (const auto& d : v) result.push_back(*d);
    if (result != by_calls()) noted.add(all.rank(), "wrong");
    return result;
  }
};

INSTANTIATE_TEST_SUITE_P(push, team_of,
                         testing::Values(shape{2, 1, 0us}, shape{3, 1, 200us}, shape{4, 2, 0us}),
                         shape_name);

TEST_P(team_of, programs_that_repeat_themselves) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const repeated p{{seed}};
    EXPECT_EQ(j.root().run_on_all(p), p.by_calls()) << "seed " << seed;
    EXPECT_TRUE(noted.all().empty()) << "on another node, seed " << seed;
  }
}

TEST_P(team_of, programs_that_repeat_themselves_until_one_throws) {
  for (int thrower = 1; thrower < repeated::pattern * repeated::rounds; thrower += 9) {
    try {
      j.root().run_on_all(repeated{{7}, thrower});
      ADD_FAILURE() << thrower << " did not throw";
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(std::string(e.what()).substr(0, 8), "subtask ");
      EXPECT_NE(std::string(e.what()).find(std::to_string(thrower)), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace cleave::tests
