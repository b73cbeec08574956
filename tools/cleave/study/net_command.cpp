#include "net_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "measured.hpp"
#include "net_file.hpp"
#include "net_findings.hpp"
#include "support/save_file.hpp"

namespace study::networks {
namespace {

std::string in_words(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.2f} us", 1e6 * seconds)
         : seconds < 1  ? fmt::format("{:.2f} ms", 1e3 * seconds)
                        : fmt::format("{:.2f} s", seconds);
}

std::string key_of(const cell& c) {
  return fmt::format("{:<10} {:<9} {:>5} {:>5} {:>9}", c.what, c.algorithm, c.ranks,
                     c.pairs > 0 ? std::to_string(c.pairs) : "",
                     c.bytes > 0 ? std::to_string(c.bytes) : "");
}

void print_table(const measured& m) {
  fmt::print("{:<10} {:<9} {:>5} {:>5} {:>9}", "measured", "by", "ranks", "pairs", "bytes");
  for (const auto& network : m.what.networks) fmt::print(" {:>14}", network);
  fmt::print("\n");
  std::vector<std::string> printed;
  for (const cell& c : m.cells) {
    const auto key = key_of(c);
    if (std::find(printed.begin(), printed.end(), key) != printed.end()) continue;
    printed.push_back(key);
    fmt::print("{}", key);
    for (const auto& network : m.what.networks) {
      cell same = c;
      same.network = network;
      const auto seconds = m.seconds(same);
      fmt::print(" {:>14}", seconds ? in_words(*seconds) : "");
    }
    fmt::print("\n");
  }
}

void print_parameters(const measured& m) {
  fmt::print("\n{:<15} {:>10} {:>10} {:>10} {:>14} {:>8}\n", "LogGP", "L", "o", "g", "1 / G",
             "off by");
  for (const auto& network : m.what.networks)
    if (const auto p = parameters(m, network))
      fmt::print("{:<15} {:>10} {:>10} {:>10} {:>14} {:>6.0f} %\n", network, in_words(p->latency),
                 in_words(p->overhead), in_words(p->gap),
                 p->gap_per_byte > 0 ? fmt::format("{:.2f} MB/s", 1e-6 / p->gap_per_byte) : "",
                 100 * p->error);
  // By what a team over such a network chooses how its broadcasts go.
  for (const auto& network : m.what.networks)
    if (const auto p = parameters(m, network); p && network.starts_with("cleave-"))
      fmt::print("{}: CLEAVE_BROADCAST=auto,{:.3g},{:.3g},{:.3g}\n", network, 1e6 * p->latency,
                 1e6 * p->overhead, 1e6 * p->gap_per_byte);
}

void print_findings(const measured& m) {
  std::string paper;
  for (const auto& f : findings_of(m)) {
    if (f.paper != paper) fmt::print("\nthe paper: {}\n", paper = f.paper);
    fmt::print("  {:<15} {}{}\n", f.network, f.here,
               f.is == finding::verdict::unknown ? "" : ": " + f.in_words());
  }
}

}  // namespace

void command::print(const measured& m) {
  print_table(m);
  print_parameters(m);
  print_findings(m);
  for (const auto& f : m.failures)
    fmt::print("failed: {} with {} ranks: {}\n", f.network, f.ranks, f.reason);
  for (const auto& line : m.missing) fmt::print("not here: {}\n", line);
  if (const auto reason = m.disturbance(); !reason.empty())
    fmt::print("DISTURBED: {}: these figures compare nothing\n", reason);
}

network_file file_of(const measured& m) {
  network_file f{m.date,
                 m.machine,
                 m.what.where.hosts.empty() ? "one machine"
                                            : fmt::format("{} hosts", m.what.where.hosts.size()),
                 {}};
  for (const auto& network : m.what.networks)
    if (const auto p = parameters(m, network)) f.networks.push_back({network, *p});
  return f;
}

// Writes all there is; the parameters where there are some.
void command::write(const measured& m, const std::filesystem::path& folder) {
  apps::save_file(folder / "net.json", to_json(m, true) + "\n");
  apps::save_file(folder / "net.html", page(m));
  if (const auto f = file_of(m); !f.networks.empty())
    apps::save_file(folder / "network.json", to_json(f) + "\n");
}

command::command(apps::command_line& study)
    : passes_command(study, "net",
                     "Measure what a network gives, over plain MPI and Cleave's transports",
                     {"net.json", "net.html", "network.json"}) {
  choice& what = settings_.what;
  const auto some = [](const std::vector<std::string>& names) {
    return fmt::format("Only these, of {}", fmt::join(names, ", "));
  };
  line_.flag("--quick", what.quick, "Few sizes, up to 4 ranks, one pass: some seconds");
  line_.option_list("--networks", "NAME", what.networks, some(all_networks));
  line_.option_list("--parts", "NAME", what.parts, some(all_parts));
  line_.option_numbers("--ranks", what.ranks, 2, 512,
                       "Processes (default: 2, 4, 8, 16, 24, 32, 48; broadcasts up to 16)");
  line_.option_numbers("--bytes", what.bytes, 1, 1 << 26,
                       "Lengths of messages (default: 1 to 16 MiB, latency to 1 MiB)");
  line_.option_number("--barriers", what.barriers, 1, 1'000'000,
                      "Barriers in each run (default: 1000; quick: 100)");
  line_.option_number("--barrier-seconds", what.barrier_seconds, 1, 10'000,
                      "The most that they take (default: 10; quick: 1)");
  line_.option_number("--milliseconds", what.milliseconds, 1, 1'000'000,
                      "About how long one measurement takes (default: 100; quick: 5)");
  add_passes("How often all is run (default: 5; quick: 1)");
  line_.option_list("--hosts", "NAME", what.where.hosts,
                    "Processes go to these, in turn; programs have the same paths there");
  line_.option("--agent", "PROGRAM", what.where.agent,
               "Starts a command on a host: PROGRAM HOST COMMAND (default: ssh)");
  line_.option("--relay-host", "ADDRESS", what.where.relay_host,
               "Where hosts reach this machine's relay (default: 127.0.0.1)");
  add_output("tables");
}

}  // namespace study::networks
