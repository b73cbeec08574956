#include "sim/tree.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "protocol/strategy.hpp"
#include "uts/tree.hpp"

namespace sim {
namespace {

using cleave::net::random_numbers;

/// Appends a subtree of at most `budget` nodes and returns its height.
unsigned grow(tree& t, random_numbers& random, std::uint32_t budget, unsigned& repeats) {
  const std::size_t self = t.size.size();
  t.size.push_back(1);
  std::uint32_t rest = budget - 1;
  unsigned height = 0, below = 0;
  std::uint32_t children = 0;
  while (rest != 0 && children < 40) {
    // Now and then one child gets most of the rest: trees are deep as well as broad.
    const auto part = static_cast<std::uint32_t>(
        random.below(4) == 0 ? random.below(rest) + 1 : random.below(rest / 4 + 1) + 1);
    unsigned deeper = 0;
    height = std::max(height, grow(t, random, part, deeper));
    below = std::max(below, deeper);
    rest -= part;
    ++children;
    if (random.below(12) == 0) break;
  }
  repeats = below + static_cast<unsigned>(std::bit_width(children));
  t.size[self] = static_cast<std::uint32_t>(t.size.size() - self);
  return height + 1;
}

unsigned grow_uts(tree& t, const apps::uts::tree& uts, const apps::uts::node& n,
                  unsigned& repeats) {
  const std::size_t self = t.size.size();
  t.size.push_back(1);
  unsigned height = 0, below = 0;
  const int children = uts.children(n);
  for (int i = 0; i < children; ++i) {
    unsigned deeper = 0;
    height = std::max(height, grow_uts(t, uts, n.child(i), deeper));
    below = std::max(below, deeper);
  }
  repeats = below + static_cast<unsigned>(std::bit_width(static_cast<unsigned>(children)));
  t.size[self] = static_cast<std::uint32_t>(t.size.size() - self);
  return height + 1;
}

tree grown(const apps::uts::parameters& p) {
  const apps::uts::tree uts(p);
  tree t;
  t.height = grow_uts(t, uts, uts.root(), t.repeats);
  return t;
}

std::uint64_t mix(std::uint64_t i) { return random_numbers(i).next(); }

void give_values(tree& t, random_numbers& random) {
  const std::uint32_t n = t.nodes();
  std::vector<std::uint32_t> order(n);
  for (std::uint32_t i = 0; i < n; ++i) order[i] = i + 1;
  for (std::uint32_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  t.value = std::move(order);
  t.limit = t.value;
  for (std::uint32_t i = n; i-- > 0;) {
    for (std::uint32_t c = i + 1; c < i + t.size[i]; c += t.size[c])
      t.limit[i] = std::max(t.limit[i], t.limit[c]);
  }
}

}  // namespace

std::uint32_t tree::best() const { return *std::max_element(value.begin(), value.end()); }

tally tally_of(std::uint32_t from, std::uint32_t to) {
  tally t{to - from, 0};
  for (std::uint32_t i = from; i < to; ++i) t.sum += mix(i);
  return t;
}

tree random_tree(std::uint64_t seed, std::uint32_t nodes, bool with_errors) {
  random_numbers random(seed);
  tree t;
  // A root with less than half of what was wanted is drawn again.
  do {
    t.size.clear();
    t.height = grow(t, random, nodes, t.repeats);
  } while (t.nodes() < nodes / 2);
  give_values(t, random);
  t.throws.assign(t.nodes(), false);
  // The error often comes early: then much of what was given away is not waited for.
  if (with_errors) t.throws[random.below(random.below(2) == 0 ? t.nodes() : t.nodes() / 8)] = true;
  return t;
}

tree uts_tree(int depth, int seed) {
  apps::uts::parameters p;
  p.form = apps::uts::shape::fixed;
  p.depth = depth;
  p.seed = seed;
  return grown(p);
}

tree uts_tree(std::string_view name) {
  const auto* const end = std::end(apps::uts::samples);
  const auto* const sample = std::find_if(std::begin(apps::uts::samples), end,
                                          [&](const auto& one) { return one.name == name; });
  if (sample == end) throw std::invalid_argument("no tree of UTS: " + std::string(name));
  return grown(sample->tree);
}

tree binomial_tree(int root_children, double q, int m, int seed) {
  apps::uts::parameters p;
  p.type = apps::uts::kind::binomial;
  p.branching = root_children;
  p.q = q;
  p.m = m;
  p.seed = seed;
  return grown(p);
}

}  // namespace sim
