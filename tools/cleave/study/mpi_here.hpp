// The MPIs of this machine, and Cleave's plug-ins for them.
#pragma once

#include <string>
#include <vector>

namespace study {

// The launcher of an MPI (openmpi, mpich); empty if it is not here.
std::string mpirun_of(const std::string& mpi);
bool is_plugin_here(const std::string& file);
// Why programs cannot be the ranks of a job by that MPI; empty if they can.
std::string missing_for_jobs(const std::string& mpi);

// From now on processes that are started from here belong to no job, and Open MPI's launcher runs
// for root too.
void leave_jobs();

}  // namespace study
