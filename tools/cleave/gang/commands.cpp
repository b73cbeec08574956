#include "gang/commands.hpp"

#include <climits>
#include <string>
#include <vector>

#include "common/command_line.hpp"
#include "gang/channel.hpp"
#include "gang/control.hpp"
#include "gang/run.hpp"
#include "gang/serve.hpp"

namespace gang {

struct commands::parts {
  std::string socket, stop_by;
  int slice = 100, job = 0;
  bool json = false;
  std::vector<std::string> command;

  apps::command_line gang, serve, run, ps, pause, resume, kill;

  explicit parts(apps::command_line& program)
      : gang(program, "gang",
             "Give MPI jobs turns: all processes of one run, those of others stop"),
        serve(gang, "serve", "Be the daemon of this machine, until interrupted"),
        run(gang, "run", "Queue a job, and wait for its end"),
        ps(gang, "ps", "List the jobs"),
        pause(gang, "pause", "Take a job's turns away"),
        resume(gang, "resume", "Give them back"),
        kill(gang, "kill", "End a job") {
    gang.option("--socket", "PATH", socket,
                "Where the daemon is (default: cleave-gang in $XDG_RUNTIME_DIR; root: in /run)");
    serve.option_number("--slice", slice, 1, 3'600'000, "Milliseconds of a turn (default: 100)");
    run.option_choice("--stop-by", stop_by, {"cgroup2", "cgroup1", "signals"},
                      "How it is stopped (default: the first that this user may use)");
    run.rest("-- mpirun ...", command);
    ps.flag("--json", json, "Print one JSON object instead of a table");
    for (auto* c : {&pause, &resume, &kill})
      c->number("JOB", job, 1, INT_MAX, "Its number, as ps shows it");
  }
};

commands::commands(apps::command_line& program) : parts_(std::make_unique<parts>(program)) {}
commands::~commands() = default;

bool commands::given() const { return parts_->gang.parsed(); }

int commands::run() {
  parts& p = *parts_;
  if (p.socket.empty()) p.socket = default_socket();
  if (p.serve.parsed()) return serve(p.socket, std::chrono::milliseconds(p.slice));
  if (p.run.parsed()) return gang::run(p.socket, p.stop_by, p.command);
  if (p.ps.parsed()) return list(p.socket, p.json);
  const char* const what = p.pause.parsed() ? "pause" : p.resume.parsed() ? "resume" : "kill";
  return command(p.socket, what, p.job);
}

}  // namespace gang
