#include "command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "line_reader.hpp"

namespace apps {
namespace {

// CLI11 shows every argument as optional, as it does not know that parse() asks for them.
struct formatter : CLI::Formatter {
  const driver::command_line& line;
  explicit formatter(const driver::command_line& l) : line(l) {}
  std::string make_usage(const CLI::App*, std::string) const override {
    std::string usage = "\nUsage: " + line.name + " [options]";
    for (const auto& a : line.arguments)
      usage += a->required ? " " + a->name : " [" + a->name + "]";
    return usage + "\n";
  }
};

}  // namespace

int whole_number(const std::string& what, const std::string& word, int low, int high) {
  int n = 0;
  const char* end = word.data() + word.size();
  auto [stop, error] = std::from_chars(word.data(), end, n);
  if (error != std::errc() || stop != end || n < low || n > high)
    throw usage_error(fmt::format("{}: expected a whole number from {} to {}, got {}", what, low,
                                  high, word.empty() ? "nothing" : in_quotes(word)));
  return n;
}

driver::command_line::command_line(std::string program, const std::string& about,
                                   const std::string& example, const std::string& notes)
    : name(std::move(program)), app(std::make_unique<CLI::App>(about, name)) {
  app->footer("Example:\n  " + example + "\n" + (notes.empty() ? "" : "\n" + notes));
  app->formatter(std::make_shared<formatter>(*this));
  app->set_help_flag("--help,-h", "Print this and exit");
  app->allow_extras();
  worker_option =
      add_number("--workers", workers, 1, 1024,
                 "Workers (default: $CLEAVE_WORKERS, else the CPUs this process may use)");
  app->add_flag("--sequential", sequential, "Run the plain sequential program");
  add_number("--repeat", repeats, 1, 1'000'000,
             "Run N times and report the run with the median time");
  app->add_flag("--json", json, "Print one JSON object instead of text");
  trace_option =
      app->add_option("--trace", trace, "Write what each worker did when; opens in ui.perfetto.dev")
          ->type_name("FILE");
  add_number("--trace-size", trace_size, 1, 4096, "Its size at most, in MiB (default: 16)");
  app->add_flag("--profile", profile,
                "Measure work and span too, in a run of their own, and say where the time went");
}

driver::command_line::~command_line() = default;

CLI::Option* driver::command_line::add_number(const std::string& option, int& to, int low, int high,
                                              const std::string& help) {
  auto& a = *options.emplace_back(std::make_unique<argument>());
  a.name = option;
  a.take = [=, &to](const std::string& word) { to = whole_number(option, word, low, high); };
  return a.option = app->add_option(option, a.word, help)->type_name("N");
}

void driver::command_line::add_text(const std::string& option, const std::string& value_name,
                                    std::string& to, const std::string& help) {
  app->add_option(option, to, help)->type_name(value_name);
}

driver::command_line::argument& driver::command_line::add(
    const std::string& argument_name, bool required, const std::string& help,
    std::function<void(const std::string&)> take) {
  auto& a = *arguments.emplace_back(std::make_unique<argument>());
  a.name = argument_name;
  a.required = required;
  a.take = std::move(take);
  a.option = app->add_option(argument_name, a.word, help)->type_name("");
  return a;
}

void parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    std::exit(std::fflush(stdout) == 0 ? 0 : 1);
  } catch (const CLI::ParseError& e) { throw usage_error(e.what()); }
}

void driver::command_line::parse(int argc, char** argv) {
  try {
    app->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app->help());
    std::exit(std::fflush(stdout) == 0 ? 0 : 1);
  } catch (const CLI::ArgumentMismatch& e) {  // it begins with the option's name
    std::string text = e.what();
    throw usage_error(text.substr(0, text.find(':')) + ": expected a value, got nothing");
  } catch (const CLI::ParseError& e) {
    std::string text = e.what();
    throw usage_error(text.substr(0, text.find('\n')));
  }
  place_extras();
  if (sequential && worker_option->count() > 0)
    throw usage_error("--sequential: expected without --workers, got both");
  if (sequential && (profile || !trace.empty()))
    throw usage_error("--sequential: expected without --trace and --profile");
  if (trace_option->count() > 0 && trace.empty())
    throw usage_error("--trace: expected a file, got nothing");
  for (auto& a : arguments)
    if (a->required || a->option->count() > 0) a->take(a->word);
  for (auto& o : options)
    if (o->option->count() > 0) o->take(o->word);
}

// CLI11 takes a negative number for an option it does not know: here it is an argument.
void driver::command_line::place_extras() {
  for (const std::string& extra : app->remaining()) {
    bool negative = extra.size() > 1 && extra[0] == '-' && extra[1] >= '0' && extra[1] <= '9';
    if (negative && !arguments.empty()) arguments[0]->take(extra);
    if (!negative && extra[0] == '-')
      throw usage_error(fmt::format("unknown option {} (--help lists them)", in_quotes(extra)));
    throw usage_error(fmt::format("unexpected argument {} (see --help)", in_quotes(extra)));
  }
}

std::vector<std::pair<std::string, std::optional<std::string>>> driver::command_line::given()
    const {
  const auto common = {"--help",  "--json",       "--workers", "--repeat",
                       "--trace", "--trace-size", "--profile"};
  std::vector<std::pair<std::string, std::optional<std::string>>> found;
  for (const auto* option : app->get_options()) {
    const std::string name_of = option->get_name();
    if (option->count() == 0 || std::find(common.begin(), common.end(), name_of) != common.end())
      continue;
    const bool flag = option->get_items_expected_max() == 0;
    found.emplace_back(name_of, flag ? std::nullopt : std::optional(option->results().front()));
  }
  return found;
}

}  // namespace apps
