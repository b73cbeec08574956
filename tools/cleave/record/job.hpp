// A run of an MPI program: the calls of all ranks, and what each call has waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "record/rank_calls.hpp"

namespace record {

// A call cannot end before another one has begun, of this rank or of another.
struct dependence {
  std::uint32_t rank = 0, call = 0;
  double bytes = 0;
  enum class kind : std::uint8_t { message, collective, receiver } of = kind::message;
};

// One call. Times are microseconds since the first rank came out of MPI_Init.
struct step {
  std::uint32_t site = 0;             // an index into job::sites
  std::uint32_t dependences_end = 0;  // they begin where the last step's end
  double begin = 0, end = 0;
};

struct rank_steps {
  double begin = 0, end = 0;
  std::vector<step> steps;
  std::vector<dependence> dependences;
  std::span<const dependence> dependences_of(std::size_t i) const {
    const std::size_t first = i == 0 ? 0 : steps[i - 1].dependences_end;
    return std::span(dependences).subspan(first, steps[i].dependences_end - first);
  }
};

struct job {
  std::vector<rank_steps> ranks;
  std::vector<site> sites;
  double end = 0;
  std::size_t calls = 0, messages = 0, collectives = 0;
  double bytes = 0;                 // of messages
  std::size_t without_partner = 0;  // messages of which only one end is known
  std::size_t calls_of_other_threads = 0;
};

// Reads the files of all ranks in a folder. Throws apps::input_error.
job read_job(const std::filesystem::path& folder);

}  // namespace record
