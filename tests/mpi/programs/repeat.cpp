// Rounds of a team's graph of which each rank makes its part once: values of some bytes to some
// hundred kilobytes, which each round changes. Prints what came out.
#include <cleave/cleave.hpp>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "mix.hpp"

namespace {

using value = std::uint64_t;
using values = std::vector<value>;
constexpr std::size_t width = 13;
constexpr std::uint64_t rounds = 50;

std::size_t length(std::size_t k) { return k == 3 ? 40'000 : k == 8 ? 2'000 : 1 + k; }

void change(const values& left, const values& right, values& of, std::uint64_t round) {
  for (std::size_t i = 0; i < of.size(); ++i)
    of[i] = mix(of[i] + 2 * left[i % left.size()] + 3 * right[i % right.size()] + round);
}

struct program {
  int throws_in = -1;  // the round in which the seventh subtask throws
  auto input() { return std::tie(throws_in); }

  static values by_calls() {
    std::vector<values> v;
    for (std::size_t k = 0; k < width; ++k) v.emplace_back(length(k), k);
    for (std::uint64_t round = 0; round < rounds; ++round)
      for (std::size_t k = 0; k < width; ++k)
        change(v[(k + width - 1) % width], v[(k + 1) % width], v[k], round);
    values first;
    for (const values& of : v) first.push_back(of.back());
    return first;
  }

  values run(cleave::team& all) const {
    using cleave::in, cleave::inout;
    cleave::team_graph g(all);
    std::vector<cleave::datum<values>> v;
    const auto rank_of = [&](std::size_t k) { return unsigned(k) * all.size() / unsigned(width); };
    for (std::size_t k = 0; k < width; ++k) {
      v.push_back(g.make<values>(length(k), k));
      g.set_home(v[k], rank_of(k));
    }
    std::vector<std::size_t> mine;
    for (std::size_t k = 0; k < width; ++k)
      for (const std::size_t near : {k, (k + 1) % width, (k + width - 1) % width})
        if (rank_of(near) == all.rank() && (mine.empty() || mine.back() != k)) mine.push_back(k);
    g.repeat(rounds, [&](std::uint64_t first) {
      g.for_mine(width, mine, [&](std::size_t k) {
        const auto f = [this, k, round = first](const values& left, const values& right,
                                                values& of) mutable {
          if (k == 7 && int(round) == throws_in)
            throw std::out_of_range("round " + std::to_string(round));
          change(left, right, of, round++);
        };
        g.run(f, in(v[(k + width - 1) % width]), in(v[(k + 1) % width]), inout(v[k]));
      });
    });
    for (const auto& d : v) g.bring(d);
    g.wait();
    values result;
    for (const auto& d : v) result.push_back(d->back());
    return result;
  }
};

}  // namespace

int main() {
  cleave::runtime rt;
  int wrong = 0;
  for (int again = 0; again < 3; ++again) {
    wrong += rt.run_on_all(program{}) != program::by_calls();
    try {
      rt.run_on_all(program{again * 17});
      ++wrong;
    } catch (const std::out_of_range& e) {
      wrong += std::string(e.what()) != "round " + std::to_string(again * 17);
    }
  }
  std::printf("nodes %u\n", rt.job().nodes);
  std::printf("wrong %d\n", wrong);
}
