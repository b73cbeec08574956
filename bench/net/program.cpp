#include "program.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "measurements.hpp"
#include "support/command_line.hpp"

namespace bench::net {
namespace {

constexpr int longest = 64 << 20;

void print(const row& r, const network& over) {
  nlohmann::ordered_json o{{"network", over.name()}, {"what", r.what}, {"ranks", over.ranks()}};
  if (!r.algorithm.empty()) o["algorithm"] = r.algorithm;
  if (r.pairs > 0) o["pairs"] = r.pairs;
  if (r.bytes > 0) o["bytes"] = r.bytes;
  o["count"] = r.count;
  o["low"] = r.low, o["seconds"] = r.median, o["high"] = r.high;
  fmt::print("{}\n", o.dump());
  apps::flush_output();
}

void check(const plan& what, int ranks) {
  const auto expect = [ranks](int least, const char* option) {
    if (ranks < least)
      throw apps::usage_error(
          fmt::format("{}: expected {} ranks or more, got {}", option, least, ranks));
  };
  if (!what.latency.empty()) expect(2, "--latency");
  if (!what.throughput.empty()) expect(2, "--throughput");
  for (const int count : what.pairs) expect(2 * count, "--pairs");
  for (const auto& name : what.algorithms)
    if (std::find(all_algorithms.begin(), all_algorithms.end(), name) == all_algorithms.end())
      throw apps::usage_error(fmt::format("--algorithms: expected some of {}, got '{}'",
                                          fmt::join(all_algorithms, ", "), name));
}

}  // namespace

int main(int argc, char** argv, const opener& open) {
  plan what;
  int ranks = 0, milliseconds = 200, barrier_seconds = 20;
  apps::command_line line("net", "Measures a network; prints a line of JSON for each measurement.");
  line.option_number("--barriers", what.barriers, 1, 1'000'000, "So many barriers");
  line.option_numbers("--latency", what.latency, 1, longest,
                      "Until a send returns, and half a round trip, of messages of N bytes");
  line.option_numbers("--throughput", what.throughput, 1, longest, "Messages of N bytes, in turn");
  line.option_numbers("--broadcast", what.broadcast, 1, longest, "N bytes to all ranks");
  line.option_list("--algorithms", "NAME", what.algorithms,
                   fmt::format("How (default: all of {})", fmt::join(all_algorithms, ", ")));
  line.option_numbers("--pairs", what.pairs, 1, 512, "N pairs of ranks that send at once");
  line.option_number("--pair-bytes", what.pair_bytes, 1, longest,
                     "Length of their messages (default: 65536)");
  line.option_number("--count", what.count, 1, 1'000'000,
                     "The most repetitions of a measurement (default: 1000)");
  line.option_number("--milliseconds", milliseconds, 1, 1'000'000,
                     "About how long a measurement takes, at most (default: 200)");
  line.option_number("--barrier-seconds", barrier_seconds, 1, 10'000,
                     "The most that the barriers take (default: 20)");
  line.option_number("--ranks", ranks, 1, 4096,
                     "How many ranks there are, where no launcher tells: nodes behind a relay");
  try {
    line.parse(argc, argv);
    what.seconds = 1e-3 * milliseconds;
    what.barrier_seconds = barrier_seconds;
    const auto over = open(ranks);
    check(what, over->ranks());
    try {
      measure(*over, what, [&over](const row& r) { print(r, *over); });
    } catch (...) { over->give_up(apps::failed("net")); }
    return 0;
  } catch (...) { return apps::failed("net"); }
}

}  // namespace bench::net
