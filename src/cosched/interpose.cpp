// Stands in front of MPI's functions, under both of their names: MPI_Recv is what a program in C
// calls, PMPI_Recv what the Fortran bindings call. Which ones, and which of them wait, is at the
// end.
#include "cosched/interpose.hpp"

#include <dlfcn.h>
#include <mpi.h>
#include <cstdio>
#include <cstdlib>

#include "cosched/job.hpp"

namespace cleave::cosched {

constinit rank here;

namespace {

void* found_from(void* first, const char* name) noexcept {
  if (void* const found = dlsym(first, name)) return found;
  // Loaded by the program itself, and so not visible to all.
  for (auto* library = progress::libraries; *library != nullptr; ++library) {
    void* const handle = dlopen(*library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    if (void* const found = dlsym(handle, name)) return found;
  }
  std::fprintf(stderr, "cosched: %s: not found; was the library made for another MPI?\n", name);
  std::abort();
}

}  // namespace

void* next_function(const char* name) noexcept { return found_from(RTLD_NEXT, name); }
void* object(const char* name) noexcept { return found_from(RTLD_DEFAULT, name); }

namespace {

/// A call: told to `here`, and passed on.
template <class Function, class Name, bool Blocking>
struct call;
template <class R, class... A, class Name, bool Blocking>
struct call<R(A...), Name, Blocking> {
  static R told(A... arguments) {
    static auto* const real = reinterpret_cast<R (*)(A...)>(next_function(Name::text));
    const bool counted = here.begin_call(Blocking);
    const R result = real(arguments...);
    if (counted) here.end_call(Blocking);
    return result;
  }
};

/// A call after which others than the ranks of this job may be waited for.
template <class Function, class Name>
struct joining;
template <class R, class... A, class Name>
struct joining<R(A...), Name> {
  static R told(A... arguments) {
    static auto* const real = reinterpret_cast<R (*)(A...)>(next_function(Name::text));
    stand_aside("the job is connected to another");
    return real(arguments...);
  }
};

int init(int* argc, char*** argv) {
  static auto* const real = reinterpret_cast<decltype(&PMPI_Init)>(next_function("PMPI_Init"));
  const int result = real(argc, argv);
  if (result == MPI_SUCCESS) begin_job(MPI_THREAD_SINGLE);
  return result;
}

int init_thread(int* argc, char*** argv, int wanted, int* provided) {
  static auto* const real =
      reinterpret_cast<decltype(&PMPI_Init_thread)>(next_function("PMPI_Init_thread"));
  const int result = real(argc, argv, wanted, provided);
  if (result == MPI_SUCCESS) begin_job(*provided);
  return result;
}

int finalize() {
  static auto* const real =
      reinterpret_cast<decltype(&PMPI_Finalize)>(next_function("PMPI_Finalize"));
  report_job();
  here.stand_aside();  // what is still to be sent is sent in there, and others may wait for it
  const int result = real();
  here.stop();
  return result;
}

}  // namespace
}  // namespace cleave::cosched

// NOLINTBEGIN(readability-identifier-naming,bugprone-macro-parentheses): names to declare
// A definition needs no list of parameters if it is found by a resolver: MPI's header has the
// types.
#define CLEAVE_STAND_IN(name, function)                                                           \
  extern "C" {                                                                                    \
  [[gnu::visibility("hidden")]] decltype(&PMPI_##name) resolve_##name() { return &function; }     \
  [[gnu::ifunc("resolve_" #name), gnu::visibility("default")]] decltype(PMPI_##name) MPI_##name;  \
  [[gnu::ifunc("resolve_" #name), gnu::visibility("default")]] decltype(PMPI_##name) PMPI_##name; \
  }
#define CLEAVE_NAME(name)                              \
  struct name_of_##name {                              \
    static constexpr const char* text = "PMPI_" #name; \
  };
#define CLEAVE_TOLD(name, blocking)                                          \
  namespace cleave::cosched {                                                \
  namespace {                                                                \
  CLEAVE_NAME(name)                                                          \
  using call_##name = call<decltype(PMPI_##name), name_of_##name, blocking>; \
  }                                                                          \
  }                                                                          \
  CLEAVE_STAND_IN(name, cleave::cosched::call_##name::told)
#define BLOCKS(name) CLEAVE_TOLD(name, true)
#define RETURNS(name) CLEAVE_TOLD(name, false)
#define JOINS(name)                                                   \
  namespace cleave::cosched {                                         \
  namespace {                                                         \
  CLEAVE_NAME(name)                                                   \
  using join_##name = joining<decltype(PMPI_##name), name_of_##name>; \
  }                                                                   \
  }                                                                   \
  CLEAVE_STAND_IN(name, cleave::cosched::join_##name::told)
// NOLINTEND(readability-identifier-naming,bugprone-macro-parentheses)

CLEAVE_STAND_IN(Init, cleave::cosched::init)
CLEAVE_STAND_IN(Init_thread, cleave::cosched::init_thread)
CLEAVE_STAND_IN(Finalize, cleave::cosched::finalize)
#include "cosched/calls.hpp"
