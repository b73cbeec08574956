// A graph of which each node makes only what concerns it.
#include "node/parts_of_nodes.hpp"
#include "node/team_of.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace cleave::tests {
namespace {

INSTANTIATE_TEST_SUITE_P(, team_of,
                         testing::Values(shape{1, 2, 0us}, shape{2, 1, 0us}, shape{3, 1, 200us},
                                         shape{5, 2, 0us}),
                         shape_name);

struct random_parts : parts_of_nodes {
  int throws_at = -1, left_out_by = -1;
  auto input() { return std::tie(seed, throws_at, left_out_by); }

  std::vector<value> by_calls() const {
    std::vector<value> v(data);
    for (int i = 0; i < parts; ++i) {
      std::vector<value> reads;
      for (const std::size_t d : read(i)) reads.push_back(v[d]);
      v[written(i)] = changed(i, v[written(i)], reads);
    }
    return v;
  }
  std::vector<value> run(team& all) const {
    team_graph g(all);
    std::vector<datum<value>> v;
    for (std::size_t k = 0; k < data; ++k) v.push_back(g.make<value>(0));
    const auto make = [&](int i) {
      std::vector<datum<value>> reads;
      for (const std::size_t d : read(i)) reads.push_back(v[d]);
      const auto f = [i, *this](values<const value> r, value& to) {
        disturb(static_cast<std::uint64_t>(i));
        if (i == throws_at) throw std::domain_error("at " + std::to_string(i));
        to = changed(i, to, {r.begin(), r.end()});
      };
      if (adds(i)) g.run(f, in(reads), add(v[written(i)]));
      else g.run(f, in(reads), inout(v[written(i)]));
    };
    std::vector<int> mine = of(all.rank(), all.size());
    if (static_cast<int>(all.rank()) == left_out_by)
      std::erase_if(mine, [&](int i) { return written(i) % all.size() != all.rank(); });
    // All make some, then each makes its own, and again.
    const auto middle = std::ranges::lower_bound(mine, parts / 2);
    const std::vector<int> first(mine.begin(), middle), rest(middle, mine.end());
    g.for_mine(parts, first, make);
    if (seed % 2 == 0) {
      g.run([](value&) {}, inout(v[0]));
      EXPECT_TRUE(g.wait() || left_out_by >= 0);
    }
    g.for_mine(parts, rest, [&](int i) { make(i); });
    bool threw = false;
    try {
      g.wait();
    } catch (const std::domain_error& e) { threw = e.what() == "at " + std::to_string(throws_at); }
    if (threw != (throws_at >= 0)) noted.add(all.rank(), "another exception");
    // What follows is made by all.
    for (std::size_t k = 0; k + 1 < data; ++k)
      g.run([](const value& a, value& to) { to = mix(to + a); }, in(v[k]), inout(v[k + 1]),
            on(static_cast<unsigned>(k) % all.size()));
    for (const auto& d : v) g.bring(d);
    EXPECT_TRUE(g.wait() || left_out_by >= 0);
    std::vector<value> result;
    std::string seen;
    for (const auto& d : v) result.push_back(*d), seen += ' ' + std::to_string(*d);
    noted.add(all.rank(), seen);
    return result;
  }
  std::vector<value> expected() const {
    std::vector<value> v = by_calls();
    for (std::size_t k = 0; k + 1 < data; ++k) v[k + 1] = mix(v[k + 1] + v[k]);
    return v;
  }
};

TEST_P(team_of, random_parts_of_mine) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const random_parts p{{seed}};
    EXPECT_EQ(j.root().run_on_all(p), p.expected()) << "seed " << seed;
  }
}

TEST_P(team_of, a_part_of_mine_throws) {
  for (const int at : {0, 17, 120, 199}) {
    noted.clear();
    // Later parts may have run in vain, but all nodes go on from the same.
    j.root().run_on_all(random_parts{{static_cast<std::uint64_t>(at) * 2 + 1}, at});
    EXPECT_EQ(noted.all().size(), size);
    for (const auto& [rank, seen] : noted.all()) EXPECT_EQ(seen, noted.all()[0]) << at;
  }
}

TEST_P(team_of, a_part_that_concerns_it_is_left_out) {
  if (size == 1) return;
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    EXPECT_THROW(j.root().run_on_all(random_parts{{seed}, -1, static_cast<int>(seed % size)}),
                 std::logic_error);
}

template <int Which>
struct refused {
  int unused = 0;
  auto input() { return std::tie(unused); }
  void run(team& all) const {
    team_graph g(all);
    auto x = g.make(0), y = g.make(0);
    const std::array one{0};
    const auto f = [](int&) {};
    if (Which == 0) g.for_mine(1, one, [&](int) { g.run(f, inout(x), on(1)); });
    if (Which == 1) g.for_mine(1, one, [&](int) { g.run([] {}); });
    if (Which == 2) g.for_mine(1, std::array{1}, [&](int) { g.run(f, inout(x)); });
    if (Which == 3) g.for_mine(2, std::array{1, 0}, [&](int) { g.run(f, inout(x)); });
    if (Which == 4) g.for_mine(1, one, [&](int) { g.bring(x); });
    if (Which == 5) g.for_mine(1, one, [&](int) { g.make(1); });
    if (Which == 6) g.for_mine(1, one, [&](int) { g.wait(); });
    if (Which == 7) g.for_mine(1, one, [&](int) { g.for_mine(1, one, [](int) {}); });
    if (Which == 8) {
      g.run(f, inout(y), on(0));  // its home is 1
      g.for_mine(1, one, [&](int) { g.run(f, inout(x)); });
    }
    if (Which == 9)
      g.for_mine(2, std::array{0, 1}, [&](int) {
        for (int i = 0; i < 3000; ++i) g.run(f, inout(x));
      });
  }
};

template <int Which>
void expect_refused(test_node& rt) {
  if constexpr (Which < 10) {
    try {
      rt.run_on_all(refused<Which>{});
      ADD_FAILURE() << Which << " is allowed";
    } catch (const std::logic_error& e) {
      EXPECT_NE(std::string(e.what()).find("team_graph::for_mine: "), std::string::npos)
          << Which << ": " << e.what();
    }
    expect_refused<Which + 1>(rt);
  }
}

TEST(for_mine, says_what_it_cannot_do) {
  noted.clear();
  job j(2, 1);
  expect_refused<0>(j.root());
}

}  // namespace
}  // namespace cleave::tests
