// Stands in front of MPI's functions, under both of their names: MPI_Recv is what a program in C
// calls, PMPI_Recv what the Fortran bindings call.
#include <atomic>
#include <cstdlib>
#include <utility>

#include "preload/stand_in.hpp"
#include "record/kinds.hpp"

namespace cleave::record {

recorder& this_rank() noexcept {
  static auto& one = *new recorder;
  return one;
}

namespace {

/// Whether this thread has begun MPI while a folder is given. Only its calls are recorded.
constinit thread_local bool is_recorded = false;
/// Whether some thread of this process is recorded, and the calls of the others meanwhile.
constinit std::atomic<bool> of_process = false;
constinit std::atomic<unsigned> calls_of_others = 0;
/// Set while the recorded thread is in a call: MPI's own calls of itself are not recorded.
constinit bool in_call = false;

struct under_way {
  under_way() noexcept { in_call = true; }
  ~under_way() { in_call = false; }  // where an error handler throws, too
  under_way(const under_way&) = delete;
  under_way& operator=(const under_way&) = delete;
};

template <class Function, class Name, class Kind>
struct call;
template <class R, class... A, class Name, class Kind>
struct call<R(A...), Name, Kind> {
  static R told(A... a) {
    static auto* const passed_on = real<R(A...)>(Name::text);
    if (!is_recorded) {
      if (of_process.load(std::memory_order_relaxed)) ++calls_of_others;
      return passed_on(a...);
    }
    if constexpr (requires { Kind::begin_any(a...); }) Kind::begin_any(a...);
    if (in_call) return passed_on(a...);
    const under_way here;
    recorder& of = this_rank();
    if constexpr (requires { Kind::before(a...); }) Kind::before(a...);
    const std::uint64_t began = now();
    const R result = passed_on(a...);
    const std::uint64_t ended = now();
    bool happened = result == MPI_SUCCESS;
    if constexpr (Kind::looks)
      if (happened) happened = Kind::happened(a...);
    if (Kind::looks && !happened) {
      of.looked_in_vain(began, ended);
    } else {
      of.call(__builtin_extract_return_addr(__builtin_return_address(0)), Name::text, began, ended,
              Kind::looks);
      if (happened) Kind::after(std::as_const(a)...);
    }
    return result;
  }
};

/// Called after MPI has begun, by one of its names: a tool's MPI_Init calls PMPI_Init.
void begin() {
  static bool has_begun = false;
  const char* const folder = std::getenv("CLEAVE_RECORD_FOLDER");
  if (folder == nullptr || *folder == '\0' || std::exchange(has_begun, true)) return;
  int rank = 0, ranks = 1;
  CLEAVE_REAL(Comm_rank)(world(), &rank);
  CLEAVE_REAL(Comm_size)(world(), &ranks);
  this_rank().begin(rank, ranks, folder);
  is_recorded = this_rank().is_recording();
  of_process.store(is_recorded, std::memory_order_relaxed);
}

template <class Name>
struct init {
  static int told(int* argc, char*** argv) {
    static auto* const passed_on = real<decltype(PMPI_Init)>(Name::text);
    check_mpi();
    const int result = passed_on(argc, argv);
    if (result == MPI_SUCCESS) begin();
    return result;
  }
};

template <class Name>
struct init_thread {
  static int told(int* argc, char*** argv, int wanted, int* provided) {
    static auto* const passed_on = real<decltype(PMPI_Init_thread)>(Name::text);
    check_mpi();
    const int result = passed_on(argc, argv, wanted, provided);
    if (result == MPI_SUCCESS) begin();
    return result;
  }
};

template <class Name>
struct finalize {
  static int told() {
    static auto* const passed_on = real<decltype(PMPI_Finalize)>(Name::text);
    if (std::exchange(is_recorded, false)) {
      of_process.store(false, std::memory_order_relaxed);
      this_rank().end(calls_of_others.load(std::memory_order_relaxed));
    }
    return passed_on();
  }
};

}  // namespace
}  // namespace cleave::record

// NOLINTBEGIN(readability-identifier-naming,bugprone-macro-parentheses): names to declare
#define CLEAVE_STAND_INS(type, name) CLEAVE_STAND_INS_OF(cleave::record, type, name)
#define RECORDS(name, ...)                                                   \
  namespace cleave::record {                                                 \
  namespace {                                                                \
  template <class Name>                                                      \
  using call_##name = call<decltype(PMPI_##name), Name, kinds::__VA_ARGS__>; \
  }                                                                          \
  }                                                                          \
  CLEAVE_STAND_INS(call_##name, name)
// NOLINTEND(readability-identifier-naming,bugprone-macro-parentheses)

CLEAVE_STAND_INS(init, Init)
CLEAVE_STAND_INS(init_thread, Init_thread)
CLEAVE_STAND_INS(finalize, Finalize)
#include "record/calls.hpp"
#if MPI_VERSION >= 4
#include "record/calls_mpi4.hpp"
#endif
