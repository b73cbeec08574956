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
  line_->app.add_option(names, to, help)->type_name(value_name);
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
    workers = std::make_unique<cleave::runtime>(wanted);
  }
  std::vector<measurement> runs;
  answer found;
  for (int i = 0; i < line_->repeats && found.wrong.empty(); i++) {
    outcome result = once(workers.get());
    runs.push_back(result.cost);
    found = std::move(result.found);
  }
  if (!found.wrong.empty()) {
    std::fprintf(stderr, "%s: wrong answer: %s; right is %s\n", line_->name.c_str(),
                 found.text.c_str(), found.wrong.c_str());
    return 1;
  }
  auto sorted = runs;
  auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end(),
                   [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  int count = workers ? workers->workers() : 1;
  line_->json ? print_json(found, runs, *middle, count) : print(found, runs, *middle, count);
  if (std::fflush(stdout) != 0) throw std::runtime_error("cannot write to standard output");
  return 0;
}

void driver::print(const answer& found, const std::vector<measurement>& runs,
                   const measurement& median, int workers) const {
  auto row = [](const char* name, const std::string& text) {
    fmt::print("{:<12} {}\n", name, text);
  };
  row("answer", found.text);
  if (runs.size() == 1) {
    row("seconds", fmt::format("{:.4f}", median.seconds));
  } else {
    auto [least, most] =
        std::minmax_element(runs.begin(), runs.end(),
                            [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    row("seconds", fmt::format("{:.4f}  median of {}, {:.4f} to {:.4f}", median.seconds,
                               runs.size(), least->seconds, most->seconds));
  }
  row("CPU seconds", fmt::format("{:.4f}", median.cpu_seconds));
  if (line_->sequential) {
    row("workers", "none: the sequential program");
  } else {
    row("workers", fmt::format("{}", workers));
    row("splits", fmt::format("{}", median.splits));
  }
}

void driver::print_json(const answer& found, const std::vector<measurement>& runs,
                        const measurement& median, int workers) const {
  auto json_of = [](const field& v) {
    return std::visit([](const auto& x) { return nlohmann::ordered_json(x); }, v);
  };
  nlohmann::ordered_json object;
  object["app"] = line_->name;
  auto& arguments = object["arguments"] = nlohmann::ordered_json::object();
  for (const auto* option : line_->app.get_options()) {
    const std::string name = option->get_name();
    bool common = name == "--help" || name == "--json" || name == "--workers" || name == "--repeat";
    if (option->count() > 0 && !common) {
      const bool flag = option->get_items_expected_max() == 0;
      if (flag) arguments[name] = true;
      else arguments[name] = option->results().front();
    }
  }
  object["answer"] = json_of(found.main);
  for (const auto& [name, more] : found.more) object[name] = json_of(more);
  object["seconds"] = median.seconds;
  if (runs.size() > 1)
    for (const auto& run : runs) object["all_seconds"].push_back(run.seconds);
  object["workers"] = workers;
  object["splits"] = median.splits;
  object["requests"] = median.requests;
  object["cpu_seconds"] = median.cpu_seconds;
  fmt::print("{}\n", object.dump());
}

}  // namespace apps
