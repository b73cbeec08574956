// A bulk-synchronous program whose shape is chosen: each rank computes for about GRAIN microseconds
// of CPU time, then all communicate, and again. What schedulers of jobs are compared on.
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <vector>

#include "../npb/program.hpp"

namespace {

using apps::npb::since_1970;

struct shape {
  int grain = 0;      // microseconds
  int imbalance = 0;  // per cent: a step takes from 1 - i to 1 + i of the grain
  int steps = 1000;   // steps in each of the timed runs
  int marks = 0;      // how many of the first communications are told
  std::string pattern = "ring";
};

// Does `rounds` multiplications. The asm keeps the compiler from leaving out what they compute.
void compute(std::uint64_t rounds) {
  for (std::uint64_t x = 1, i = 0; i < rounds; ++i) asm volatile("" : "+r"(x = x * 3 + i));
}

double own_cpu_time() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Rank 0 measures this for all ranks: the least of some trials, because other programs only make
// one longer.
double rounds_in_a_microsecond() {
  constexpr std::uint64_t rounds = 200'000;
  double least = 1;
  for (int i = 0; i < 50; ++i) {
    const double begin = own_cpu_time();
    compute(rounds);
    least = std::min(least, own_cpu_time() - begin);
  }
  double found = static_cast<double>(rounds) / (1e6 * least);
  MPI_Bcast(&found, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return found;
}

// A number from 0 to 1, which is always the same for this rank and step.
double random(int rank, int step) {
  std::uint64_t x = static_cast<std::uint64_t>(step) * 1000003 + static_cast<std::uint64_t>(rank);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

class program {
public:
  program(const shape& what, const apps::npb::mpi& world)
      : what_(what),
        rank_(world.rank()),
        ranks_(world.ranks()),
        speed_(rounds_in_a_microsecond()) {}

  void run() {
    for (int step = 0; step < what_.steps; ++step) {
      const double part = 1 + 0.01 * what_.imbalance * (2 * random(rank_, step) - 1);
      compute(static_cast<std::uint64_t>(speed_ * what_.grain * part));
      if (static_cast<int>(begun_.size()) < what_.marks) begun_.push_back(since_1970());
      communicate(step);
    }
  }
  bool right() const { return right_; }
  // When each rank began its first communications, on rank 0: one after the other.
  std::vector<double> marks() const {
    std::vector<double> all(begun_.size() * static_cast<std::size_t>(ranks_));
    const int n = static_cast<int>(begun_.size());
    MPI_Gather(begun_.data(), n, MPI_DOUBLE, all.data(), n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return all;
  }

private:
  void communicate(int step) {
    if (what_.pattern == "barrier") return void(MPI_Barrier(MPI_COMM_WORLD));
    const int after = (rank_ + 1) % ranks_, before = (rank_ + ranks_ - 1) % ranks_;
    const int mine = rank_ + step;
    int got = 0;
    MPI_Sendrecv(&mine, 1, MPI_INT, after, 0, &got, 1, MPI_INT, before, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    right_ = right_ && got == before + step;
  }

  const shape& what_;
  int rank_, ranks_;
  double speed_;
  bool right_ = true;
  std::vector<double> begun_;
};

void print(const shape& what, const apps::npb::timed& took, const std::vector<double>& marks,
           bool right, int ranks, bool json) {
  if (!json) {
    fmt::print("bsp {} us, imbalance {} %: {}, {:.4f} s with {} ranks\n", what.grain,
               what.imbalance, right ? "verified" : "WRONG", took.seconds, ranks);
    return apps::flush_output();
  }
  const nlohmann::json all{{"program", "bsp"},
                           {"ranks", ranks},
                           {"begin", took.begin},
                           {"seconds", took.seconds},
                           {"cpu_seconds", took.cpu_seconds},
                           {"marks", marks},
                           {"verified", right}};
  fmt::print("{}\n", all.dump());
  apps::flush_output();
}

int run(int argc, char** argv, const apps::npb::mpi& world) {
  shape what;
  apps::npb::timing how;
  bool json = false;
  apps::command_line line("bsp", "Computes, communicates, and again. An MPI program.");
  line.number("GRAIN", what.grain, 1, 1'000'000, "microseconds of CPU time of a step, about");
  line.option_number("--imbalance", what.imbalance, 0, 100,
                     "Per cent by which a rank's step may be shorter or longer (default: 0)");
  line.option_number("--steps", what.steps, 1, 1'000'000, "How many steps (default: 1000)");
  line.option_choice("--pattern", what.pattern, {"ring", "barrier"},
                     "ring: each rank sends to the next (default); barrier: all wait for all");
  line.option_number("--marks", what.marks, 0, 10'000,
                     "In JSON: when each rank began its first N communications");
  how.add_to(line);
  line.flag("--json", json, "Print one JSON object");
  line.parse(argc, argv);
  program p(what, world);
  const auto took = apps::npb::measure(world, how, [&] { p.run(); });
  const auto marks = p.marks();
  int right = p.right() ? 1 : 0, all_right = 0;
  MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (world.rank() == 0) print(what, took, marks, all_right != 0, world.ranks(), json);
  return all_right != 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  apps::npb::mpi world(argc, argv);
  try {
    return run(argc, argv, world);
  } catch (const apps::usage_error&) {  // the mistake is the same on every rank
    return world.rank() == 0 ? apps::failed("bsp") : 2;
  } catch (...) {
    apps::failed("bsp");
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
  }
}
