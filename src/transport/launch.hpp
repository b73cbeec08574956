#pragma once

#include "transport/transport.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Whether this process is one rank of several, and the transport between them, which is loaded
/// only then. Its launcher (mpirun, srun; a server of `--serve`: src/nats/README.md) left it in
/// the environment. Known before MPI begins, so that a command line can be refused once.
namespace cleave::net {

/// What the environment says. Counts that it does not tell are 0.
struct launch {
  /// The plug-ins that would do, the best first: "openmpi5", "openmpi"; empty: this process was not
  /// launched as a rank.
  std::vector<std::string> plugins;
  int rank = 0;
  int ranks = 1;
  int host_rank = 0;  // its number among the ranks of this host
  int host_ranks = 1;
  bool comes_and_goes = false;  // a node of a job by NATS; others may come, and this one may leave

  bool several() const noexcept { return !plugins.empty() && ranks != 1; }
};

/// Reads an environment; `get` is std::getenv's like. Counts that are no numbers are taken for
/// absent.
launch read_launch(const char* (*get)(const char* name));

/// The launch of this process, read at the first call.
const launch& launched();

/// True in the process that prints and that owns the root task; in one that was not launched as a
/// rank, too, and in each rank once they are separate.
bool is_first_rank();

/// From now on this rank is a program of its own: its transport is "none". CLEAVE_TRANSPORT=none
/// says so from the beginning.
void separate() noexcept;

/// Whether this rank says what the user has got wrong: the first one does, and each on another host
/// (as far as ranks are numbered host by host), whose environment may be another one. What is wrong
/// for the others is wrong for the first one too.
bool tells_mistakes();

/// Blocks a rank that is to fail: the first one until its launcher has, most likely, started all
/// ranks of this host, the others a moment longer. Launchers end the rest of a job as soon as one
/// rank has failed.
void await_turn_to_end();

/// Prints `cleave: LINE` where tells_mistakes() and ends this process with that status; all ranks
/// call it.
[[noreturn]] void end_all_ranks(std::string_view line, int status = 2);

/// What the user may choose: "mpi" (as launched), a plug-in's name ("openmpi", "mpich",
/// "openmpi5", "nats"), "none", or nothing, which is as launched, and none if alone.
struct transport_choice {
  std::string name;
  int workers = 1;        // workers of this process: they decide whether CPUs are left to spin on
  int asked_workers = 0;  // what the job asked for, if this machine's owner allows fewer; else 0
};

/// Takes `--transport NAME` or `--transport=NAME` out of a command line; otherwise
/// CLEAVE_TRANSPORT, otherwise nothing. Throws std::invalid_argument.
std::string take_transport(int& argc, char** argv);

/// Throws std::invalid_argument, which begins with `said_by`, if no transport has that name.
void check_transport(std::string_view said_by, const std::string& name);

/// The transport, or nullptr if this process is alone or is to be. Loads nothing in that case. The
/// calling thread is the one that must call everything else of it, and destroy it; all ranks open
/// theirs at the same time, once. Blocks until they have. Throws std::runtime_error with one line.
std::unique_ptr<transport> open_transport(const transport_choice& choice);

/// Takes `--serve WHERE` or `--serve=WHERE` out of a command line. Throws std::invalid_argument if
/// there is nothing after it.
std::optional<std::string> take_serve(int& argc, char** argv);

struct serve_settings;
/// Offers this machine to jobs of this program; blocks until it is told to leave. Called by the
/// main thread, while there is no other. Throws std::invalid_argument if what was given cannot be
/// used, std::runtime_error.
void serve(const serve_settings& what);

/// Where plug-ins are looked for, in this order: absolute, and never the working folder.
std::vector<std::string> plugin_folders();

}  // namespace cleave::net
