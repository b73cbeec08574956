#include "gang/remote.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "gang/freezer.hpp"
#include "support/command_line.hpp"

namespace gang {
namespace {

namespace fs = std::filesystem;

constexpr const char* job_variable = "CLEAVE_GANG_JOB";
constexpr const char* keeper_variable =
    "CLEAVE_GANG_KEEPER";  // the keeper's process and its daemon's socket

// Where launchers look for what takes the place of ssh.
constexpr const char* agents[] = {"OMPI_MCA_plm_rsh_agent", "PRTE_MCA_plm_ssh_agent",
                                  "HYDRA_LAUNCHER_EXEC"};

std::string variable(const char* name) {
  const char* const found = std::getenv(name);
  return found != nullptr ? found : "";
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// Quotes a word for a shell, whichever it is.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

// Whether a batch manager is there: launchers use that manager's own way, by the same variables.
bool has_manager() {
  const bool grid_engine = !variable("JOB_ID").empty() && !variable("SGE_ROOT").empty();
  return grid_engine || !variable("SLURM_JOB_ID").empty() || !variable("LSB_JOBID").empty() ||
         !variable("PBS_JOBID").empty();
}

fs::path own_program() { return fs::read_symlink("/proc/self/exe"); }

}  // namespace

std::string job_around(const std::string& socket) {
  const std::string kept_by = variable(keeper_variable);
  for (pid_t p = getppid(); p > 1; p = parent_of(p))
    if (kept_by == fmt::format("{} {}", p, socket)) return variable(job_variable);
  return "";
}

void set_environment(const job_settings& job, const std::string& name, bool joined) {
  setenv(job_variable, name.c_str(), 1);
  setenv(keeper_variable, fmt::format("{} {}", getppid(), job.socket).c_str(), 1);
  if (!joined) return;
  const fs::path agent = own_program().parent_path() / "cleave-gang-remote";
  std::string shell = job.remote_shell;
  // In a job of the gang, the shell is that job's.
  if (shell.empty()) shell = variable("CLEAVE_GANG_SHELL");
  for (const char* const of : agents)
    if (const std::string before = variable(of); shell.empty() && before != agent.string())
      shell = before.substr(0, before.find(" : "));  // Open MPI takes the first agent that is there
  const auto set = [](const char* of, const std::string& value) {
    if (value.empty()) unsetenv(of);
    else setenv(of, value.c_str(), 1);
  };
  set("CLEAVE_GANG_SHELL", shell.empty() ? "ssh" : shell);
  set("CLEAVE_GANG_STOP_BY", job.stop_by);
  set("CLEAVE_GANG_REMOTE_SOCKET", job.socket_given ? job.socket : "");
  if (has_manager()) return;
  for (const char* const of : agents) set(of, agent.string());
}

void keep_signals_from_launchers() {
  for (const char* const of :
       {"OMPI_MCA_ess_base_forward_signals", "PRTE_MCA_ess_base_forward_signals"})
    setenv(of, "none", 0);  // set unless the user has said something
}

std::vector<std::string> remote_command(const std::vector<std::string>& shell,
                                        const std::vector<std::string>& inside,
                                        const std::vector<std::string>& arguments) {
  constexpr std::string_view with_value = "BbcDEeFIiJLlmOopQRSWw";  // ssh's options with a value
  std::size_t host = 0;
  while (host < arguments.size() && arguments[host].starts_with('-')) {
    const std::string& option = arguments[host++];
    if (option.size() == 2 && with_value.find(option[1]) != with_value.npos) ++host;
  }
  if (host + 1 >= arguments.size())
    throw apps::usage_error("HOST COMMAND: expected what a launcher gives to ssh");
  std::vector<std::string> command = shell;
  command.insert(command.end(), arguments.begin(),
                 arguments.begin() + static_cast<std::ptrdiff_t>(host) + 1);
  std::vector<std::string> there;
  for (const std::string& word : inside) there.push_back(quoted(word));
  const std::vector<std::string> rest(arguments.begin() + static_cast<std::ptrdiff_t>(host) + 1,
                                      arguments.end());
  there.push_back(quoted(fmt::format("{}", fmt::join(rest, " "))));
  command.push_back(fmt::format("{}", fmt::join(there, " ")));
  return command;
}

int remote(const std::vector<std::string>& arguments) {
  const std::string job = variable(job_variable), shell = variable("CLEAVE_GANG_SHELL");
  if (job.empty() || shell.empty())
    throw apps::usage_error("remote: expected to be started by a job of `cleave gang run`");
  std::vector<std::string> inside{own_program(), "gang"};
  if (const auto socket = variable("CLEAVE_GANG_REMOTE_SOCKET"); !socket.empty())
    inside.insert(inside.end(), {"--socket", socket});
  inside.insert(inside.end(), {"run", "--job", job, "--all", "--remote-shell", shell});
  if (const auto stop_by = variable("CLEAVE_GANG_STOP_BY"); !stop_by.empty())
    inside.insert(inside.end(), {"--stop-by", stop_by});
  // The command runs as ssh's server would run it.
  inside.insert(inside.end(), {"--", "/bin/sh", "-c", R"(exec "${SHELL:-/bin/sh}" -c "$0")"});
  const auto command = remote_command(words_of(shell), inside, arguments);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  fmt::print(stderr, "cleave: --remote-shell: '{}': {}\n", command[0], std::strerror(errno));
  return 1;
}

}  // namespace gang
