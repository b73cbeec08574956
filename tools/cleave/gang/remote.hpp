// The parts of a job on other nodes: MPI's launchers start them by `cleave gang remote`, which
// takes the place of ssh and puts them into the job there.
#pragma once

#include <string>
#include <vector>

#include "gang/run.hpp"

namespace gang {

// The job of that daemon in which this process is; "" if it is in none, whatever it has inherited.
std::string job_around(const std::string& socket);

// Called in the job's first process, a child of its keeper. `joined`: launchers of Open MPI, PRRTE
// and Hydra reach other nodes through `remote`. `remote` uses what was set before, or ssh.
void set_environment(const job_settings& job, const std::string& name, bool joined);
// Called there too, for a job that is stopped by signals: Open MPI's mpirun and PRRTE would forward
// SIGCONT to nodes that they have not reached yet, and give up.
void keep_signals_from_launchers();

// Takes what ssh takes: options, a host, and a command for that host's shell. Becomes the remote
// shell; returns the exit status if it cannot. Throws apps::usage_error.
int remote(const std::vector<std::string>& arguments);

// The words that `remote` becomes. Throws apps::usage_error if there is no host or no command.
std::vector<std::string> remote_command(const std::vector<std::string>& shell,
                                        const std::vector<std::string>& inside,
                                        const std::vector<std::string>& arguments);

}  // namespace gang
