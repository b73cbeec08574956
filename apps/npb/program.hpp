// What cg and ft share as programs: MPI's beginning and end, the command line, and how a result is
// told.
#pragma once

#include <fmt/format.h>
#include <mpi.h>

#include <bit>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "../common/command_line.hpp"

namespace apps::npb {

// MPI from construction to destruction.
class mpi {
public:
  mpi(int& argc, char**& argv) {
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

struct result {
  nlohmann::json value;  // "answer" in JSON
  std::string text;      // the same on a terminal
  double seconds = 0;    // of the timed part, of the slowest rank
  bool verified = false;
};

// Throws usage_error unless there are a power of two and at most so many.
inline void check_ranks(int ranks, int most) {
  if (!std::has_single_bit(static_cast<unsigned>(ranks)) || ranks > most)
    throw usage_error(
        fmt::format("expected a power of two of ranks, up to {}, got {}", most, ranks));
}

inline void print(const std::string& program, const std::string& name, const result& r, int ranks,
                  bool json) {
  if (json) {
    const nlohmann::json all{{"program", program},   {"class", name},
                             {"ranks", ranks},       {"answer", r.value},
                             {"seconds", r.seconds}, {"verified", r.verified}};
    fmt::print("{}\n", all.dump());
  } else {
    fmt::print("{} {}: {}, {}, {:.4f} s with {} {}\n", program, name, r.text,
               r.verified ? "verified" : "WRONG", r.seconds, ranks, ranks == 1 ? "rank" : "ranks");
  }
  std::fflush(stdout);
}

// A program `name CLASS`: run(class, rank, ranks) computes, on every rank. Returns the exit status:
// 0 if the answer is the official one, 1 if it is not, 2 for bad input, which one rank tells.
inline int main(int argc, char** argv, const std::string& name, const std::string& about,
                const std::function<result(char, const mpi&)>& run) {
  mpi world(argc, argv);
  try {
    std::string size;
    bool json = false;
    command_line line(name, about);
    line.choice("CLASS", size, {"S", "W", "A", "B"}, "the size: S, W, A or B, from small to large");
    line.flag("--json", json, "Print one JSON object");
    try {
      line.parse(argc, argv);
      const result r = run(size[0], world);
      if (world.rank() == 0) print(name, size, r, world.ranks(), json);
      return r.verified ? 0 : 1;
    } catch (const usage_error&) {  // the same on every rank
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
