#pragma once

#include "cosched/descriptors.hpp"
#include "cosched/rank.hpp"

/// What the parts of libcleave-cosched know of each other. One build for each MPI.
namespace cleave::cosched {

/// Is not destroyed: the program may be ended by another thread, or by a child that it has forked,
/// while the rank is in MPI. MPI_Finalize gives back what it has, or else the kernel.
union for_ever {
  constexpr for_ever() noexcept : value() {}
  ~for_ever() {}
  for_ever(const for_ever&) = delete;
  for_ever& operator=(const for_ever&) = delete;

  rank value;
};
extern for_ever this_process;
inline constexpr rank& here = this_process.value;

/// The next function of this name behind this library: MPI's, or the C library's. Ends the process
/// with a message if there is none.
void* next_function(const char* name) noexcept;
/// An object of MPI. The program's own copy if it has one, as programs that are linked to Open MPI
/// do.
void* object(const char* name) noexcept;

/// In the file of each MPI: how its progress loop is watched.
namespace progress {

/// How often it must have looked before it has looked at everything.
extern const unsigned tests;
/// Where MPI is found if the program has loaded it by itself (a module of Python, for one).
extern const char* const libraries[];
/// Once, when MPI is initialized. False if this MPI cannot be watched.
bool watch() noexcept;
/// In a job on several nodes: MPI must ask in each look whether others have sent something.
void ask_always() noexcept;

/// Around each of MPI's looks at everything: what it asks about meanwhile is kept in `asked`.
void begin_look() noexcept;
/// Returns whether something was there from another node.
bool end_look() noexcept;
extern descriptors& asked;

}  // namespace progress
}  // namespace cleave::cosched
