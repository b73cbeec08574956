#include "driver.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "line_reader.hpp"

namespace apps {

int failed(const std::string& program) noexcept {
  const char* what = "unknown error";
  int status = 1;
  std::string text;
  try {
    throw;
  } catch (const input_error& e) {  // it begins with the file's name
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  } catch (const usage_error& e) {
    text = e.what(), status = 2;
  } catch (const std::invalid_argument& e) {  // a malformed CLEAVE_WORKERS
    text = e.what(), status = 2;
  } catch (const std::bad_alloc&) { text = "out of memory"; } catch (const std::exception& e) {
    text = e.what();
  } catch (...) { text = what; }
  std::fprintf(stderr, "%s: %s\n", program.c_str(), text.c_str());
  return status;
}

// What is printed.
struct driver::report {
  answer found;
  std::vector<measurement> runs;
  measurement median;
  int workers;
  cleave::work_span program;  // of --profile, as is
  cleave::time_spent spent;   // by all runs
  double bound() const { return program.work / workers + program.span; }
};

driver::driver(std::string name, std::string about, std::string example, std::string notes)
    : line_(std::make_unique<command_line>(std::move(name), about, example, notes)) {}
driver::~driver() = default;

void driver::number(const std::string& name, int& to, int low, int high, const std::string& help) {
  line_->add(name, true, fmt::format("{} ({} to {})", help, low, high),
             [=, &to](const std::string& word) { to = whole_number(name, word, low, high); });
}

void driver::choice(const std::string& name, std::string& to, std::vector<std::string> of,
                    const std::string& help) {
  line_->add(name, true, help, [=, &to](const std::string& word) {
    if (std::find(of.begin(), of.end(), word) == of.end())
      throw usage_error(fmt::format("{}: expected one of {}, got {}", name, fmt::join(of, ", "),
                                    word.empty() ? "nothing" : in_quotes(word)));
    to = word;
  });
}

void driver::text(const std::string& name, std::string& to, const std::string& help) {
  line_->add(name, true, help, [=, &to](const std::string& word) {
    if (word.empty()) throw usage_error(fmt::format("{}: expected a name, got nothing", name));
    to = word;
  });
}

void driver::optional_text(const std::string& name, std::string& to, const std::string& help) {
  line_->add(name, false, help, [&to](const std::string& word) { to = word; });
}

void driver::option(const std::string& names, const std::string& value_name, std::string& to,
                    const std::string& help) {
  line_->add_text(names, value_name, to, help);
}

void driver::option_number(const std::string& name, int& to, int low, int high,
                           const std::string& help) {
  line_->add_number(name, to, low, high, help);
}

void driver::parse(int argc, char** argv) { line_->parse(argc, argv); }

int driver::run(const trial& once) {
  std::unique_ptr<cleave::runtime> workers;
  if (!line_->sequential) {
    cleave::options wanted;
    wanted.workers = line_->workers;
    wanted.trace = line_->trace;
    wanted.trace_bytes = static_cast<std::size_t>(line_->trace_size) << 20;
    wanted.timing = line_->profile;
    workers = std::make_unique<cleave::runtime>(wanted);
  }
  report r;
  for (int i = 0; i < line_->repeats && r.found.wrong.empty(); i++) {
    outcome result = once(workers.get());
    r.runs.push_back(result.cost);
    r.found = std::move(result.found);
  }
  if (!r.found.wrong.empty()) {
    std::fprintf(stderr, "%s: wrong answer: %s; right is %s\n", line_->name.c_str(),
                 r.found.text.c_str(), r.found.wrong.c_str());
    return 1;
  }
  auto sorted = r.runs;
  auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end(),
                   [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  r.median = *middle;
  r.workers = workers ? workers->workers() : 1;
  if (workers) workers->write_trace();
  if (line_->profile) {
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
  line_->json ? print_json(r) : print(r);
  if (std::fflush(stdout) != 0) throw std::runtime_error("cannot write to standard output");
  return 0;
}

void driver::print(const report& r) const {
  auto row = [](const char* name, const std::string& text) {
    fmt::print("{:<12} {}\n", name, text);
  };
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
  if (line_->sequential) {
    row("workers", "none: the sequential program");
  } else {
    row("workers", fmt::format("{}", r.workers));
    row("splits", fmt::format("{}", r.median.splits));
  }
  if (line_->profile) {
    row("work", fmt::format("{:.4f} s", r.program.work));
    row("span", fmt::format("{:.6f} s, parallelism {:.0f}", r.program.span,
                            r.program.work / r.program.span));
    row("greedy bound", fmt::format("{:.4f} s: work / workers + span", r.bound()));
    auto percent = [&](double part) {
      return fmt::format("{:.1f} %", 100 * part / (r.workers * r.spent.elapsed));
    };
    row("time went to",
        fmt::format("work {}, dividing {}, stealing {}, idle {}", percent(r.spent.work),
                    percent(r.spent.dividing), percent(r.spent.stealing), percent(r.spent.idle)));
  }
  if (!line_->trace.empty())
    row("trace", line_->trace + ", which opens in https://ui.perfetto.dev");
}

void driver::print_json(const report& r) const {
  auto json_of = [](const field& v) {
    return std::visit([](const auto& x) { return nlohmann::ordered_json(x); }, v);
  };
  nlohmann::ordered_json object;
  object["app"] = line_->name;
  auto& arguments = object["arguments"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : line_->given()) {
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
  if (line_->profile) {
    object["profile"] = {{"work", r.program.work},       {"span", r.program.span},
                         {"bound", r.bound()},           {"elapsed", r.spent.elapsed},
                         {"working", r.spent.work},      {"dividing", r.spent.dividing},
                         {"stealing", r.spent.stealing}, {"idle", r.spent.idle}};
  }
  fmt::print("{}\n", object.dump());
}

}  // namespace apps
