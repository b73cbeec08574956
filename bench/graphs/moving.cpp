// A stencil whose load moves: a dense drop travels along the columns, so no placement is good for
// long. Started by mpirun: columns begin in equal shares, or where --plan says; with --replan they
// are placed anew while the graph runs. Prints one JSON object.
//
//     mpirun -n 2 moving --replan 20                    # anew every 20 steps, or more
//     mpirun -n 2 moving --replan 20 --steps 1200 --still 900   # the load moves late
//     mpirun -n 2 moving --plan FILE --first 20         # records the first 20 steps
//     mpirun -n 2 moving --plan FILE                    # follows what was found for them
#include <algorithm>
#include <chrono>
#include <cleave/cleave.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace {

using clock = std::chrono::steady_clock;
using cell = std::vector<std::uint64_t>;
using row = std::vector<cleave::datum<cell>>;

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  return x ^ x >> 27;
}

struct moving {
  int columns = 64, steps = 600, words = 64, replan = 0;
  int first = 0;                          // only so many steps, to record a plan of them
  int still = 0;                          // the drop stays for so many steps before it moves
  double microseconds = 40, density = 8;  // of a column outside the drop; how much denser it is
  bool moves = true;
  std::string plan;
  auto input() {
    return std::tie(columns, steps, words, replan, first, still, microseconds, density, moves,
                    plan);
  }

  int last() const { return first != 0 ? first : steps; }
  std::size_t left_of(int c) const { return std::size_t((c + columns - 1) % columns); }
  std::size_t right_of(int c) const { return std::size_t((c + 1) % columns); }
  // How long column c takes in a step.
  double time_of(int c, int step) const {
    const double part = double(std::max(step - still, 0)) / std::max(steps - still, 1);
    const double where = moves ? part * columns : columns / 8.0;
    const double from_it = (c - where) / (columns / 16.0);
    return microseconds * (1 + density * std::exp(-from_it * from_it));
  }
  static void change(std::size_t k, int step, const cell& left, const cell& middle,
                     const cell& right, cell& to) {
    to[k] = mix(middle[k] + left[k] * 3 + right[k] * 5 + std::uint64_t(step));
  }
  void compute(int c, int step, const cell& left, const cell& middle, const cell& right,
               cell& to) const {
    const auto until =
        clock::now() + std::chrono::nanoseconds(std::int64_t(1000 * time_of(c, step)));
    for (std::size_t k = 0; k < to.size(); k++) change(k, step, left, middle, right, to);
    while (clock::now() < until) {}
  }
  std::uint64_t by_calls() const {
    std::vector<cell> all;
    for (int c = 0; c < columns; c++) all.emplace_back(std::size_t(words), std::uint64_t(c));
    auto next = all;
    for (int step = 0; step < last(); step++, all.swap(next))
      for (int c = 0; c < columns; c++)
        for (std::size_t k = 0; k < std::size_t(words); k++)
          change(k, step, all[left_of(c)], all[std::size_t(c)], all[right_of(c)],
                 next[std::size_t(c)]);
    std::uint64_t sum = 0;
    for (const cell& each : all) sum = mix(sum + each.front() + each.back());
    return sum;
  }

  // Seconds, and the sum of all columns.
  std::pair<double, std::uint64_t> run(cleave::team& all) const {
    cleave::team_graph g(all, plan);
    if (replan != 0) g.replan_every(unsigned(replan));
    row data, next;
    for (row* each : {&data, &next})
      for (int c = 0; c < columns; c++) {
        each->push_back(g.make<cell>(std::size_t(words), std::uint64_t(c)));
        g.set_home(each->back(), unsigned(c) * all.size() / unsigned(columns));
      }
    g.wait();
    const auto begin = clock::now();
    for (int step = 0; step < last(); step++, data.swap(next))
      for (int c = 0; c < columns; c++)
        g.run(
            "column",
            [this, c, step](const cell& left, const cell& middle, const cell& right, cell& to) {
              compute(c, step, left, middle, right, to);
            },
            in(data[left_of(c)]), in(data[std::size_t(c)]), in(data[right_of(c)]),
            out(next[std::size_t(c)]));
    for (auto each : data) g.bring(each);
    g.wait();
    const std::chrono::duration<double> took = clock::now() - begin;
    std::uint64_t sum = 0;
    for (auto each : data) sum = mix(sum + each->front() + each->back());
    return {took.count(), sum};
  }
};

}  // namespace

int main(int argc, char** argv) {
  cleave::runtime runtime(argc, argv);
  moving what;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--columns") what.columns = std::atoi(argv[i + 1]);
    else if (option == "--steps") what.steps = std::atoi(argv[i + 1]);
    else if (option == "--first") what.first = std::atoi(argv[i + 1]);
    else if (option == "--still") what.still = std::atoi(argv[i + 1]);
    else if (option == "--words") what.words = std::atoi(argv[i + 1]);
    else if (option == "--us") what.microseconds = std::atof(argv[i + 1]);
    else if (option == "--density") what.density = std::atof(argv[i + 1]);
    else if (option == "--moves") what.moves = std::atoi(argv[i + 1]) != 0;
    else if (option == "--replan") what.replan = std::atoi(argv[i + 1]);
    else if (option == "--plan") what.plan = argv[i + 1];
    else return std::fprintf(stderr, "moving: %s: unknown option\n", argv[i]), 2;
  }
  const auto [seconds, sum] = runtime.run_on_all(what);
  double ideal = 0;
  for (int step = 0; step < what.last(); step++)
    for (int c = 0; c < what.columns; c++) ideal += what.time_of(c, step) / 1e6;
  const bool right = sum == what.by_calls();
  std::printf("{\"seconds\":%.3f,\"work\":%.3f,\"replan\":%d,\"right\":%s}\n", seconds, ideal,
              what.replan, right ? "true" : "false");
  return right ? 0 : 1;
}
