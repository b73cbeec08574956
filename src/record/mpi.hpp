#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// How this library, which is not linked to MPI, comes to MPI's functions and objects.
namespace cleave::record {

/// The next function of this name behind this library. Ends the process with a message if there is
/// none, or if MPI is not the one that the library was built for.
void* next_function(const char* name) noexcept;
/// An object of MPI: the program's own copy if it has one.
void* object(const char* name) noexcept;
/// Ends the process with a message if the program's MPI is another than this library's.
void check_mpi() noexcept;

/// MPI's own function.
template <class F>
F* real(const char* name) noexcept {
  return reinterpret_cast<F*>(next_function(name));
}
// NOLINTBEGIN(bugprone-macro-parentheses): a name to declare
/// Calls a function of MPI that this library does not stand in for, or not at this moment.
#define CLEAVE_REAL(name)                                                                  \
  ([]() noexcept {                                                                         \
    static auto* const found = cleave::record::real<decltype(PMPI_##name)>("PMPI_" #name); \
    return found;                                                                          \
  }())
// NOLINTEND(bugprone-macro-parentheses)

#ifdef OPEN_MPI
inline MPI_Comm world() noexcept {
  static auto* const all = static_cast<MPI_Comm>(object("ompi_mpi_comm_world"));
  return all;
}
inline MPI_Comm no_communicator() noexcept {
  static auto* const none = static_cast<MPI_Comm>(object("ompi_mpi_comm_null"));
  return none;
}
inline MPI_Request no_request() noexcept {
  static auto* const none = static_cast<MPI_Request>(object("ompi_request_null"));
  return none;
}
#else
inline MPI_Comm world() noexcept { return MPI_COMM_WORLD; }
inline MPI_Comm no_communicator() noexcept { return MPI_COMM_NULL; }
inline MPI_Request no_request() noexcept { return MPI_REQUEST_NULL; }
#endif

template <class Handle>
std::uint64_t number_of(Handle h) noexcept {
  if constexpr (std::is_pointer_v<Handle>) return reinterpret_cast<std::uintptr_t>(h);
  else return static_cast<std::uint32_t>(h);
}

}  // namespace cleave::record
