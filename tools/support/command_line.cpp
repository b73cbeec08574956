#include "command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cleave/runtime.hpp>
#include <cleave/version.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string_view>
#include <utility>

#include "input_error.hpp"
#include "line_reader.hpp"
#include "machine/standard_streams.hpp"
#include "transport/launch.hpp"

namespace apps {

using namespace std::string_view_literals;
namespace {

using words = std::vector<std::string>;

// The word as a number. Throws usage_error, which begins with `name`.
int whole_number(const std::string& name, const std::string& word, int low, int high) {
  int n = 0;
  const char* end = word.data() + word.size();
  auto [stop, error] = std::from_chars(word.data(), end, n);
  if (error != std::errc() || stop != end || n < low || n > high)
    throw usage_error(fmt::format("{}: expected a whole number from {} to {}, got {}", name, low,
                                  high, word.empty() ? "nothing" : in_quotes(word)));
  return n;
}

// The word, if it is one of these. Throws usage_error, which begins with `name`.
std::string one_of(const std::string& name, const std::string& word, const words& of) {
  if (std::find(of.begin(), of.end(), word) == of.end())
    throw usage_error(fmt::format("{}: expected one of {}, got {}", name, fmt::join(of, ", "),
                                  word.empty() ? "nothing" : in_quotes(word)));
  return word;
}

struct entry {
  std::string name;  // an argument's name
  bool required = false;
  std::string word;            // the word that was given, for what is given once
  words list;                  // the words, for what may be given more often
  std::function<void()> take;  // throws usage_error
  CLI::Option* option = nullptr;
};

// The first of several names: "--output" of "--output,-o".
std::string first_of(const std::string& names) { return names.substr(0, names.find(',')); }

std::string what_is_wrong(const CLI::Option& option) {
  const int wanted = option.get_items_expected_min();
  const auto got = option.count();
  if (wanted > 1) return fmt::format("expected {} values, got {}", wanted, got);
  return got == 0 ? "expected a value, got nothing"
                  : fmt::format("expected once, got {} times", got);
}

}  // namespace

constexpr const char* no_output = "cannot write to standard output";

int failed(const std::string& program) noexcept {
  // Most errors are those of all nodes. The first node says them; a launcher ends the job as soon
  // as one node has ended. A node that is still there after that has an error of its own, unless it
  // is a mistake of the user.
  cleave::net::await_turn_to_end();
  std::string text = "unknown error";
  int status = 1;
  bool names_file = false;
  try {
    throw;
  } catch (const input_error& e) {
    text = e.what(), status = 2, names_file = true;
  } catch (const usage_error& e) {
    if (!cleave::is_first_node()) return 2;  // the other nodes' arguments are the same
    text = e.what(), status = 2;
  } catch (const std::invalid_argument& e) {  // CLEAVE_WORKERS may be malformed
    text = e.what(), status = 2;
  } catch (const std::bad_alloc&) { text = "out of memory"; } catch (const std::exception& e) {
    text = e.what();
  } catch (...) {}
  if (std::ferror(stdout) != 0) text = no_output, status = 1;  // whatever noticed it
  if (status == 2 && !cleave::net::tells_mistakes()) return status;
  if (names_file) std::fprintf(stderr, "%s\n", text.c_str());
  else std::fprintf(stderr, "%s: %s\n", program.c_str(), text.c_str());
  return status;
}

void flush_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) throw std::runtime_error(no_output);
}

namespace {

// Checks the output also where main() does not end by a check of its own: an answer that nobody has
// got is no success.
void check_output_at_exit() {
#ifdef __GLIBC__  // exit() within exit() goes on with the rest, and its status counts
  static bool once = false;
  if (std::exchange(once, true)) return;
  on_exit(
      [](int status, void*) {
        if (status != 0 || (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)) return;
        std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, no_output);
        std::exit(1);
      },
      nullptr);
#endif
}

}  // namespace

void begin_program() {
  cleave::machine::open_standard_streams();
  check_output_at_exit();
}

struct command_line::parser {
  std::string program;
  CLI::App_p app;
  std::vector<parser*> commands;
  std::vector<std::unique_ptr<entry>> arguments, options;
  std::string rest_name;  // empty: there is no rest
  words* rest = nullptr;
  bool command_is_optional = false;
  words after_dashes;  // what followed "--", which CLI11 is not shown

  parser(std::string of, CLI::App_p by) : program(std::move(of)), app(std::move(by)) {
    app->formatter(std::make_shared<formatter>(*this));
    app->set_help_flag("--help,-h", "Print this and exit");
    app->set_version_flag("--version", program.substr(0, program.find(' ')) + " " + cleave::version,
                          "Print the version and exit");
    app->allow_extras();
  }

