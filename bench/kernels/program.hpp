// The program that runs one kernel on one system: bench/systems/NAME.cpp ends with CLEAVE_STUDY_PROGRAM(its system).
//
// It prints one JSON object. Exit status: 0, also if the answer is wrong or the kernel could not say anything, which
// the object tells; 2 if the arguments are wrong.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "accounting.hpp"
#include "micro.hpp"
#include "recursive.hpp"
#include "tree.hpp"

namespace bench {

template <task_system S>
using kernel = result (*)(S&, const settings&);

template <task_system S>
std::map<std::string, kernel<S>> microscopic() {
  return {{spawn<S>::name, &spawn<S>::run},
          {migrate<S>::name, &migrate<S>::run},
          {spread<S>::name, &spread<S>::run}};
}
template <task_system S>
std::map<std::string, kernel<S>> whole() {
  return {{tree_1<S>::name, &tree_1<S>::run}, {tree_2<S>::name, &tree_2<S>::run},
          {fib<S>::name, &fib<S>::run},       {queens<S>::name, &queens<S>::run},
          {uts<S>::name, &uts<S>::run},       {skynet<S>::name, &skynet<S>::run},
          {matmul<S>::name, &matmul<S>::run}};
}

// How many tasks run at the same time when one more than `workers` would like to. It should be `workers`: then one more
// has a hundredth of a second to show up. On a busy machine a worker may take longer to come to a processor.
template <task_system S>
int workers_seen(S& system, int workers) {
  std::atomic<int> running{0}, most{0};
  std::atomic<double> give_up{now() + 1};
  system.run([&] {
    for_each<S>(workers + 1, [&, wanted = workers + 1](int) {
      const int n = ++running;
      for (int seen = most; seen < n && !most.compare_exchange_weak(seen, n);) {}
      if (n == workers) give_up = now() + 0.01;
      while (most < wanted && now() < give_up) relax<S>();
      running--;
    });
  });
  return most;
}

// A system that keeps account itself is told whether to.
template <task_system S>
S started(const settings& with) {
  if constexpr (std::constructible_from<S, int, bool>) return S(with.workers, with.account);
  else return S(with.workers);
}

template <task_system S>
nlohmann::ordered_json run_kernel(const std::string& name, kernel<S> run, const settings& with) {
  nlohmann::ordered_json o;
  o["system"] = S::name;
  o["version"] = S::version();
  o["kernel"] = name;
  o["size"] = with.size == size::full ? "full" : "quick";
  o["workers"] = with.workers;
  try {
    S system = started<S>(with);
    if (const int seen = workers_seen(system, with.workers); seen != with.workers)
      throw kernel_error(std::to_string(seen) + " tasks at once");
    const result r = run(system, with);
    o["arguments"] = r.arguments;
    o["answer"] = r.answer;
    o["right"] = r.answer == r.expected;
    if (r.answer != r.expected)
      throw kernel_error("wrong answer: " + r.answer + ", not " + r.expected);
    o["seconds"] = r.seconds;
    o["cycles"] = r.cycles;
    if (r.tasks > 0) o["tasks"] = r.tasks;
    if (!r.series.empty()) o["series"] = r.series;
    if (r.work > 0) o["work"] = r.work, o["span"] = r.span;
    if (with.account && r.shares) {
      const auto& s = *r.shares;
      const double all = s.elapsed * with.workers;
      o["shares"] = {{"elapsed", all},
                     {"work", s.work},
                     {"api", s.api},
                     {"stolen", s.stolen},
                     {"rest", all - s.work - s.api - s.stolen}};
    }
  } catch (const std::exception& e) { o["failed"] = e.what(); }
  return o;
}

// Where it tells of the time, with clocks around the tasks; but a system that says itself where its time went goes without.
template <task_system S>
nlohmann::ordered_json run_it(const std::string& name, kernel<S> run, const settings& with) {
  if constexpr (!has_shares<S>)
    if (with.account) return run_kernel<accounted<S>>(name, whole<accounted<S>>().at(name), with);
  return run_kernel<S>(name, run, with);
}

template <task_system S>
int program(int argc, char** argv) {
  settings with;
  std::string name;
  const auto programs = whole<S>();
  auto kernels = microscopic<S>();
  kernels.insert(programs.begin(), programs.end());
  std::vector<std::string> names;
  for (const auto& [known, run] : kernels) names.push_back(known);
  CLI::App app("Runs one of the study's kernels on one task system.");
  app.add_option("KERNEL", name, "Which")->required()->check(CLI::IsMember(names));
  app.add_option("--workers", with.workers, "How many")->check(CLI::Range(1, 1024));
  app.add_option("--rounds", with.rounds, "How many rounds are reported")
      ->check(CLI::Range(1, 100'000));
  app.add_flag_callback(
      "--full", [&] { with.size = size::full; }, "The large problem");
  app.add_flag("--account", with.account,
               "Tell where the time goes, by clocks around every task; of whole programs only");
  try {
    app.parse(argc, argv);
    if (with.account && !programs.contains(name))
      throw CLI::ValidationError("--account", "not of spawn, migrate and spread");
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  } catch (const CLI::ParseError& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 2;
  }
  std::puts(run_it<S>(name, kernels.at(name), with).dump().c_str());
  return 0;
}

}  // namespace bench

#define CLEAVE_STUDY_PROGRAM(system) \
  int main(int argc, char** argv) { return bench::program<system>(argc, argv); }
