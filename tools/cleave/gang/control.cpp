#include "gang/control.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/command_line.hpp"
#include "gang/channel.hpp"

namespace gang {
namespace {

nlohmann::json ask(const std::string& socket, const nlohmann::json& what) {
  const channel daemon = connect_to(socket);
  daemon.send(what);
  const auto reply = daemon.receive();
  if (!reply) throw std::runtime_error(fmt::format("{}: the daemon does not answer", socket));
  return *reply;
}

}  // namespace

int list(const std::string& socket, bool json) {
  const auto reply = ask(socket, {{"do", "ps"}});
  if (json) {
    fmt::print("{}\n", reply.dump());
    return 0;
  }
  fmt::print("{:>5} {:<8} {:>6} {}\n", "job", "state", "user", "command");
  for (const auto& job : reply.at("jobs"))
    fmt::print("{:>5} {:<8} {:>6} {}\n", job.at("job").get<int>(),
               job.at("state").get<std::string>(), job.at("user").get<long>(),
               job.at("command").get<std::string>());
  return 0;
}

int command(const std::string& socket, const std::string& what, int job) {
  const auto reply = ask(socket, {{"do", what}, {"job", job}});
  if (reply.contains("error"))
    throw apps::usage_error(fmt::format("JOB: {}: {}", job, reply.at("error").get<std::string>()));
  return 0;
}

}  // namespace gang
