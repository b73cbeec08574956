// Molecular dynamics: forces are those between all pairs, blocks change nothing, and the subtasks
// of any number of workers find what the plain program finds, bit for bit.
#include "md/md.hpp"

#include <gtest/gtest.h>
#include <cleave/cleave.hpp>

#include <array>
#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>
#include <vector>

#include "md/sequential.hpp"

namespace apps::md {
namespace {

template <class Blocks>
std::vector<state> plain(const melt& m, const Blocks& blocks, int steps, int every) {
  return sequential::simulation(m, grid(m, blocks)).run(steps, every);
}

// Each pair by itself, and of all its images the nearest.
state by_all_pairs(const melt& m) {
  const auto nearest = [](double d, double size) { return d - size * std::round(d / size); };
  energies sum;
  for (std::size_t i = 0; i < m.position.size(); i++) {
    sum.motion += dot(m.velocity[i], m.velocity[i]);
    for (std::size_t j = i + 1; j < m.position.size(); j++) {
      const vec3 d = m.position[i] - m.position[j];
      const double x = nearest(d.x, m.size.x), y = nearest(d.y, m.size.y),
                   z = nearest(d.z, m.size.z);
      const double r2 = x * x + y * y + z * z;
      if (r2 >= cutoff * cutoff) continue;
      const double r6 = r2 * r2 * r2;
      sum.potential += 4 / (r6 * r6) - 4 / r6;
      sum.virial += 48 / (r6 * r6) - 24 / r6;
    }
  }
  return state_at(0, m, sum);
}

void expect_near(const state& a, const state& b, double relative) {
  EXPECT_EQ(a.step, b.step);
  EXPECT_NEAR(a.temperature, b.temperature, relative);
  EXPECT_NEAR(a.potential, b.potential, 10 * relative);
  EXPECT_NEAR(a.total, b.total, 10 * relative);
  EXPECT_NEAR(a.pressure, b.pressure, 10 * relative);
}

// Not a crystal any more.
melt stirred(int n) {
  melt m = lattice(n);
  random_numbers next(7);
  for (vec3& p : m.position)
    p += vec3{0.2 * next.fraction(), 0.2 * next.fraction(), 0.2 * next.fraction()};
  return m;
}

TEST(md, begins_as_it_is_told) {
  const melt m = lattice(5);
  EXPECT_EQ(m.position.size(), 500u);
  EXPECT_NEAR(500 / (m.size.x * m.size.y * m.size.z), 0.8442, 1e-12);
  const state begin = plain(m, 1, 0, 1)[0];
  EXPECT_NEAR(begin.temperature, 1.44, 1e-12);
  vec3 sum;
  for (const vec3& v : m.velocity) sum += v;
  EXPECT_NEAR(length(sum), 0, 1e-10);
}

TEST(md, forces_are_those_between_all_pairs) {
  for (const int n : {4, 5}) {
    const melt m = stirred(n);
    for (const int blocks : {1, 2, 3})
      expect_near(plain(m, blocks, 0, 1)[0], by_all_pairs(m), 1e-12);
  }
}

TEST(md, blocks_change_nothing_but_the_order_of_sums) {
  const melt m = stirred(7);
  const auto one = plain(m, 1, 100, 20);
  ASSERT_EQ(one.size(), 6u);
  for (const int blocks : {2, 3, 4}) {
    const auto several = plain(m, blocks, 100, 20);
    for (std::size_t i = 0; i < one.size(); i++) expect_near(several[i], one[i], 1e-9);
  }
}

TEST(md, energy_stays_and_atoms_move) {
  const auto all = plain(stirred(6), 2, 400, 100);
  for (const state& s : all) EXPECT_NEAR(s.total, all[0].total, 0.03);
  EXPECT_GT(std::abs(all.back().potential - all[0].potential), 0.1);
}

TEST(md, a_drop_is_dense_and_travels_as_a_whole) {
  const melt m = drop(6);
  const double width = m.size.y, radius = width / 3;
  EXPECT_NEAR(m.size.x, 3 * width, 1e-12);
  double inside = 0, outside = 0;
  vec3 motion;
  for (std::size_t i = 0; i < m.position.size(); i++) {
    const vec3 off = m.position[i] - vec3{width / 2, width / 2, width / 2};
    const bool is_inside = dot(off, off) < radius * radius;
    (is_inside ? inside : outside) += 1;
    if (is_inside) motion += m.velocity[i];
  }
  const double volume = 4 * std::numbers::pi / 3 * radius * radius * radius;
  EXPECT_NEAR(inside / volume, 0.75, 0.08);
  EXPECT_LT(outside / (3 * width * width * width - volume), 0.04);
  EXPECT_NEAR(motion.x / inside, 2, 0.2);
  const auto one = plain(m, 1, 60, 20), slabs = plain(m, std::array{12, 1, 1}, 60, 20);
  for (std::size_t i = 0; i < one.size(); i++) expect_near(slabs[i], one[i], 1e-9);
}

struct simulated {
  melt atoms;
  int blocks = 1, steps = 0, every = 1;
  bool apart = false, lone = false;
  auto input() { return std::tie(atoms, blocks, steps, every, apart, lone); }
  std::vector<state> run(cleave::team& all) const {
    cleave::team_graph g(all);
    parallel::simulation s(atoms, grid(atoms, blocks), g, all.size(), apart);
    if (lone) s.make_lone();
    return s.run(steps, every);
  }
};

TEST(md, subtasks_find_the_same_bit_for_bit) {
  const melt m = stirred(6);
  for (const auto& [blocks, every] : {std::pair(1, 7), std::pair(2, 20), std::pair(3, 1)}) {
    const auto expected = plain(m, blocks, 45, every);
    for (const int workers : {1, 2, 5}) {
      cleave::options o;
      o.workers = workers;
      cleave::runtime rt(o);
      for (const auto& [apart, lone] : {std::pair(false, false), {true, false}, {false, true}})
        EXPECT_EQ(rt.run_on_all(simulated{m, blocks, 45, every, apart, lone}), expected)
            << blocks << " blocks, every " << every << ", " << workers << " workers" << apart
            << lone;
    }
  }
}

struct telling {
  int node = 0;
  auto input() { return std::tie(node); }
  std::vector<std::size_t> run(cleave::team& all) const {
    cleave::team_graph g(all);
    const auto make = [&g] { return g.make<std::vector<int>>(); };
    parallel::told<int> first, second, third;
    for (int k = 0; k < half; k++) {
      first.add(k, k % 2, make);  // the neighbours are on two nodes in turn
      second.add(k, k, make);     // each is on another
    }
    for (int k = 0; k < half; k++) third.read(k, k < 4 ? first : second, k < 4 ? 7 : 8);
    for (auto* const t : {&first, &second})
      g.run(
          "tell",
          [t](cleave::values<std::vector<int>> to) {
            for (int k = 0; k < half; k++) t->in(to, k) = 10 * k;
          },
          cleave::out(t->data()));
    auto sum = g.make(0);
    g.run(
        "read",
        [&third](cleave::values<const std::vector<int>> from, int& to) {
          for (int k = 0; k < half; k++) to += third.in(from, k) == 10 * k ? 1 : 0;
        },
        cleave::in(third.data()), cleave::inout(sum));
    g.wait();
    return {first.data().size(), second.data().size(), third.data().size(),
            static_cast<std::size_t>(*sum)};
  }
};

TEST(md, what_goes_to_one_node_is_one_datum) {
  cleave::runtime rt;
  EXPECT_EQ(rt.run_on_all(telling{}), (std::vector<std::size_t>{2, 13, 2 + 9, 13}));
}

}  // namespace
}  // namespace apps::md
