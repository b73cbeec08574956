#include "net_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "measured.hpp"

namespace study::networks {
namespace {

constexpr std::size_t kilobyte = 1024, large = 256 * kilobyte, larger = 1024 * kilobyte;

cell barrier(const std::string& network, int ranks) {
  cell c;
  c.network = network, c.what = "barrier", c.ranks = ranks;
  return c;
}
cell broadcast(const std::string& network, const char* algorithm, int ranks, std::size_t bytes) {
  cell c = barrier(network, ranks);
  c.what = "broadcast", c.algorithm = algorithm, c.bytes = bytes;
  return c;
}

// How many times as fast the tree is as the flat broadcast; 0: not measured.
double gain(const measured& m, const std::string& network, int ranks, std::size_t bytes) {
  const auto flat = m.seconds(broadcast(network, "flat", ranks, bytes));
  const auto tree = m.seconds(broadcast(network, "binomial", ranks, bytes));
  return flat && tree ? *flat / *tree : 0;
}

using found = std::vector<finding>;
using verdict = finding::verdict;
verdict judged(bool holds) { return holds ? verdict::holds : verdict::fails; }

// The tree is before the flat broadcast from so many ranks on.
void add_from(found& to, const measured& m, const std::string& network, int ranks,
              std::size_t bytes, const std::string& name) {
  std::vector<std::string> seen;
  bool holds = true, any = false;
  for (const int n : m.what.broadcast_ranks) {
    const double times = gain(m, network, n, bytes);
    if (times == 0) continue;
    seen.push_back(fmt::format("{:.2f} with {}", times, n));
    if (n < ranks) continue;
    any = true;
    holds = holds && times > 1;
  }
  if (!any) return;
  to.push_back({fmt::format("a broadcast of {} is faster by a tree from {} nodes", name, ranks),
                network, fmt::format("times as fast as flat: {}", fmt::join(seen, ", ")),
                judged(holds)});
}

void add_large(found& to, const measured& m, const std::string& network) {
  add_from(to, m, network, 8, large, "256 KB");
}
void add_larger(found& to, const measured& m, const std::string& network) {
  add_from(to, m, network, 4, larger, "1 MB");
}
void add_gain(found& to, const measured& m, const std::string& network) {
  if (const double times = gain(m, network, 16, larger); times > 0)
    to.push_back({"with 16 nodes and 1 MB the tree is nearly 4 times as fast", network,
                  fmt::format("{:.2f} times", times), judged(times > 3 && times < 5)});
}

void add_barriers(found& to, const measured& m, const std::string& network) {
  const auto few = m.seconds(barrier(network, 8)), many = m.seconds(barrier(network, 16));
  if (few && many)
    to.push_back({"from 8 nodes to 16 the time of MPI's barrier grows little, of PVM's much",
                  network,
                  fmt::format("{:.2f} times as long: {:.1f} and {:.1f} us", *many / *few,
                              1e6 * *few, 1e6 * *many),
                  verdict::unknown});
}

void add_limit(found& to, const measured& m, const std::string& network) {
  int most = 0;
  for (const cell& c : m.cells)
    if (c.network == network && c.what == "barrier") most = std::max(most, c.ranks);
  const bool failed = std::any_of(m.failures.begin(), m.failures.end(),
                                  [&](const failure& f) { return f.network == network; });
  if (most > 24 || (failed && is_plain(network)))
    to.push_back({"MPI does not run on more than 24 nodes", network,
                  fmt::format("it runs on {}", most), judged(most <= 24)});
}

// The longest message whose send takes hardly longer than that of one byte.
void add_setup(found& to, const measured& m, const std::string& network) {
  double first = 0;
  std::size_t longest = 0;
  for (const cell& c : m.cells) {
    if (c.network != network || c.what != "send") continue;
    const double seconds = median(c.seconds);
    if (first == 0) first = seconds;
    if (seconds > 1.5 * first) break;
    longest = c.bytes;
  }
  if (first > 0)
    to.push_back(
        {"a send takes as long up to 512 bytes (MPI, 0.8 ms) or 1 KB (PVM, 1.2 ms)", network,
         fmt::format("{:.2f} us, up to {} bytes at most half as much again", 1e6 * first, longest),
         verdict::unknown});
}

void add_throughput(found& to, const measured& m, const std::string& network) {
  double most = 0;
  std::size_t at = 0;
  for (const cell& c : m.cells) {
    if (c.network != network || c.what != "stream") continue;
    const double rate = static_cast<double>(c.bytes) / median(c.seconds);
    if (rate > most) most = rate, at = c.bytes;
  }
  if (most > 0)
    to.push_back({"at most 800 (MPI), 500 (PVM, TCP) and 200 KB/s (PVM, UDP)", network,
                  fmt::format("{}, with messages of {} bytes",
                              most < 1e7 ? fmt::format("{:.0f} KB/s", most / 1e3)
                                         : fmt::format("{:.0f} MB/s", most / 1e6),
                              at),
                  verdict::unknown});
}

// Whether a pair among others is as fast as alone depends on what joins them: a switch, or a medium
// that all share.
void add_pairs(found& to, const measured& m, const std::string& network) {
  double alone = 0;
  std::vector<std::string> seen;
  for (const cell& c : m.cells) {
    if (c.network != network || c.what != "pairs") continue;
    const double rate = c.pairs * static_cast<double>(c.bytes) / median(c.seconds);
    if (c.pairs == 1) alone = rate;
    if (alone > 0) seen.push_back(fmt::format("{:.2f} by {}", rate / alone, c.pairs));
  }
  if (seen.size() > 1)
    to.push_back({"on a switch pairs do not disturb each other, on a shared medium they share",
                  network, fmt::format("together, in times of one pair: {}", fmt::join(seen, ", ")),
                  verdict::unknown});
}

}  // namespace

std::string finding::in_words() const {
  return is == verdict::holds ? "yes" : is == verdict::fails ? "no" : "";
}

std::vector<finding> findings_of(const measured& m) {
  found all;
  for (const auto add : {add_barriers, add_limit, add_setup, add_throughput, add_large, add_larger,
                         add_gain, add_pairs})
    for (const auto& network : m.what.networks) add(all, m, network);
  if (!m.disturbance().empty())
    for (finding& f : all) f.is = verdict::unknown;
  return all;
}

}  // namespace study::networks
