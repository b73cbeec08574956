// MPI jobs, several at once, as a user starts them.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cosched_data.hpp"

namespace study::sharing {

// What is there to start jobs with.
struct launcher {
  std::filesystem::path cleave;    // this command
  std::filesystem::path programs;  // where cg-MPI and the others are
  std::string mpi, mpirun;         // openmpi or mpich, and its mpirun

  std::vector<std::string> command(const job& what, const way& by,
                                   const std::filesystem::path& work, std::size_t number) const;
};

// Finds what there is. Throws std::runtime_error that says what is missing. An empty name: the
// first of Open MPI and MPICH that is here.
launcher find_launcher(const std::filesystem::path& cleave, const std::string& mpi);

// `cleave gang serve` in this folder, for as long as it lives.
class gang_daemon {
public:
  gang_daemon(const launcher& with, const std::filesystem::path& work);
  ~gang_daemon();
  gang_daemon(const gang_daemon&) = delete;
  gang_daemon& operator=(const gang_daemon&) = delete;

private:
  int process_ = 0;
};

// What a job said when it had ended; or that it had not.
struct ended {
  double begin = 0, seconds = 0, cpu_seconds = 0;
  bool stopped = false;       // ended at the limit: the job takes longer than `seconds`
  std::vector<double> marks;  // the times of rank 0's communications, of rank 1's, and so on
  std::map<std::string, double> counts;  // what cell::counts has
};

// The time that ends the study, whatever it does.
using deadline = std::chrono::steady_clock::time_point;
struct out_of_time : std::runtime_error {
  out_of_time() : std::runtime_error("out of time") {}
};

// Starts all jobs, lets them begin when all are ready, and waits for their ends. `begun` is called
// with the processes of the launchers and the time when the first begins, in seconds since 1970,
// before that time. Jobs that still run so many seconds after that are ended, and said to be
// stopped. Throws std::runtime_error if one fails or does not get ready, or the study was
// interrupted, and out_of_time after the deadline; then none is left.
std::vector<ended> run_jobs(
    const launcher& with, const std::vector<job>& jobs, const way& by, bool outsider,
    const std::filesystem::path& work, double limit, deadline last,
    const std::function<void(const std::vector<int>& processes, double begin)>& begun = {});

// Samples which of all ranks have a CPU: `steps` times from `begin` on. The ranks are the processes
// of that program below each launcher.
timeline sample(const launcher& with, const std::vector<int>& launchers,
                const std::vector<job>& jobs, double begin, int steps);

}  // namespace study::sharing
