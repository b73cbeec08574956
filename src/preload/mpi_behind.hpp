#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

/// Libraries that are preloaded into MPI programs, and linked to no MPI.
namespace cleave::preload {

/// The MPI behind such a library.
struct mpi_behind {
  const char* tool;  ///< to which the library belongs, for messages
  /// The libraries in which MPI is found if the program has loaded it by itself (a module of
  /// Python, for one); null ends the list.
  const char* const* libraries;

  /// A function or an object of MPI, from `first` on: RTLD_NEXT or RTLD_DEFAULT. Ends the process
  /// with a message if there is none.
  void* find(void* first, const char* name) const noexcept {
    if (void* const found = dlsym(first, name)) return found;
    // The program may have loaded MPI itself; then MPI is not visible to all.
    for (auto* library = libraries; *library != nullptr; ++library) {
      void* const handle = dlopen(*library, RTLD_LAZY | RTLD_NOLOAD);
      if (handle == nullptr) continue;
      if (void* const found = dlsym(handle, name)) return found;
    }
    refuse(nullptr);
  }
  /// Ends the process with a message if the program's MPI is another than the library's.
  void check() const noexcept {
    Dl_info of_mpi{};  // the file of PMPI_Init: a tool may stand in front of MPI_Init
    if (dladdr(find(RTLD_NEXT, "PMPI_Init"), &of_mpi) == 0) refuse(nullptr);
    for (auto* library = libraries; *library != nullptr; ++library)
      if (std::strstr(of_mpi.dli_fname, *library) != nullptr) return;
    refuse(of_mpi.dli_fname);
  }

private:
  /// Whether this is rank 0, as launchers tell it before MPI has begun; true if none does.
  static bool is_first_rank() noexcept {
    for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
      if (const char* const number = std::getenv(name)) return std::strcmp(number, "0") == 0;
    return true;
  }
  /// MPI's handles are numbers in one MPI and addresses in another, so none of its calls may be
  /// made. `where`: in which file its functions are; null if they are in none that can be looked
  /// into.
  [[noreturn]] void refuse(const char* where) const noexcept {
    if (is_first_rank()) {
      std::fprintf(stderr, "%s: the program's MPI: expected %s, as for its launcher, got %s\n",
                   tool, libraries[0], where != nullptr ? where : "another");
    } else {
      sleep(1);  // launchers end all ranks when one ends, and the first one's line could be lost
    }
    std::_Exit(2);
  }
};

}  // namespace cleave::preload
