#include "sites/nodes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "machine/printable.hpp"
#include "sites/roster.hpp"

namespace sites {

namespace nats = cleave::net::nats;
using cleave::machine::printable;
using namespace std::chrono_literals;

namespace {

constexpr auto quiet = 700ms;
constexpr auto at_most = 2s;

std::string in_words(const server& s, const nats::job_here& j) {
  std::string what = fmt::format("{}{}{}", s.what.program, j.arguments.empty() ? "" : " ",
                                 fmt::join(j.arguments, " "));
  if (j.workers > 0) what += fmt::format(", {} of {} compute", j.computing, j.workers);
  return printable(j.is_root ? fmt::format("{}: root, for {}, {} s", what, j.submitter, j.seconds)
                             : fmt::format("{}: helps {}, {} s", what, j.root, j.seconds));
}

void print(const std::vector<server>& all) {
  std::size_t machine = 7, program = 7;
  for (const auto& s : all) {
    machine = std::max(machine, s.at.at.text().size());
    program = std::max(program, s.what.program.size());
  }
  fmt::print("{:<{}}  {:<{}}  {:>7}  does\n", "machine", machine, "program", program, "workers");
  for (const auto& s : all) {
    std::vector<std::string> does;
    for (const auto& j : s.what.jobs) does.push_back(in_words(s, j));
    if (s.what.leaving) does.emplace_back("leaves");
    if (does.empty()) does.emplace_back("-");
    fmt::print("{:<{}}  {:<{}}  {:>7}  {}\n", s.at.at.text(), machine, printable(s.what.program),
               program, s.what.workers, fmt::join(does, "; "));
  }
}

void print_json(const std::vector<server>& all) {
  nlohmann::ordered_json object;
  object["servers"] = nlohmann::ordered_json::array();
  for (const auto& s : all) {
    nlohmann::ordered_json one = {{"machine", s.at.at.text()},
                                  {"program", s.what.program},
                                  {"hash", s.what.hash},
                                  {"workers", s.what.workers},
                                  {"leaving", s.what.leaving}};
    one["jobs"] = nlohmann::ordered_json::array();
    for (const auto& j : s.what.jobs) {
      nlohmann::ordered_json job = {{"job", j.job},
                                    {"arguments", j.arguments},
                                    {"root", j.root},
                                    {"has_root", j.is_root},
                                    {"seconds", j.seconds}};
      if (j.is_root) job["submitter"] = j.submitter;
      if (j.workers > 0) {
        job["workers"] = j.workers, job["computing"] = j.computing;
        job["tasks_in"] = j.tasks_in, job["tasks_out"] = j.tasks_out;
      }
      one["jobs"].push_back(std::move(job));
    }
    object["servers"].push_back(std::move(one));
  }
  fmt::print("{}\n", object.dump());
}

}  // namespace

int list(const std::string& where, bool json) {
  const auto connected = connect(where);
  interruption stop;
  connection& by = *connected;
  const auto all = ask_around(by, stop, quiet, at_most);
  if (stop.seen()) return 130;
  if (json) {
    print_json(all);
  } else if (all.empty()) {
    fmt::print("nobody offers a program here (PROGRAM --serve {} does)\n", where);
  } else {
    print(all);
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace sites
