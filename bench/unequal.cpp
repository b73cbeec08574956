// Nodes that are not equally fast: the steps of a stencil, whose columns lie in slabs on the ranks.
// Subtasks of one rank take twice as long, or its cgroup has half a CPU. Started by mpirun, each
// rank with one worker.
#include <chrono>
#include <cleave/cleave.hpp>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "support/command_line.hpp"

namespace {

struct column {
  std::vector<double> values;
  int elsewhere = 0;  // subtasks that ran on another node than the column's own
  auto fields() { return std::tie(values, elsewhere); }
};

// The CPU time of this thread.
std::chrono::duration<double, std::micro> cpu_time() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

// Computes, or sleeps: then other programs on the machine matter less.
void spend(double microseconds, bool sleeps) {
  const std::chrono::duration<double, std::micro> length(microseconds);
  if (sleeps) return std::this_thread::sleep_for(length);
  const auto end = cpu_time() + length;
  while (cpu_time() < end) {}
}

struct result {
  double seconds = 0, sum = 0;
  int elsewhere = 0;
};

struct stencil {
  int width = 16, steps = 50, length = 1000, bytes = 8192, slow = -1, factor = 2;
  bool is_dynamic = false, sleeps = false;
  auto input() { return std::tie(width, steps, length, bytes, slow, factor, is_dynamic, sleeps); }

  result run(cleave::team& all) const {
    result r;
    const auto begin = std::chrono::steady_clock::now();
    if (is_dynamic) {
      cleave::team_graph g(all, cleave::dynamic);
      run(all, g, r);
    } else {
      cleave::team_graph g(all);
      g.earliest_first();
      run(all, g, r);
    }
    r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return r;
  }
  void run(cleave::team& all, cleave::team_graph& g, result& r) const {
    using cleave::in, cleave::out;
    std::vector<cleave::datum<column>> rows[2];
    for (auto& row : rows)
      for (int i = 0; i < width; ++i) {
        row.push_back(g.make(column{std::vector<double>(std::size_t(bytes) / 8, i), 0}));
        g.set_home(row.back(), home(i, all));
      }
    for (int step = 0; step < steps; ++step) {
      const auto &from = rows[step % 2], &to = rows[(step + 1) % 2];
      for (int i = 0; i < width; ++i) {
        const auto at = [&](int k) { return in(from[std::size_t((k + width) % width)]); };
        g.run(
            [this, i, &all](const column& left, const column& own, const column& right,
                            column& next) {
              const bool is_slow = int(all.rank()) == slow;
              spend(length * (is_slow ? factor : 1), sleeps);
              next.values.resize(own.values.size());
              for (std::size_t k = 0; k < own.values.size(); ++k)
                next.values[k] = (left.values[k] + own.values[k] + right.values[k]) / 3;
              next.elsewhere = own.elsewhere + (all.rank() != home(i, all));
            },
            at(i - 1), at(i), at(i + 1), out(to[std::size_t(i)]));
      }
    }
    for (const auto& c : rows[steps % 2]) g.bring(c, 0);
    g.wait();
    if (all.rank() != 0) return;
    for (const auto& c : rows[steps % 2]) r.sum += c->values.front(), r.elsewhere += c->elsewhere;
  }
  unsigned home(int i, const cleave::team& all) const {
    return unsigned(i) * all.size() / unsigned(width);
  }
};

}  // namespace

int main(int argc, char** argv) try {
  stencil s;
  apps::command_line line(
      "unequal", "Steps of a stencil on ranks of which one is slower, as one JSON object.");
  line.option_number("--width", s.width, 1, 4096, "Columns (default: 16)");
  line.option_number("--steps", s.steps, 1, 1'000'000, "Steps (default: 50)");
  line.option_number("--length", s.length, 1, 10'000'000,
                     "Microseconds of a subtask on the other ranks (default: 1000)");
  line.option_number("--bytes", s.bytes, 8, 1 << 28, "Bytes of a column (default: 8192)");
  line.option_number("--slow", s.slow, 0, 4096, "The slower rank (default: none)");
  line.option_number("--factor", s.factor, 1, 1000, "How much slower it is (default: 2)");
  line.flag("--dynamic", s.is_dynamic, "Idle ranks are given subtasks of others");
  line.flag("--sleep", s.sleeps, "Subtasks sleep, and compute nothing");
  line.parse(argc, argv);
  cleave::runtime rt({.workers = 1});
  const result r = rt.run_on_all(s);
  std::puts(nlohmann::ordered_json{
      {"ranks", rt.job().nodes}, {"seconds", r.seconds}, {"elsewhere", r.elsewhere}, {"sum", r.sum}}
                .dump()
                .c_str());
  return 0;
} catch (...) { return apps::failed("unequal"); }
