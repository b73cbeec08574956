// `cleave cosched`: starts an MPI job whose waits are two-phase.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cosched {

struct job {
  std::string mpi;                   // openmpi or mpich; empty: as the launcher's name tells
  std::string policy;                // empty: the library's own choice
  int spin = -1, free_spin = -1;     // microseconds; -1: the library's own choice
  int turn = -1;                     // milliseconds; -1 likewise
  std::string report;                // a file, "-" for the terminal, or empty
  std::vector<std::string> command;  // the launcher and its arguments
};

// Which MPI a launcher belongs to, by where its name in the PATH leads: openmpi, mpich, or nothing.
std::string mpi_of(const std::string& launcher);

// The folders where the libraries can be, for a command in that folder: as built, and as installed.
std::vector<std::filesystem::path> library_folders(const std::filesystem::path& command);

// A job that one of Cleave's libraries is to be preloaded into.
struct preloading {
  std::string library;                 // cosched or record
  std::string mpi;                     // openmpi or mpich; empty: as the launcher's name tells
  std::vector<std::string> command;    // the launcher and its arguments
  std::vector<std::string> variables;  // passed to other nodes too, if they are set
};

// Sets LD_PRELOAD, with the library from the first of these folders that has it; returns the words
// to start the job with. Throws apps::usage_error if it cannot be started.
std::vector<std::string> with_library(const preloading& what,
                                      const std::vector<std::filesystem::path>& folders);

// Becomes the job's launcher, with the library for its MPI from the first of these folders that has
// it. Never returns; throws apps::usage_error if it cannot be started.
[[noreturn]] void launch(const job& what, const std::vector<std::filesystem::path>& folders);

}  // namespace cosched
