#include "driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cleave/runtime.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

namespace apps {

namespace {

void print_row(const char* name, const std::string& text) { fmt::print("{:<12} {}\n", name, text); }

}  // namespace

// What is printed.
struct driver::report {
  answer found;
  std::vector<measurement> runs;
  measurement median;
  int workers;
  cleave::work_span program;  // what --profile measured
  cleave::time_spent spent;   // the time of all runs
  cleave::job_statistics job;
  double bound() const { return program.work / workers + program.span; }
};

driver::driver(const std::string& name, const std::string& about, const std::string& example,
               const std::string& notes)
    : command_line(name, about,
                   "Example:\n  " + example + "\n" + (notes.empty() ? "" : "\n" + notes)) {
  option_number("--workers", workers_, 1, 1024,
                "Workers (default: $CLEAVE_WORKERS, else the CPUs this process may use)");
  option("--transport", "NAME", transport_,
         "What joins the processes of a job: mpi, openmpi, mpich, nats, none (default: mpi if "
         "started by mpirun or srun)");
  // This option is not among what parse() finds: it is looked for before, as a server is given
  // nothing to compute.
  option("--serve", "WHERE", serve_,
         "Offer this machine to jobs of other sites: a key file, or a relay's URL (docs/sites.md)");
  option_number("--repeat", repeats_, 1, 1'000'000,
                "Run N times and report the run with the median time");
  option_number("--check", check_, 1, 1'000'000'000,
                "Look for mistakes: divide at N polls at most (1: at each) and compare with an "
                "undivided run (docs/limits.md)");
  option_number("--check-seed", check_seed_, 1, 1'000'000'000,
                "Which polls those are (default: any)");
  flag("--json", json_, "Print one JSON object instead of text");
  option("--trace", "FILE", trace_, "Write what each worker did when; opens in ui.perfetto.dev");
  option_number("--trace-size", trace_size_, 1, 4096, "Its size at most, in MiB (default: 16)");
  flag("--profile", profile_,
       "Measure work and span too, in a run of their own, and say where the time went");
  not_reported_ = added();
  flag("--sequential", sequential_, "Run the plain sequential program");
}

void driver::parse(int argc, char** argv) {
  cleave::serve_if_asked(argc, argv);
  command_line::parse(argc, argv);
  if (sequential_ && is_given("--workers"))
    throw usage_error("--sequential: expected without --workers, got both");
  if (sequential_ && (profile_ || !trace_.empty()))
    throw usage_error("--sequential: expected without --trace and --profile");
  if (sequential_ && is_given("--check"))
    throw usage_error("--sequential: expected without --check, got both");
  if (is_given("--trace") && trace_.empty())
    throw usage_error("--trace: expected a file, got nothing");
}

int driver::run(const trial& once) {
  if (sequential_ && !cleave::is_first_node()) return 0;
  std::unique_ptr<cleave::runtime> workers;
  if (!sequential_) {
    cleave::options wanted;
    wanted.workers = workers_;
    wanted.transport = transport_;
    wanted.check = check_;
    wanted.check_seed = static_cast<std::uint32_t>(check_seed_);
    wanted.trace = trace_;
    wanted.trace_bytes = static_cast<std::size_t>(trace_size_) << 20;
    wanted.timing = profile_;
    workers = std::make_unique<cleave::runtime>(wanted);
  }
  report r;
  for (int i = 0; i < repeats_ && r.found.wrong.empty(); i++) {
    outcome result = once(workers.get());
    r.runs.push_back(result.cost);
    r.found = std::move(result.found);
  }
  if (!r.found.wrong.empty()) {
    std::fprintf(stderr, "%s: wrong answer: %s; right is %s\n", program().c_str(),
                 r.found.text.c_str(), r.found.wrong.c_str());
    return 1;
  }
  auto sorted = r.runs;
  auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end(),
                   [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  r.median = *middle;
  if (workers) r.job = workers->job();
  r.workers = workers ? static_cast<int>(r.job.workers) : 1;
  if (profile_) {
    r.spent = workers->spent();
    cleave::options wanted;
    wanted.profile = true;
    cleave::runtime alone(wanted);
    once(&alone);  // while it learns what is too short to be divided, clocks are around that too
    const auto before = alone.profile();
    once(&alone);
    const auto after = alone.profile();
    r.program = {after.work - before.work, after.span - before.span};
  }
  json_ ? print_json(r) : print(r);
  flush_output();  // the answer, whatever comes of the trace
  if (workers) workers->write_trace();
  if (!trace_.empty() && !json_)
    print_row("trace", trace_ + ", which opens in https://ui.perfetto.dev");
  flush_output();
  return 0;
}

void driver::print(const report& r) const {
  const auto row = print_row;
  row("answer", r.found.text);
  if (r.runs.size() == 1) {
    row("seconds", fmt::format("{:.4f}", r.median.seconds));
  } else {
    auto [least, most] =
        std::minmax_element(r.runs.begin(), r.runs.end(),
                            [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    row("seconds", fmt::format("{:.4f}  median of {}, {:.4f} to {:.4f}", r.median.seconds,
                               r.runs.size(), least->seconds, most->seconds));
  }
  row("CPU seconds", fmt::format("{:.4f}", r.median.cpu_seconds));
  if (sequential_) {
    row("workers", "none: the sequential program");
  } else {
    row("workers", fmt::format("{}", r.workers));
    row("splits", fmt::format("{}", r.median.splits));
  }
  if (r.job.nodes > 1) {
    const std::string missing =
        fmt::format("; without {}, silent or gone",
                    r.job.silent == 1 ? "one of them" : fmt::format("{} of them", r.job.silent));
    row("nodes", fmt::format("{}; {} tasks crossed, {} messages, {} bytes{}", r.job.nodes,
                             r.job.tasks_crossed, r.job.messages, r.job.bytes,
                             r.job.silent == 0 ? "" : missing));
  }
  if (profile_) {
    row("work", fmt::format("{:.4f} s", r.program.work));
    row("span", fmt::format("{:.6f} s, parallelism {:.0f}", r.program.span,
                            r.program.work / r.program.span));
    row("greedy bound", fmt::format("{:.4f} s: work / workers + span", r.bound()));
    auto percent = [&](double part) {
      const double all = r.spent.work + r.spent.dividing + r.spent.stealing + r.spent.idle;
      return fmt::format("{:.1f} %", 100 * part / all);
    };
    row("time went to",
        fmt::format("work {}, dividing {}, stealing {}, idle {}", percent(r.spent.work),
                    percent(r.spent.dividing), percent(r.spent.stealing), percent(r.spent.idle)));
  }
}

void driver::print_json(const report& r) const {
  auto json_of = [](const field& v) {
    return std::visit([](const auto& x) { return nlohmann::ordered_json(x); }, v);
  };
  nlohmann::ordered_json object;
  object["app"] = program();
  auto& arguments = object["arguments"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : given(not_reported_)) {
    if (value) arguments[name] = *value;
    else arguments[name] = true;
  }
  object["answer"] = json_of(r.found.main);
  for (const auto& [name, more] : r.found.more) object[name] = json_of(more);
  object["seconds"] = r.median.seconds;
  if (r.runs.size() > 1)
    for (const auto& run : r.runs) object["all_seconds"].push_back(run.seconds);
  object["workers"] = r.workers;
  object["splits"] = r.median.splits;
  object["requests"] = r.median.requests;
  object["cpu_seconds"] = r.median.cpu_seconds;
  object["nodes"] = r.job.nodes;
  if (r.job.nodes > 1) {
    object["silent"] = r.job.silent;
    object["tasks_crossed"] = r.job.tasks_crossed;
    object["messages"] = r.job.messages;
    object["bytes"] = r.job.bytes;
    object["asks"] = r.job.asks;
    for (const auto& one : r.job.stayed)
      object["stayed"].push_back({{"task", one.task}, {"why", one.why}, {"times", one.times}});
  }
  if (profile_) {
    object["profile"] = {{"work", r.program.work},       {"span", r.program.span},
                         {"bound", r.bound()},           {"elapsed", r.spent.elapsed},
                         {"working", r.spent.work},      {"dividing", r.spent.dividing},
                         {"stealing", r.spent.stealing}, {"idle", r.spent.idle}};
  }
  fmt::print("{}\n", object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace apps