  // CLI11 shows every argument as optional, as it does not know that parse() asks for them.
  struct formatter : CLI::Formatter {
    const parser& line;
    explicit formatter(const parser& l) : line(l) { label("Positionals", "Arguments"); }
    std::string make_usage(const CLI::App*, std::string) const override {
      std::string usage = "\nUsage: " + line.program + " [options]";
      for (const auto& a : line.arguments)
        usage += a->required ? " " + a->name : " [" + a->name + "]";
      if (line.rest != nullptr) usage += " " + line.rest_name;
      if (line.commands.empty()) return usage + "\n";
      return usage + (line.command_is_optional ? " [COMMAND]\n" : " COMMAND\n");
    }
  };

  using one_word = std::function<void(const std::string&)>;
  entry& add_word(std::vector<std::unique_ptr<entry>>& to, const std::string& names,
                  const std::string& value, const std::string& help, const one_word& take) {
    auto& e = *to.emplace_back(std::make_unique<entry>());
    e.take = [&e, take] { take(e.word); };
    e.option = app->add_option(names, e.word, help)->type_name(value);
    return e;
  }
  void argument(const std::string& name, bool required, const std::string& help,
                const one_word& take) {
    entry& e = add_word(arguments, name, "", help, take);
    e.name = name, e.required = required;
  }
  void option(const std::string& names, const std::string& value, const std::string& help,
              const one_word& take) {
    add_word(options, names, value, help, take);
  }
  CLI::Option* option_words(const std::string& names, const std::string& value,
                            const std::string& help,
                            const std::function<void(const words&)>& take) {
    auto& e = *options.emplace_back(std::make_unique<entry>());
    e.take = [&e, take] { take(e.list); };
    return e.option = app->add_option(names, e.list, help)->type_name(value);
  }

  void take() {
    if (rest == nullptr) place_extras();
    for (auto& a : arguments)
      if (a->required || a->option->count() > 0) a->take();
    if (rest != nullptr) take_rest();
    for (auto& o : options)
      if (o->option->count() > 0) o->take();
    if (commands.empty()) return;
    const auto chosen = std::find_if(commands.begin(), commands.end(),
                                     [](const parser* c) { return c->app->parsed(); });
    if (chosen == commands.end() && command_is_optional) return;
    if (chosen == commands.end()) {
      const std::string of_which = app->get_parent() != nullptr ? app->get_name() + ": " : "";
      throw usage_error(of_which + "expected a command, got none (--help lists them)");
    }
    (*chosen)->after_dashes = std::move(after_dashes);
    (*chosen)->take();
  }

  bool has_rest() const {
    return rest != nullptr ||
           std::any_of(commands.begin(), commands.end(), [](auto* c) { return c->has_rest(); });
  }

  void take_rest() {
    *rest = app->remaining();
    const bool plain = !rest->empty();
    if (plain && !after_dashes.empty()) rest->push_back("--");  // this "--" is the program's own
    rest->insert(rest->end(), after_dashes.begin(), after_dashes.end());
    if (rest->empty())
      throw usage_error(fmt::format("{}: expected a program, got nothing", rest_name));
    if (plain && rest->front()[0] == '-')
      throw usage_error(
          fmt::format("unknown option {} (--help lists them)", in_quotes(rest->front())));
  }

  // Takes negative numbers as arguments; CLI11 takes one for an option that it does not know.
  void place_extras() {
    words extras = app->remaining();
    if (commands.empty()) extras.insert(extras.end(), after_dashes.begin(), after_dashes.end());
    for (const std::string& extra : extras) {
      bool negative = extra.size() > 1 && extra[0] == '-' && extra[1] >= '0' && extra[1] <= '9';
      if (negative && !arguments.empty()) arguments[0]->word = extra, arguments[0]->take();
      if (!negative && extra[0] == '-')
        throw usage_error(fmt::format("unknown option {} (--help lists them)", in_quotes(extra)));
      throw usage_error(
          commands.empty() || command_is_optional
              ? fmt::format("unexpected argument {} (see --help)", in_quotes(extra))
              : fmt::format("unknown command {} (--help lists them)", in_quotes(extra)));
    }
  }
};

command_line::command_line(std::string program, const std::string& about, const std::string& footer)
    : parser_(std::make_unique<parser>(program, std::make_shared<CLI::App>(about, program))) {
  parser_->app->footer(footer);
}
command_line::command_line(command_line& program, const std::string& name, const std::string& about)
    : parser_(std::make_unique<parser>(program.program() + " " + name,
                                       std::make_shared<CLI::App>(about, name))) {
  program.parser_->app->add_subcommand(parser_->app)->group("Commands");
  // The name of another command is then an argument.
  program.parser_->app->require_subcommand(0, 1);
  program.parser_->commands.push_back(parser_.get());
}
command_line::~command_line() = default;

void command_line::make_command_optional() { parser_->command_is_optional = true; }

const std::string& command_line::program() const { return parser_->program; }

void command_line::number(const std::string& name, int& to, int low, int high,
                          const std::string& help) {
  parser_->argument(
      name, true, fmt::format("{} ({} to {})", help, low, high),
      [=, &to](const std::string& word) { to = whole_number(name, word, low, high); });
}

