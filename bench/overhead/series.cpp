#include "series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

namespace overhead {

double times::median() const {
  auto sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const auto n = sorted.size();
  return n == 0 ? 0 : (sorted[n / 2] + sorted[(n - 1) / 2]) / 2;
}
double times::least() const { return *std::min_element(seconds.begin(), seconds.end()); }
double times::most() const { return *std::max_element(seconds.begin(), seconds.end()); }

void series::add(const series& more) {
  auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  append(sequential.seconds, more.sequential.seconds);
  append(one.seconds, more.one.seconds);
  append(all.seconds, more.all.seconds);
  append(splits, more.splits);
  append(nodes, more.nodes);
}

series one_round(const kernel& k, int workers, int round, const std::string& flags) {
  series s{k.name, k.baseline, flags, {}, {}, {}, {}, {}};
  std::array<std::int64_t, 3> nodes{};
  for (int i = 0; i < 3; i++) {
    const int form = (i + round) % 3;  // 0: sequential, 1: one worker, 2: all workers
    if (form == 0 && !k.baseline.empty()) continue;
    const auto result = k.run(form == 2 ? workers : form);
    if (!result.found.wrong.empty())
      throw std::runtime_error(fmt::format("{}: wrong answer: {}; right is {}", k.name,
                                           result.found.text, result.found.wrong));
    times& to = form == 0 ? s.sequential : form == 1 ? s.one : s.all;
    to.seconds.push_back(result.cost.seconds);
    if (form == 2) s.splits.push_back(result.cost.splits);
    for (const auto& [name, value] : result.found.more)
      if (name == "nodes") nodes[static_cast<std::size_t>(form)] = std::get<std::int64_t>(value);
  }
  if (nodes[1] != 0) s.nodes.assign(nodes.begin(), nodes.end());
  return s;
}

namespace {

nlohmann::ordered_json to_json(const series& s) {
  nlohmann::ordered_json o;
  o["name"] = s.name;
  if (!s.baseline.empty()) o["baseline"] = s.baseline;
  o["flags"] = s.flags;
  o["sequential_seconds"] = s.sequential.seconds;
  o["one_worker_seconds"] = s.one.seconds;
  o["all_workers_seconds"] = s.all.seconds;
  if (!s.sequential.seconds.empty()) {
    o["T1_over_TS"] = s.one.median() / s.sequential.median();
    o["TS_over_TP"] = s.sequential.median() / s.all.median();
  }
  o["splits"] = s.splits;
  if (!s.nodes.empty()) o["nodes"] = s.nodes;
  return o;
}

}  // namespace

std::string to_json(const report& r) {
  nlohmann::ordered_json o;
  o["machine"] = r.machine;
  o["cpus"] = std::thread::hardware_concurrency();
  o["compiler"] = __VERSION__;
  o["workers"] = r.workers;
  o["rounds"] = r.rounds;
  for (const auto& one : r.programs) o["programs"].push_back(to_json(one));
  if (r.wake_up) {
    o["wake_up_seconds"] = {{"median", r.wake_up->median}, {"high", r.wake_up->high}};
    o["idle_cpu_seconds_per_second"] = r.idle;
  }
  for (const auto& c : r.calls) o["call_seconds"][c.name] = c.seconds;
  for (const auto& l : r.loops)
    o["short_loops"].push_back({{"elements", l.elements},
                                {"plain_seconds", l.plain},
                                {"in_one_run_seconds", l.in_one_run},
                                {"run_each_seconds", l.run_each}});
  return o.dump();
}

series first_of(const std::string& json) {
  const auto all = nlohmann::ordered_json::parse(json);
  const auto& o = all.at("programs").at(0);
  auto list = [&](const char* name) { return times{o.at(name).get<std::vector<double>>()}; };
  series s{o.at("name"),
           o.value("baseline", ""),
           o.at("flags"),
           list("sequential_seconds"),
           list("one_worker_seconds"),
           list("all_workers_seconds"),
           o.at("splits"),
           {}};
  if (o.contains("nodes")) s.nodes = o["nodes"].get<std::vector<std::int64_t>>();
  return s;
}

std::vector<series> faster_of(const std::vector<series>& a, const std::vector<series>& b) {
  std::vector<series> chosen;
  for (std::size_t i = 0; i < a.size(); i++) {
    // What has no sequential program of its own stays beside the one it is compared with.
    auto rival = [&](const std::vector<series>& of) {
      return std::find_if(of.begin(), of.end(), [&](const series& s) {
        return s.name == (a[i].baseline.empty() ? a[i].name : a[i].baseline);
      });
    };
    const auto first = rival(a), second = rival(b);
    const bool second_is_faster = first != a.end() && second != b.end() &&
                                  second->sequential.median() < first->sequential.median();
    chosen.push_back(second_is_faster ? b[i] : a[i]);
  }
  return chosen;
}

void print_table(const std::vector<series>& all, int workers) {
  auto cell = [](const times& t) {
    return t.seconds.empty()
               ? std::string("-")
               : fmt::format("{:.3f} ({:.3f}-{:.3f})", t.median(), t.least(), t.most());
  };
  const auto tp = fmt::format("T_{}", workers);
  fmt::print("{:<12} {:<21} {:<21} {:<21} {:>7} {:>7} {:>9}  {}\n", "program", "T_S (spread)",
             "T_1 (spread)", tp + " (spread)", "T_1/T_S", "T_S/" + tp, "splits", "flags");
  for (const series& s : all) {
    const auto base = std::find_if(all.begin(), all.end(), [&](const series& other) {
      return other.name == (s.baseline.empty() ? s.name : s.baseline);
    });
    const double ts = base == all.end() ? 0 : base->sequential.median();
    auto ratio = [](double a, double b) {
      return a > 0 && b > 0 ? fmt::format("{:.3f}", a / b) : std::string("-");
    };
    auto splits = s.splits;
    std::sort(splits.begin(), splits.end());
    fmt::print("{:<12} {:<21} {:<21} {:<21} {:>7} {:>7} {:>9}  {}\n", s.name, cell(s.sequential),
               cell(s.one), cell(s.all), ratio(s.one.median(), ts), ratio(ts, s.all.median()),
               s.baseline.empty() ? fmt::format("{}", splits[splits.size() / 2]) : "-", s.flags);
  }
  for (const series& s : all)
    if (s.nodes.size() >= 3) {
      fmt::print("\n{} nodes:", s.name);
      const char* form[] = {"sequential", "one worker", "all workers"};
      for (std::size_t i = 0; i < 3; i++) {
        std::int64_t least = s.nodes[i], most = s.nodes[i];
        for (std::size_t k = i; k < s.nodes.size(); k += 3)
          least = std::min(least, s.nodes[k]), most = std::max(most, s.nodes[k]);
        if (least == most) fmt::print("  {} {}", form[i], least);
        else fmt::print("  {} {} to {}", form[i], least, most);
      }
      fmt::print("\n");
    }
}

void print_calls(const std::vector<call_cost>& calls, const std::vector<short_loop>& loops) {
  for (const auto& c : calls) fmt::print("{:<32} {:7.0f} ns\n", c.name, 1e9 * c.seconds);
  fmt::print("\n{:>8} {:>10} {:>14} {:>14}\n", "floats", "plain, us", "in one run, us",
             "a run each, us");
  for (const auto& l : loops)
    fmt::print("{:>8} {:>10.2f} {:>14.2f} {:>14.2f}\n", l.elements, 1e6 * l.plain,
               1e6 * l.in_one_run, 1e6 * l.run_each);
}

}  // namespace overhead
