#include "gang/control.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "gang/channel.hpp"
#include "support/command_line.hpp"

namespace gang {
namespace {

// Asks the daemon. Throws std::runtime_error if there is no answer.
nlohmann::json ask(const std::string& socket, const nlohmann::json& what) {
  const channel daemon = connect_to(socket);
  daemon.send(what);
  const auto reply = daemon.receive();
  if (!reply) throw std::runtime_error(fmt::format("{}: the daemon does not answer", socket));
  return *reply;
}

// Asks for all jobs and nodes, of which one answer may be a part.
nlohmann::json ask_for_all(const std::string& socket) {
  auto all = ask(socket, {{"do", "ps"}});
  while (all.contains("next")) {
    auto more = ask(socket, {{"do", "ps"}, {"from", all.at("next")}});
    for (const char* const list : {"jobs", "nodes"})
      if (all.contains(list) && more.contains(list))
        for (auto& entry : more.at(list)) all.at(list).push_back(std::move(entry));
    all.erase("next");
    if (more.contains("next")) all["next"] = more.at("next");
  }
  return all;
}

using words = std::vector<std::string>;

void print_nodes(const nlohmann::json& reply) {
  std::size_t width = 4;
  for (const auto& n : reply.at("nodes"))
    width = std::max(width, n.at("node").get<std::string>().size());
  fmt::print("\n{:<{}}  {:>10} {:>11} {:>9} {:>9}\n", "node", width, "round trip", "clock error",
             "late", "99 %");
  const auto milliseconds = [](const nlohmann::json& of, const char* field) {
    return fmt::format("{:.2f} ms", static_cast<double>(of.at(field).get<long>()) / 1000);
  };
  for (const auto& n : reply.at("nodes"))
    fmt::print("{:<{}}  {:>10} {:>11} {:>9} {:>9}{}{}\n", n.at("node").get<std::string>(), width,
               milliseconds(n, "round_trip_us"), milliseconds(n, "clock_error_us"),
               milliseconds(n, "late_us"), milliseconds(n, "late_99_us"),
               n.at("leads").get<bool>() ? "  leads" : "",
               n.at("here").get<bool>() ? "  (this one)" : "");
  if (!reply.at("joined").get<bool>()) fmt::print("the relay does not answer\n");
}

}  // namespace

int list(const std::string& socket, bool json) {
  const auto reply = ask_for_all(socket);
  if (json) {
    fmt::print("{}\n", reply.dump());
    return 0;
  }
  const auto text = [](const nlohmann::json& of, const char* field) {
    return of.at(field).get<std::string>();
  };
  std::size_t job = 5, user = 6;
  for (const auto& j : reply.at("jobs"))
    job = std::max(job, text(j, "job").size()), user = std::max(user, text(j, "user").size());
  const bool joined = reply.contains("nodes");
  fmt::print("{:>{}} {:<8} {:>{}} {}command\n", "job", job, "state", "user", user,
             joined ? "nodes: " : "");
  for (const auto& j : reply.at("jobs"))
    fmt::print("{:>{}} {:<8} {:>{}} {}{}\n", text(j, "job"), job, text(j, "state"), text(j, "user"),
               user, joined ? fmt::format("{}: ", fmt::join(j.at("nodes").get<words>(), " ")) : "",
               text(j, "command"));
  if (joined) print_nodes(reply);
  return 0;
}

int command(const std::string& socket, const std::string& what, const std::string& job) {
  const auto reply = ask(socket, {{"do", what}, {"job", job}});
  if (reply.contains("error"))
    throw apps::usage_error(fmt::format("JOB: {}: {}", job, reply.at("error").get<std::string>()));
  return 0;
}

}  // namespace gang
