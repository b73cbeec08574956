// Graphs of a team whose idle ranks are lent subtasks: those of rank 0 take long. Prints what came
// out, and how many subtasks ran elsewhere.
#include <cleave/cleave.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "mix.hpp"

namespace {

using value = std::uint64_t;
constexpr std::size_t width = 12;
constexpr int steps = 40;

struct item {
  value v = 0;
  int elsewhere = 0;
  std::vector<value> ballast = {};
  auto fields() { return std::tie(v, elsewhere, ballast); }
};

/// Which two data a subtask reads, and which one it changes or writes.
std::array<std::size_t, 3> used(value seed, int i) {
  const value r = mix(seed * 1000 + value(i));
  const std::size_t a = r % width, b = (a + 1 + r / width % (width - 1)) % width;
  std::size_t c = (b + 1) % width;
  while (c == a || c == b) c = (c + 1) % width;
  return {a, b, c};
}

struct program {
  value seed = 0;
  bool throws = false;
  auto input() { return std::tie(seed, throws); }

  std::vector<value> by_calls() const {
    std::vector<value> v(width);
    for (int i = 0; i < steps * int(width); ++i) {
      const auto [a, b, c] = used(seed, i);
      v[c] = i % 3 == 0 ? mix(v[a] + 2 * v[b]) : mix(v[a] + 2 * v[b] + 3 * v[c]);
    }
    return v;
  }
  std::vector<item> run(cleave::team& all) const {
    using cleave::in, cleave::inout, cleave::out;
    cleave::team_graph g(all, cleave::dynamic);
    std::vector<cleave::datum<item>> v;
    for (std::size_t k = 0; k < width; ++k) {
      v.push_back(g.make(item{0, 0, std::vector<value>(1000)}));
      g.set_home(v.back(), k % 3 == 0 ? unsigned(k) % all.size() : 0);
    }
    for (int i = 0; i < steps * int(width); ++i) {
      const auto [a, b, c] = used(seed, i);
      const bool is_new = i % 3 == 0, is_home = c % 3 != 0;
      const auto f = [=, this, &all](const item& x, const item& y, item& z) {
        std::this_thread::sleep_for(std::chrono::microseconds(all.rank() == 0 ? 200 : 100));
        if (throws && i == 100) throw std::out_of_range("subtask 100");
        z.v = is_new ? mix(x.v + 2 * y.v) : mix(x.v + 2 * y.v + 3 * z.v);
        if (is_new) z.elsewhere = 0;
        z.elsewhere += is_home && all.rank() != 0;
      };
      if (is_new) g.run(f, in(v[a]), in(v[b]), out(v[c]));
      else g.run(f, in(v[a]), in(v[b]), inout(v[c]));
      if (i == 200) g.wait();
    }
    for (const auto& d : v) g.bring(d);
    g.wait();
    std::vector<item> result;
    for (const auto& d : v) result.push_back(*d);
    return result;
  }
};

}  // namespace

int main() {
  cleave::runtime rt;
  int wrong = 0, elsewhere = 0;
  for (value seed = 0; seed < 3; ++seed) {
    const program p{seed};
    const auto expected = p.by_calls();
    const auto result = rt.run_on_all(p);
    for (std::size_t k = 0; k < width; ++k)
      wrong += result[k].v != expected[k], elsewhere += result[k].elsewhere;
    try {
      rt.run_on_all(program{seed, true});
      ++wrong;
    } catch (const std::out_of_range& e) { wrong += std::string(e.what()) != "subtask 100"; }
  }
  std::printf("nodes %u\n", rt.job().nodes);
  std::printf("wrong %d\n", wrong);
  std::printf("elsewhere %s\n", elsewhere != 0 ? "some" : "none");
}
