#include "commands.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "support/command_line.hpp"

#ifdef CLEAVE_WITH_SITES
#include "protocol/strategy.hpp"
#include "sites/nodes.hpp"
#include "sites/submit.hpp"
#include "sites/supervisor.hpp"
#endif

namespace sites {
namespace {

struct parts {
  std::string where, root;
  int patience = 10, restarts = 3;
  bool json = false;
  std::vector<std::string> program;

  apps::command_line submit, nodes;

  explicit parts(apps::command_line& line)
      : submit(line, "submit", "Run a program on the machines that offer it, and print its output"),
        nodes(line, "nodes", "List the machines that offer programs, and what each does") {
    constexpr const char* where_help = "a key file, or a relay's URL";
    submit.text("WHERE", where, where_help);
    submit.option("--root", "SITE.NAME", root,
                  "The machine where the program itself begins (default: who has least to do)");
    submit.option_number(
        "--patience", patience, 1, 86'400,
        "Seconds without a word after which the job, or its submitter, counts as lost (10)");
    submit.option_number("--restarts", restarts, 0, 1'000'000,
                         "Times that it begins again when the server of its root is lost (3)");
    submit.flag("--json", json, "Print one JSON object: output, status, machines");
    submit.rest("PROGRAM ...", program);
    nodes.text("WHERE", where, where_help);
    nodes.flag("--json", json, "Print one JSON object instead of a table");
  }
};

class group final : public apps::command_group {
public:
  explicit group(apps::command_line& program) : parts_(program) {}
  bool given() const override { return parts_.submit.parsed() || parts_.nodes.parsed(); }
  int run() override;

private:
  parts parts_;
};

#ifdef CLEAVE_WITH_SITES

// CLEAVE_ASK, checked; all nodes of the job get it.
std::string whom_to_ask() {
  const auto asks = cleave::net::preference_of_environment();
  return asks ? to_string(*asks) : "";
}

int group::run() {
  const parts& p = parts_;
  if (p.nodes.parsed()) return list(p.where, p.json);
  const std::vector<std::string> arguments(p.program.begin() + 1, p.program.end());
  if (const auto wrong = cleave::net::nats::wrong_arguments(arguments))
    throw apps::usage_error("PROGRAM: " + *wrong);
  return submit({p.where, p.program.front(), arguments, p.root, std::chrono::seconds(p.patience),
                 p.restarts, p.json, whom_to_ask()});
}

#else

int group::run() {
  throw std::runtime_error(
      "this cleave was built without nats.c (Debian and Ubuntu: libnats-dev), which it needs to "
      "reach other machines");
}

#endif

}  // namespace

std::unique_ptr<apps::command_group> commands(apps::command_line& program) {
  return std::make_unique<group>(program);
}

}  // namespace sites
