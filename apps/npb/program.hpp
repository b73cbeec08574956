// What cg and ft share as programs: MPI's beginning and end, the command line, how time is
// measured, and how a result is told.
#pragma once

#include <fmt/format.h>
#include <mpi.h>
#include <sys/resource.h>

#include <bit>
#include <chrono>
#include <exception>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "support/command_line.hpp"

namespace apps::npb {

// MPI from construction to destruction.
class mpi {
public:
  mpi(int& argc, char**& argv) {
    begin_program();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }
  ~mpi() { MPI_Finalize(); }
  mpi(const mpi&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

private:
  int rank_ = 0, ranks_ = 1;
};

// How the timed part is run.
struct timing {
  int times = 1;
  std::string start;  // a file that says when, in seconds since 1970; empty: at once

  void add_to(command_line& line) {
    line.option_number("--times", times, 1, 1'000'000, "Run the timed part so often (default: 1)");
    line.option("--start", "FILE", start,
                "Say 'ready', and begin at the time that is in FILE as soon as there is one: "
                "seconds since 1970");
  }
};

// What all times took together.
struct timed {
  double begin = 0;        // seconds since 1970
  double seconds = 0;      // the time of the slowest rank
  double cpu_seconds = 0;  // the sum over all ranks
};

inline double since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}
inline double cpu_seconds() {
  rusage r{};
  getrusage(RUSAGE_SELF, &r);
  const auto in_seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return in_seconds(r.ru_utime) + in_seconds(r.ru_stime);
}

// Every rank waits by itself, and asleep: in MPI it would spin, and take time from other jobs.
inline void wait_for(const std::string& start, int rank) {
  if (start.empty()) return;
  if (rank == 0) fmt::print("ready\n"), std::fflush(stdout);
  double at = 0;
  while (!(std::ifstream(start) >> at)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  while (since_1970() < at)
    std::this_thread::sleep_for(std::chrono::duration<double>(at - since_1970()));
}

// Calls once(), and measures it on every rank.
template <class F>
timed measure(const mpi& world, const timing& how, F once) {
  MPI_Barrier(MPI_COMM_WORLD);
  wait_for(how.start, world.rank());
  MPI_Barrier(MPI_COMM_WORLD);
  timed t;
  t.begin = since_1970();
  const double begin = MPI_Wtime(), cpu_before = cpu_seconds();
  for (int i = 0; i < how.times; ++i) once();
  const double mine = MPI_Wtime() - begin, cpu = cpu_seconds() - cpu_before;
  MPI_Reduce(&mine, &t.seconds, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&cpu, &t.cpu_seconds, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  return t;
}

struct result {
  nlohmann::json value;  // "answer" in JSON
  std::string text;      // the answer on a terminal
  timed took;
  bool verified = false;
};

// Checks the number of ranks. Throws usage_error unless it is a power of two and at most `most`.
inline void check_ranks(int ranks, int most) {
  if (!std::has_single_bit(static_cast<unsigned>(ranks)) || ranks > most)
    throw usage_error(
        fmt::format("expected a power of two of ranks, up to {}, got {}", most, ranks));
}

inline void print(const std::string& program, const std::string& name, const result& r, int ranks,
                  bool json) {
  if (json) {
    const nlohmann::json all{{"program", program},
                             {"class", name},
                             {"ranks", ranks},
                             {"answer", r.value},
                             {"begin", r.took.begin},
                             {"seconds", r.took.seconds},
                             {"cpu_seconds", r.took.cpu_seconds},
                             {"verified", r.verified}};
    fmt::print("{}\n", all.dump());
  } else {
    fmt::print("{} {}: {}, {}, {:.4f} s with {} {}\n", program, name, r.text,
               r.verified ? "verified" : "WRONG", r.took.seconds, ranks,
               ranks == 1 ? "rank" : "ranks");
  }
  flush_output();
}

// A program `name CLASS`: run(class, world, timing) computes, on every rank. Returns the exit
// status: 0 if the answer is the official one, 1 if it is not, 2 for bad input, which one rank
// tells.
inline int main(int argc, char** argv, const std::string& name, const std::string& about,
                const std::function<result(char, const mpi&, const timing&)>& run) {
  mpi world(argc, argv);
  try {
    std::string size;
    bool json = false;
    command_line line(name, about);
    line.choice("CLASS", size, {"S", "W", "A", "B"}, "the size: S, W, A or B, from small to large");
    timing how;
    how.add_to(line);
    line.flag("--json", json, "Print one JSON object");
    try {
      line.parse(argc, argv);
      const result r = run(size[0], world, how);
      if (world.rank() == 0) print(name, size, r, world.ranks(), json);
      return r.verified ? 0 : 1;
    } catch (const usage_error&) {  // the mistake is the same on every rank
      if (world.rank() != 0) return 2;
      throw;
    }
  } catch (const usage_error&) { return failed(name); } catch (...) {
    failed(name);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
  }
}

}  // namespace apps::npb
