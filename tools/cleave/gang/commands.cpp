#include "commands.hpp"

#include <string>
#include <vector>

#include "gang/channel.hpp"
#include "gang/control.hpp"
#include "gang/daemon.hpp"
#include "gang/remote.hpp"
#include "gang/run.hpp"
#include "support/command_line.hpp"
#include "transport/launch.hpp"

namespace gang {
namespace {

struct parts {
  struct daemon_options {
    std::string join, log;
    int slice = 100;
  };
  std::string socket, job;
  daemon_options of_daemon;
  bool json = false;
  job_settings job_to_run;
  std::vector<std::string> launched;

  apps::command_line gang, serve, run, ps, pause, resume, kill, remote;

  explicit parts(apps::command_line& program)
      : gang(program, "gang",
             "Give MPI jobs turns: all processes of one run, those of others stop"),
        serve(gang, "serve", "Be the daemon of this machine, until interrupted"),
        run(gang, "run", "Queue a job, and wait for its end"),
        ps(gang, "ps", "List the jobs"),
        pause(gang, "pause", "Take a job's turns away"),
        resume(gang, "resume", "Give them back"),
        kill(gang, "kill", "End a job"),
        remote(gang, "remote", "What MPI launchers start instead of ssh, by themselves") {
    gang.option("--socket", "PATH", socket,
                "Where the daemon is (default: $CLEAVE_GANG_SOCKET; cleave-gang in "
                "$XDG_RUNTIME_DIR; root: in /run)");
    serve.option_number("--slice", of_daemon.slice, 1, 3'600'000,
                        "Milliseconds of a turn (default: 100)");
    serve.option("--join", "KEYFILE", of_daemon.join,
                 "Take turns with all daemons behind this relay (cleave invite makes the file)");
    serve.option("--log", "FILE", of_daemon.log,
                 "Add what keepers do, and when: a line of JSON each");
    job_settings& j = job_to_run;
    run.option_choice("--stop-by", j.stop_by, {"cgroup2", "cgroup1", "signals"},
                      "How it is stopped (default: the first that this user may use)");
    run.option("--job", "NAME", j.name,
               "The job that this is a part of, on this node and others (default: the one that "
               "it is started in, or a new one)");
    run.flag("--all", j.all, "It ends with the last of its processes, not with the first");
    run.option("--remote-shell", "COMMAND", j.remote_shell,
               "How its launcher reaches other nodes (default: as was set; ssh)");
    run.rest("-- mpirun ...", j.command);
    ps.flag("--json", json, "Print one JSON object instead of a table");
    for (auto* c : {&pause, &resume, &kill})
      c->text("JOB", job, "Its name, as ps shows it; of this node's jobs the number will do");
    remote.rest("-- HOST COMMAND ...", launched);
  }
};

class group final : public apps::command_group {
public:
  explicit group(apps::command_line& program) : parts_(program) {}
  bool given() const override { return parts_.gang.parsed(); }
  int run() override;

private:
  parts parts_;
};

int group::run() {
  parts& p = parts_;
  cleave::net::separate();  // if a launcher starts it on many nodes, each has errors of its own
  if (p.remote.parsed()) return remote(p.launched);
  p.job_to_run.socket_given = !p.socket.empty();
  if (p.socket.empty()) p.socket = default_socket();
  p.job_to_run.socket = p.socket;
  if (p.serve.parsed()) {
    return run_daemon({p.socket, std::chrono::milliseconds(p.of_daemon.slice), p.of_daemon.join,
                       p.of_daemon.log});
  }
  if (p.run.parsed()) {
    // A part of the job that it is in has the same turns.
    if (p.job_to_run.name.empty()) p.job_to_run.name = job_around(p.socket);
    return gang::run(p.job_to_run);
  }
  if (p.ps.parsed()) return list(p.socket, p.json);
  const char* const what = p.pause.parsed() ? "pause" : p.resume.parsed() ? "resume" : "kill";
  return command(p.socket, what, p.job);
}

}  // namespace

std::unique_ptr<apps::command_group> commands(apps::command_line& program) {
  return std::make_unique<group>(program);
}

}  // namespace gang
