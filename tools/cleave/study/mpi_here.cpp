#include "mpi_here.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cosched/launch.hpp"
#include "transport/launch.hpp"

namespace study {

namespace fs = std::filesystem;

std::string mpirun_of(const std::string& mpi) {
  for (const std::string& name : {"mpirun." + mpi, std::string("mpirun")})
    if (::cosched::mpi_of(name) == mpi) return name;
  return "";
}

bool is_plugin_here(const std::string& file) {
  const auto folders = cleave::net::plugin_folders();
  return std::any_of(folders.begin(), folders.end(), [&file](const std::string& folder) {
    return fs::exists(fs::path(folder) / file);
  });
}

std::string missing_for_jobs(const std::string& mpi) {
  const auto plugin = "libcleave-mpi-" + mpi + ".so";
  if (!is_plugin_here(plugin)) return "no plug-in " + plugin;
  return mpirun_of(mpi).empty() ? "no mpirun of " + mpi : "";
}

void leave_jobs() {
  if (getuid() == 0)
    for (const char* allow : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"})
      setenv(allow, "1", 1);
  for (const char* of_a_job : {"CLEAVE_TRANSPORT", "CLEAVE_JOB", "CLEAVE_NODE"}) unsetenv(of_a_job);
}

}  // namespace study
