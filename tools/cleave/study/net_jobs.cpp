#include "net_jobs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "interrupt.hpp"
#include "mpi_here.hpp"

namespace study::networks {
namespace {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;
using strings = std::vector<std::string>;

// openmpi of cleave-openmpi.
std::string mpi_of(const std::string& network) {
  return is_plain(network) ? network : network.substr(network.find('-') + 1);
}

// The hosts of so many ranks, in turn.
strings hosts_of(const plan& p, int ranks) {
  const auto n = std::min(p.where.hosts.size(), static_cast<std::size_t>(ranks));
  return {p.where.hosts.begin(), p.where.hosts.begin() + static_cast<std::ptrdiff_t>(n)};
}

strings mpirun(const std::string& mpi, const plan& p, int ranks) {
  strings c{mpirun_of(mpi)};
  auto hosts = hosts_of(p, ranks);
  if (mpi == "openmpi") {
    c.insert(c.end(), {"--oversubscribe", "--bind-to", "none"});
    if (!hosts.empty())
      c.insert(c.end(),
               {"--host", fmt::format("{}", fmt::join(hosts, ",")), "--map-by", "node", "--mca",
                "plm_rsh_agent", p.where.agent, "--mca", "plm_rsh_no_tree_spawn", "1"});
  } else if (!hosts.empty()) {
    c.insert(c.end(), {"-launcher", "ssh", "-launcher-exec", p.where.agent, "-hosts",
                       fmt::format("{}", fmt::join(hosts, ","))});
  }
  c.insert(c.end(), {"-n", std::to_string(ranks)});
  return c;
}

cell cell_of(const run& r, const std::string& line) {
  const auto o = nlohmann::json::parse(line);
  cell c;
  c.network = r.network, c.what = o.at("what"), c.ranks = o.at("ranks");
  c.algorithm = o.value("algorithm", ""), c.pairs = o.value("pairs", 0);
  c.bytes = o.value("bytes", std::size_t{0});
  c.counts = {o.at("count").get<double>()};
  c.seconds = {o.at("seconds").get<double>()};
  c.low = {o.at("low").get<double>()}, c.high = {o.at("high").get<double>()};
  return c;
}

// `cleave relay` on this machine, and a key for the nodes. One for each run: its CPU time is known
// when it has ended.
class relay {
public:
  relay(const fs::path& cleave, const std::string& host)
      : key_(work_.path() / "net.cleave"),
        errors_(work_.path() / "relay.err"),
        serves_({cleave, "relay", "--folder", folder(), "--host", host, "--port", "0"}, errors_) {
    const auto end = clock::now() + std::chrono::seconds(60);
    while (text_of(errors_).find("cleave relay: ready: ") == std::string::npos) {
      if (clock::now() > end || is_interrupted() || waitpid(serves_.pid(), nullptr, WNOHANG) != 0)
        throw std::runtime_error("cleave relay does not begin: " + text_of(errors_));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const fs::path refused = work_.path() / "invite.err";
    process invite({cleave, "invite", "net", "--folder", folder(), "--output", key_}, refused);
    if (invite.wait().first != 0) throw std::runtime_error(text_of(refused));
    const auto o = nlohmann::json::parse(text_of(key_));
    machine_ = o.at("site").get<std::string>() + "." + o.at("name").get<std::string>();
  }

  // The environment of a node.
  strings variables(int rank) const {
    return {"CLEAVE_TRANSPORT=nats", "CLEAVE_JOB=net", fmt::format("CLEAVE_NODE={:x}", rank),
            "CLEAVE_ROOT=" + machine_, "CLEAVE_KEY=" + key_.string()};
  }

private:
  std::string folder() const { return work_.path() / "relay"; }

  scratch work_;
  fs::path key_, errors_;
  process serves_;
  std::string machine_;
};

// What starts all ranks: mpirun, or each node of the relay by itself.
std::vector<strings> commands(const run& r, const plan& p, strings program, const relay* nodes) {
  program.insert(program.end(), r.arguments.begin(), r.arguments.end());
  if (nodes == nullptr) {
    auto c = mpirun(mpi_of(r.network), p, r.ranks);
    c.insert(c.end(), program.begin(), program.end());
    return {c};
  }
  program.insert(program.end(), {"--ranks", std::to_string(r.ranks)});
  std::vector<strings> all;
  for (int rank = 0; rank < r.ranks; ++rank) {
    strings c;
    if (!p.where.hosts.empty())
      c = {p.where.agent, p.where.hosts[static_cast<std::size_t>(rank) % p.where.hosts.size()]};
    c.push_back("env");
    const auto variables = nodes->variables(rank);
    c.insert(c.end(), variables.begin(), variables.end());
    c.insert(c.end(), program.begin(), program.end());
    all.push_back(c);
  }
  return all;
}

}  // namespace

starter::starter(fs::path cleave) : cleave_(std::move(cleave)), programs_(cleave_.parent_path()) {
  leave_jobs();
}

std::string starter::program_of(const std::string& network) const {
  return programs_ / (is_plain(network) ? "net-" + network : "net-transport");
}

std::string starter::missing(const std::string& network) const {
  const auto mpi = mpi_of(network);
  const bool nats = mpi == "nats";
  const fs::path program = program_of(network);
  if (!fs::exists(program)) return "no " + program.string();
  if (nats) return is_plugin_here("libcleave-nats.so") ? "" : "no plug-in libcleave-nats.so";
  if (!is_plain(network)) return missing_for_jobs(mpi);
  return mpirun_of(mpi).empty() ? "no mpirun of " + mpi : "";
}

outcome starter::outcome_of(const run& r, const plan& p, deadline last) {
  if (clock::now() > last) throw out_of_time();
  const bool nats = mpi_of(r.network) == "nats";
  const auto nodes = nats ? std::make_unique<relay>(cleave_, p.where.relay_host) : nullptr;
  processes all;
  std::vector<fs::path> errors;
  for (const auto& command : commands(r, p, {program_of(r.network)}, nodes.get())) {
    errors.push_back(work_.path() / fmt::format("{}.err", all.size()));
    all.push_back(std::make_unique<process>(command, errors.back()));
  }
  outcome found;
  if (!read_all(all, last)) found.failed = silent;
  for (std::size_t i = 0; i < all.size() && found.failed.empty(); ++i)
    if (const int status = all[i]->wait().first; status != 0)
      found.failed = failure_of(status, errors[i]);
  std::istringstream lines(all[0]->said());
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("{") && line.ends_with("}")) found.cells.push_back(cell_of(r, line));
  if (found.cells.empty() && found.failed.empty()) found.failed = "says nothing";
  return found;
}

}  // namespace study::networks
