#include "record/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "study/page.hpp"

// study/embedded.cpp makes it of record.html.
extern const char record_template[];

namespace record {
namespace {

using json = nlohmann::ordered_json;

// How many lines a table has.
constexpr std::size_t most_lines = 12;
// How many pieces of time a timeline has.
constexpr std::size_t pieces = 400;

double seconds(double microseconds) { return 1e-6 * microseconds; }

std::string name_of(const report& r, const path_part& p) {
  if (p.site == no_site) return "after Init";
  return (p.is == path_part::kind::computing ? "after " : "") + r.names[p.site];
}

struct pair_wait {
  std::size_t rank, waits_for;
  double time;
};
std::vector<pair_wait> longest_waits(const report& r) {
  std::vector<pair_wait> all;
  for (std::size_t a = 0; a < r.found.waits.size(); ++a)
    for (std::size_t b = 0; b < r.found.waits.size(); ++b)
      if (r.found.waits[a][b] > 0) all.push_back({a, b, r.found.waits[a][b]});
  std::ranges::sort(all, std::greater<>(), &pair_wait::time);
  return all;
}

double work_of(const report& r) {
  double work = 0;
  for (const shares& s : r.found.ranks) work += s.computing;
  return work;
}

// Adds a stretch of time to the pieces that it lies in.
void add_to_pieces(std::vector<double>& to, double piece, double from, double until) {
  for (auto k = static_cast<std::size_t>(from / piece); from < until && k < to.size(); ++k) {
    const double end = std::min(until, piece * static_cast<double>(k + 1));
    to[k] += std::max(0.0, end - from);
    from = std::max(from, end);
  }
}

// Tells for each piece of time which shares of it a rank communicates and waits.
json timeline_of(const report& r, std::uint32_t rank) {
  const rank_steps& steps = r.of.ranks[rank];
  const double piece = std::max(r.of.end, 1e-9) / static_cast<double>(pieces);
  std::vector<double> communicating(pieces), waiting(pieces);
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    const parts p = parts_of(r.of, r.found.by, rank, i);
    add_to_pieces(waiting, piece, steps.steps[i].begin, p.reached);
    add_to_pieces(communicating, piece, p.reached, steps.steps[i].end);
  }
  add_to_pieces(communicating, piece, 0, steps.begin);
  add_to_pieces(waiting, piece, steps.end, r.of.end);
  json line = json::array();
  for (std::size_t k = 0; k < pieces; ++k)
    line.push_back({std::round(1000 * communicating[k] / piece) / 1000,
                    std::round(1000 * waiting[k] / piece) / 1000});
  return line;
}

json object_of(const report& r) {
  json o;
  o["ranks"] = r.of.ranks.size(), o["seconds"] = seconds(r.of.end);
  o["calls"] = r.of.calls, o["messages"] = r.of.messages, o["bytes"] = r.of.bytes;
  o["collectives"] = r.of.collectives;
  o["without_partner"] = r.of.without_partner;
  o["calls_of_other_threads"] = r.of.calls_of_other_threads;
  o["work"] = seconds(work_of(r)), o["span"] = r.span;
  o["forecast"] = r.forecast, o["without_mpi"] = r.without_mpi;
  o["transit"] = {{"us", r.found.by.fixed}, {"us_per_byte", r.found.by.per_byte}};
  o["shares"] = json::array(), o["waits"] = json::array(), o["path"] = json::array();
  for (const shares& s : r.found.ranks)
    o["shares"].push_back({{"computing", seconds(s.computing)},
                           {"communicating", seconds(s.communicating)},
                           {"waiting", seconds(s.waiting)}});
  for (const pair_wait& w : longest_waits(r))
    o["waits"].push_back(
        {{"rank", w.rank}, {"waits_for", w.waits_for}, {"seconds", seconds(w.time)}});
  for (const path_part& p : r.found.path)
    o["path"].push_back({{"rank", p.rank}, {"what", name_of(r, p)}, {"seconds", seconds(p.time)}});
  return o;
}

std::string text_of(const json& o) {
  return o.dump(-1, ' ', false, json::error_handler_t::replace);
}

void print_path(const report& r) {
  fmt::print("\n{:>9} {:>7} {:>5}  critical path\n", "seconds", "", "rank");
  double left = r.of.end;
  for (std::size_t i = 0; i < std::min(most_lines, r.found.path.size()); ++i) {
    const path_part& p = r.found.path[i];
    left -= p.time;
    fmt::print("{:>9.4f} {:>5.1f} % {:>5}  {}\n", seconds(p.time), 100 * p.time / r.of.end, p.rank,
               name_of(r, p));
  }
  if (r.found.path.size() > most_lines)
    fmt::print("{:>9.4f} {:>5.1f} % {:>5}  {} more\n", seconds(left), 100 * left / r.of.end, "",
               r.found.path.size() - most_lines);
}

void print_waits(const report& r) {
  const auto all = longest_waits(r);
  if (all.empty()) return;
  fmt::print("\n{:>9} {:>7} {:>5}  waits for rank\n", "seconds", "", "rank");
  for (std::size_t i = 0; i < std::min(most_lines, all.size()); ++i)
    fmt::print("{:>9.4f} {:>5.1f} % {:>5}  {}\n", seconds(all[i].time),
               100 * all[i].time / r.of.end, all[i].rank, all[i].waits_for);
  if (all.size() > most_lines) fmt::print("{:>25}{} more\n", "", all.size() - most_lines);
}

}  // namespace

void print(const report& r, const std::string& file) {
  const auto n = r.of.ranks.size();
  const double work = work_of(r);
  fmt::print(
      "recorded     {} ranks, {:.4f} s, {} calls: {} messages with {:.0f} bytes, {} "
      "collective calls\n",
      n, seconds(r.of.end), r.of.calls, r.of.messages, r.of.bytes, r.of.collectives);
  fmt::print("work         {:.4f} s: what all ranks compute\n", seconds(work));
  fmt::print("span         {:.4f} s: the longest path of what waits for each other\n", r.span);
  fmt::print("forecast     {:.4f} s: this run\n", r.forecast);
  fmt::print("             {:.4f} s: if MPI took no time, and ranks waited for each other only\n",
             r.without_mpi);
  fmt::print("             {:.4f} s: if, too, all ranks computed for the same time\n",
             seconds(work) / static_cast<double>(n));
  if (r.of.without_partner > 0)
    fmt::print("not matched  {} messages, of which one end alone was seen\n", r.of.without_partner);
  if (r.of.calls_of_other_threads > 0)
    fmt::print("not recorded {} calls of other threads than the first\n",
               r.of.calls_of_other_threads);
  fmt::print("\n{:>5} {:>11} {:>15} {:>9}\n", "rank", "computing", "communicating", "waiting");
  for (std::size_t k = 0; k < n; ++k) {
    const shares& s = r.found.ranks[k];
    fmt::print("{:>5} {:>9.1f} % {:>13.1f} % {:>7.1f} %\n", k, 100 * s.computing / r.of.end,
               100 * s.communicating / r.of.end, 100 * s.waiting / r.of.end);
  }
  print_path(r);
  print_waits(r);
  fmt::print("\nwritten: {0} (cleave plan {0})\n", file);
}

std::string to_json(const report& r) { return text_of(object_of(r)); }

std::string page(const report& r) {
  json o = object_of(r);
  o["timelines"] = json::array();
  for (std::uint32_t k = 0; k < r.of.ranks.size(); ++k) o["timelines"].push_back(timeline_of(r, k));
  return study::page(record_template, text_of(o));
}

}  // namespace record
