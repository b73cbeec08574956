#include "net_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "measured.hpp"
#include "support/command_line.hpp"
#include "support/line_reader.hpp"

namespace study::networks {
namespace {

constexpr double us = 1e6;

// A time in the file, as seconds.
double seconds(const nlohmann::ordered_json& o, const char* name) {
  const double found = o.at(name).get<double>() / us;
  if (!std::isfinite(found) || found < 0)
    throw std::runtime_error(std::string("\"") + name + "\": " + o.at(name).dump());
  return found;
}

}  // namespace

std::string to_json(const network_file& f) {
  nlohmann::ordered_json o{
      {"cleave_network", 1}, {"date", f.date}, {"machine", f.machine}, {"setup", f.setup}};
  o["networks"] = nlohmann::ordered_json::array();
  for (const auto& n : f.networks)
    o["networks"].push_back({{"name", n.name},
                             {"L_us", us * n.is.latency},
                             {"o_us", us * n.is.overhead},
                             {"g_us", us * n.is.gap},
                             {"G_us_per_byte", us * n.is.gap_per_byte},
                             {"error", n.is.error}});
  return o.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
}

network_file read_network_file(const std::string& file) {
  std::ifstream in = apps::open_input(file);
  try {
    const auto o = nlohmann::ordered_json::parse(in);
    if (o.value("cleave_network", 0) != 1) throw std::runtime_error("no \"cleave_network\": 1");
    network_file f{o.value("date", ""), o.value("machine", ""), o.value("setup", ""), {}};
    for (const auto& n : o.at("networks"))
      f.networks.push_back({n.at("name"),
                            {seconds(n, "L_us"), seconds(n, "o_us"), seconds(n, "g_us"),
                             seconds(n, "G_us_per_byte"), n.value("error", 0.0)}});
    if (f.networks.empty()) throw std::runtime_error("no networks");
    return f;
  } catch (const std::exception& e) {
    throw apps::input_error(file, 0, "the network.json of `cleave study net`", in_words(e));
  }
}

known_network network_in(const std::string& file, const std::string& name, bool of_mpi) {
  const auto found = read_network_file(file);
  std::vector<std::string> names;
  for (const auto& n : found.networks) {
    if (name.empty() ? n.name.starts_with("cleave-") != of_mpi : n.name == name) return n;
    names.push_back(n.name);
  }
  if (name.empty()) return found.networks[0];
  throw apps::usage_error(fmt::format("--transport: expected one of {}, as {} has them, got '{}'",
                                      fmt::join(names, ", "), file, name));
}

}  // namespace study::networks
