// What one rank has written about its calls of MPI (src/record/rank_file.hpp), read and checked.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "record/rank_file.hpp"

namespace record {

using cleave::record::entry;

// A place in a program that calls MPI.
struct site {
  std::string function;  // as "Recv"
  std::string file;
  std::uint64_t offset = 0;
};

struct call {
  std::uint32_t site = 0;
  std::uint32_t entries_end = 0;  // where its entries end; they begin where the last one's end
  std::uint64_t begin = 0, end = 0;
};

struct rank_calls {
  struct communicator {
    std::uint64_t hash = 0, before = 0;
    std::int32_t place = 0;
  };
  std::uint32_t rank = 0, ranks = 0;
  std::uint64_t begin = 0, end = 0;  // of what is recorded
  std::uint32_t calls_of_other_threads = 0;
  std::string host;
  std::vector<site> sites;
  std::vector<communicator> communicators;
  std::vector<call> calls;
  std::vector<entry> entries;  // messages and the like

  std::span<const entry> entries_of(std::size_t i) const {
    const std::size_t first = i == 0 ? 0 : calls[i - 1].entries_end;
    return std::span(entries).subspan(first, calls[i].entries_end - first);
  }
};

// Throws apps::input_error.
rank_calls read_rank_file(const std::filesystem::path& file);

}  // namespace record
