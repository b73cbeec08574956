#pragma once

#include "cosched/descriptors.hpp"
#include "cosched/rank.hpp"

/// What the parts of libcleave-cosched know of each other. One build for each MPI.
namespace cleave::cosched {

/// A rank that is never destroyed: the program may be ended by another thread, or by a child that
/// it has forked, while the rank is in MPI. MPI_Finalize gives back what it has, or else the
/// kernel.
union for_ever {
  constexpr for_ever() noexcept : value() {}
  ~for_ever() {}
  for_ever(const for_ever&) = delete;
  for_ever& operator=(const for_ever&) = delete;

  rank value;
};
extern for_ever this_process;
inline constexpr rank& this_rank = this_process.value;

/// The next function of this name behind this library: MPI's, or the C library's. Ends the process
/// with a message if there is none.
void* next_function(const char* name) noexcept;
/// An object of MPI. The program's own copy if it has one, as programs that are linked to Open MPI
/// do.
void* object(const char* name) noexcept;

/// Each MPI has a file that defines these, by which its progress loop is watched.
namespace progress {

/// How often MPI must have looked before it has looked at everything.
extern const unsigned tests;
/// The libraries in which MPI is found if the program has loaded it by itself (a module of Python,
/// for one).
extern const char* const libraries[];
/// Called once, when MPI is initialized. False if this MPI cannot be watched.
bool watch() noexcept;
/// Makes MPI ask in each look whether other nodes have sent something, for a job on several nodes.
void ask_always() noexcept;

/// Called before each of MPI's looks at everything. What MPI asks about until end_look() is kept in
/// `asked`.
void begin_look() noexcept;
/// Called after each look; returns whether something was there from another node.
bool end_look() noexcept;
extern descriptors& asked;

}  // namespace progress
}  // namespace cleave::cosched
