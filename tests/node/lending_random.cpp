// Random graphs of a team whose idle nodes are lent subtasks compute what calls would.
#include "node/lending.hpp"
#include "node/random_uses.hpp"

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace cleave::tests {
namespace {

INSTANTIATE_TEST_SUITE_P(, team_of, lending_shapes(), shape_name);

struct random_program : random_uses {
  int thrower = 1 << 30;  // some of the subtasks from that one on throw
  auto input() { return std::tie(seed, thrower); }
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
  for (std::uint64_t seed = 0; seed < (size > 3 ? 3 : 8); ++seed) {
    const random_program p{{seed}};
    EXPECT_EQ(j.root().run_on_all(p), p.by_calls()) << "seed " << seed;
    EXPECT_TRUE(noted.all().empty()) << "on another node, seed " << seed;
  }
}

TEST_P(team_of, the_first_exception_of_a_random_program) {
  for (std::uint64_t seed = 0; seed < (size > 3 ? 3 : 8); ++seed) {
    const random_program p{{seed}, static_cast<int>(seed) * 12};
    try {
      j.root().run_on_all(p);
      EXPECT_EQ(p.first_thrown(), -1) << "seed " << seed;
    } catch (const std::out_of_range& e) {
      EXPECT_EQ(e.what(), std::to_string(p.first_thrown())) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace cleave::tests
