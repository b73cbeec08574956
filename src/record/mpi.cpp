#include "record/mpi.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace cleave::record {
namespace {

/// The libraries in which MPI is found if the program has loaded it by itself (a module of Python,
/// for one).
#ifdef OPEN_MPI
constexpr const char* libraries[] = {"libmpi.so.40"};
#else
constexpr const char* libraries[] = {"libmpich.so.12", "libmpi.so.12"};
#endif

/// MPI's handles are numbers in one MPI and addresses in another, so none of its calls may be made.
[[noreturn]] void refuse(const char* where) noexcept {
  bool first = true;
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (const char* const number = std::getenv(name)) {
      first = std::strcmp(number, "0") == 0;
      break;
    }
  if (first)
    std::fprintf(stderr, "record: the program's MPI: expected %s, as for its launcher, got %s\n",
                 libraries[0], where != nullptr ? where : "another");
  else sleep(1);  // launchers end all ranks when one ends, and the first one's line could be lost
  std::_Exit(2);
}

void* found_from(void* first, const char* name) noexcept {
  if (void* const found = dlsym(first, name)) return found;
  for (const char* const library : libraries) {
    void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    if (void* const found = dlsym(handle, name)) return found;
  }
  refuse(nullptr);
}

}  // namespace

void* next_function(const char* name) noexcept { return found_from(RTLD_NEXT, name); }
void* object(const char* name) noexcept { return found_from(RTLD_DEFAULT, name); }

void check_mpi() noexcept {
  Dl_info of_mpi{};  // the file of PMPI_Init: a tool may stand in front of MPI_Init
  if (dladdr(next_function("PMPI_Init"), &of_mpi) == 0) refuse(nullptr);
  for (const char* const library : libraries)
    if (std::strstr(of_mpi.dli_fname, library) != nullptr) return;
  refuse(of_mpi.dli_fname);
}

}  // namespace cleave::record