void command_line::choice(const std::string& name, std::string& to, std::vector<std::string> of,
                          const std::string& help) {
  parser_->argument(name, true, help,
                    [=, &to](const std::string& word) { to = one_of(name, word, of); });
}

void command_line::text(const std::string& name, std::string& to, const std::string& help) {
  parser_->argument(name, true, help, [=, &to](const std::string& word) {
    if (word.empty()) throw usage_error(name + ": expected a word, got nothing");
    to = word;
  });
}

void command_line::optional_text(const std::string& name, std::string& to,
                                 const std::string& help) {
  parser_->argument(name, false, help, [&to](const std::string& word) { to = word; });
}

void command_line::rest(const std::string& name, std::vector<std::string>& to) {
  parser_->rest_name = name, parser_->rest = &to;
  parser_->app->prefix_command();
}

void command_line::flag(const std::string& names, bool& to, const std::string& help) {
  parser_->app->add_flag(names, to, help);
}

void command_line::option(const std::string& names, const std::string& value, std::string& to,
                          const std::string& help) {
  parser_->option(names, value, help, [&to](const std::string& word) { to = word; });
}

void command_line::option_choice(const std::string& names, std::string& to,
                                 std::vector<std::string> of, const std::string& help) {
  parser_->option(names, "NAME", help, [=, &to, name = first_of(names)](const std::string& word) {
    to = one_of(name, word, of);
  });
}

void command_line::option_number(const std::string& names, int& to, int low, int high,
                                 const std::string& help) {
  parser_->option(names, "N", help, [=, &to, name = first_of(names)](const std::string& word) {
    to = whole_number(name, word, low, high);
  });
}

void command_line::option_list(const std::string& names, const std::string& value,
                               std::vector<std::string>& to, const std::string& help) {
  parser_->option_words(names, value + ",", help, [&to](const words& all) { to = all; })
      ->delimiter(',')
      ->allow_extra_args(false);
}

void command_line::option_numbers(const std::string& names, std::vector<int>& to, int low, int high,
                                  const std::string& help) {
  auto take = [=, &to, name = first_of(names)](const words& all) {
    to.clear();
    for (const auto& word : all) to.push_back(whole_number(name, word, low, high));
  };
  parser_->option_words(names, "N,", help, take)->delimiter(',')->allow_extra_args(false);
}

void command_line::option_pair(const std::string& names, const std::string& values,
                               std::vector<std::string>& to, const std::string& help) {
  parser_->option_words(names, values, help, [&to](const words& all) { to = all; })
      ->type_size(2)
      ->expected(1);
}

void command_line::parse(int argc, char** argv) {
  begin_program();
  CLI::App& app = *parser_->app;
  const auto dashes = parser_->has_rest()
                          ? std::find_if(argv, argv + argc, [](auto* w) { return w == "--"sv; })
                          : argv + argc;
  if (dashes != argv + argc) parser_->after_dashes.assign(dashes + 1, argv + argc);
  try {
    app.parse(static_cast<int>(dashes - argv), argv);
  } catch (const CLI::CallForHelp&) {
    if (cleave::is_first_node()) fmt::print("{}", app.help());
    std::exit(0);
  } catch (const CLI::CallForVersion& e) {
    if (cleave::is_first_node()) fmt::print("{}\n", e.what());
    std::exit(0);
  } catch (const CLI::ArgumentMismatch& e) {  // the error's text begins with the option's name
    const std::string text = e.what(), name = text.substr(0, text.find(':'));
    const CLI::App* in = &app;
    for (const parser* c : parser_->commands)
      if (c->app->parsed()) in = c->app.get();
    const CLI::Option* option = in->get_option_no_throw(name);
    throw usage_error(option != nullptr ? name + ": " + what_is_wrong(*option) : text);
  } catch (const CLI::ParseError& e) {
    const std::string text = e.what();
    throw usage_error(text.substr(0, text.find('\n')));
  }
  parser_->take();
}

bool command_line::parsed() const { return parser_->app->parsed(); }

bool command_line::is_given(const std::string& name) const { return parser_->app->count(name) > 0; }

std::size_t command_line::added() const { return parser_->app->get_options().size(); }

std::vector<std::pair<std::string, std::optional<std::string>>> command_line::given(
    std::size_t first) const {
  std::vector<std::pair<std::string, std::optional<std::string>>> found;
  const auto options = parser_->app->get_options();
  for (std::size_t i = first; i < options.size(); i++)
    if (const auto& option = *options[i]; option.count() > 0) {
      const bool flag = option.get_items_expected_max() == 0;
      std::string words;
      for (const std::string& word : option.results()) words += (words.empty() ? "" : ",") + word;
      found.emplace_back(option.get_name(), flag ? std::nullopt : std::optional(words));
    }
  return found;
}

}  // namespace apps
