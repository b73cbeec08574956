#pragma once

#include <mpi.h>

#include <cstdlib>
#include <string_view>

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif
#if defined(OMPI_HAVE_MPI_EXT_FTMPI)
#define CLEAVE_MPI_SURVIVES 1  // user-level failure mitigation, ULFM
#endif

/// What an MPI that survives the loss of ranks says of it; any other says nothing.
namespace cleave::net::mpi {

#ifdef CLEAVE_MPI_SURVIVES

/// Ranks are told of failures if the user asked for it: mpirun --with-ft ulfm leaves this variable.
inline bool survival_was_asked_for() {
  const char* const text = std::getenv("OMPI_MCA_mpi_ft_enable");
  const std::string_view asked = text != nullptr ? text : "";
  return asked == "1" || asked == "true";
}

inline int class_of(int code) {
  int kind = MPI_SUCCESS;
  MPI_Error_class(code, &kind);
  return kind;
}
/// Whether that error says that a receive from any rank waits on, although a rank is gone.
inline bool tells_that_it_waits(int code) { return class_of(code) == MPIX_ERR_PROC_FAILED_PENDING; }
inline bool tells_of_a_failure(int code) {
  const int kind = class_of(code);
  return kind == MPIX_ERR_PROC_FAILED || kind == MPIX_ERR_PROC_FAILED_PENDING ||
         kind == MPIX_ERR_REVOKED;
}

#else

inline bool survival_was_asked_for() { return false; }
inline bool tells_that_it_waits(int) { return false; }
inline bool tells_of_a_failure(int) { return false; }

#endif

}  // namespace cleave::net::mpi
