#include "net_cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/command_line.hpp"

namespace study::networks {
namespace {

using names = std::vector<std::string>;

bool has(const names& some, const std::string& name) {
  return std::find(some.begin(), some.end(), name) != some.end();
}
void check(const char* option, const names& given, const names& expected) {
  for (const auto& name : given)
    if (!has(expected, name))
      throw apps::usage_error(fmt::format("{}: expected some of {}, got '{}'", option,
                                          fmt::join(expected, ", "), name));
}

// from, times from and so on, up to `to`.
std::vector<int> lengths(int from, int to, int times) {
  std::vector<int> all;
  for (long n = from; n <= to; n *= times) all.push_back(static_cast<int>(n));
  return all;
}

std::vector<int> at_most(const std::vector<int>& some, int most) {
  std::vector<int> all;
  std::copy_if(some.begin(), some.end(), std::back_inserter(all),
               [most](int n) { return n <= most; });
  return all;
}

// Pairs are of the ranks of the largest broadcast; 0: there is none.
int ranks_of_pairs(const plan& p) {
  const auto some = at_most(p.ranks, 16);
  return some.empty() ? 0 : some.back();
}

int or_usual(int asked, bool quick, int few, int usual) {
  return asked > 0 ? asked : quick ? few : usual;
}

void add(std::vector<std::string>& to, const char* option, const std::vector<int>& numbers) {
  if (numbers.empty()) return;
  to.insert(to.end(), {option, fmt::format("{}", fmt::join(numbers, ","))});
}

}  // namespace

plan plan_of(const choice& asked) {
  constexpr int mega = 1 << 20;
  check("--networks", asked.networks, all_networks);
  check("--parts", asked.parts, all_parts);
  const auto wanted = [&asked](const char* part) {
    return asked.parts.empty() || has(asked.parts, part);
  };
  const bool quick = asked.quick;
  plan p;
  p.quick = quick;
  p.networks = asked.networks.empty() ? all_networks : asked.networks;
  p.ranks = !asked.ranks.empty() ? asked.ranks
            : quick              ? std::vector{2, 4}
                                 : std::vector{2, 4, 8, 16, 24, 32, 48};
  std::sort(p.ranks.begin(), p.ranks.end());
  p.ranks.erase(std::unique(p.ranks.begin(), p.ranks.end()), p.ranks.end());
  const auto sizes = [&](const char* part, std::vector<int> few, std::vector<int> usual) {
    return !wanted(part)          ? std::vector<int>()
           : !asked.bytes.empty() ? asked.bytes
           : quick                ? few
                                  : usual;
  };
  p.bytes.latency = sizes("latency", {1, 1024, 65536}, lengths(1, mega, 2));
  p.bytes.throughput = sizes("throughput", {1, 1024, 65536}, lengths(1, 16 * mega, 2));
  p.bytes.broadcast = sizes("broadcast", {4, 65536}, lengths(4, 16 * mega, 4));
  p.broadcast_ranks = p.bytes.broadcast.empty() ? std::vector<int>() : at_most(p.ranks, 16);
  if (wanted("pairs")) p.pairs = lengths(1, ranks_of_pairs(p) / 2, 2);
  if (wanted("barrier")) p.barriers = or_usual(asked.barriers, quick, 100, 1000);
  p.milliseconds = or_usual(asked.milliseconds, quick, 5, 100);
  p.barrier_seconds = or_usual(asked.barrier_seconds, quick, 1, 10);
  p.passes = or_usual(asked.passes, quick, 1, 5);
  p.where = asked.where;
  return p;
}

std::vector<run> runs_of(const plan& p, int pass) {
  std::vector<run> all;
  for (const int ranks : p.ranks)
    for (const auto& network : p.networks) {
      run r{network, ranks, {}};
      if (p.barriers > 0)
        r.arguments = {"--barriers", std::to_string(p.barriers), "--barrier-seconds",
                       std::to_string(p.barrier_seconds)};
      if (ranks == p.ranks.front() && ranks >= 2) {
        add(r.arguments, "--latency", p.bytes.latency);
        add(r.arguments, "--throughput", p.bytes.throughput);
      }
      if (std::find(p.broadcast_ranks.begin(), p.broadcast_ranks.end(), ranks) !=
          p.broadcast_ranks.end())
        add(r.arguments, "--broadcast", p.bytes.broadcast);
      if (ranks == ranks_of_pairs(p)) add(r.arguments, "--pairs", p.pairs);
      if (r.arguments.empty()) continue;
      r.arguments.insert(r.arguments.end(), {"--milliseconds", std::to_string(p.milliseconds)});
      all.push_back(r);
    }
  if (pass % 2 == 0) std::reverse(all.begin(), all.end());
  return all;
}

}  // namespace study::networks
