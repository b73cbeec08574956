// The command line of a program: arguments in their order, options, --help. CLI11, which takes long
// to compile, stays in the .cpp.
//
//     apps::command_line line("overhead", "Measures what the constructs cost");
//     line.option_number("--rounds", rounds, 1, 1000, "Runs of each (default: 5)");
//     line.parse(argc, argv);
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace apps {

// An argument or an option cannot be used. The text says which one, and what was expected.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Called inside a catch block: says on one line what went wrong. Returns the exit status: 2 if the
// input was to blame, otherwise 1.
int failed(const std::string& program) noexcept;

// Flushes standard output. Throws std::runtime_error if what was printed did not get out.
void flush_output();

// Called before anything is opened; parse() does so. Descriptors 0 to 2 that are closed get no file
// and no socket later, and a process that ends with status 0 although what it has printed did not
// get out says so and ends with 1.
void begin_program();

// Variables are set by parse() and must outlive it; those of options that are not given keep their
// values. An option's names are as "--output,-o"; `value` stands for its value in --help.
class command_line {
public:
  // `about` and `footer` are the beginning and the end of --help.
  command_line(std::string program, const std::string& about, const std::string& footer = "");
  // A command of `program`, as study is one of cleave: it has options of its own, and one command
  // must be given.
  command_line(command_line& program, const std::string& name, const std::string& about);
  ~command_line();
  // The program also does something if none of its commands is given.
  void make_command_optional();
  command_line(const command_line&) = delete;
  command_line& operator=(const command_line&) = delete;

  // These add arguments, in their order.
  void number(const std::string& name, int& to, int low, int high, const std::string& help);
  void choice(const std::string& name, std::string& to, std::vector<std::string> of,
              const std::string& help);
  void text(const std::string& name, std::string& to, const std::string& help);
  void optional_text(const std::string& name, std::string& to, const std::string& help);

  // Adds the rest of the line, at least one word: a program to start, with its own arguments.
  void rest(const std::string& name, std::vector<std::string>& to);

  void flag(const std::string& names, bool& to, const std::string& help);
  void option(const std::string& names, const std::string& value, std::string& to,
              const std::string& help);
  void option_choice(const std::string& names, std::string& to, std::vector<std::string> of,
                     const std::string& help);
  void option_number(const std::string& names, int& to, int low, int high, const std::string& help);
  // Adds an option with several values, with commas between them or each after the option's name.
  void option_list(const std::string& names, const std::string& value, std::vector<std::string>& to,
                   const std::string& help);
  void option_numbers(const std::string& names, std::vector<int>& to, int low, int high,
                      const std::string& help);
  // Adds an option with two values, as in --compare OLD NEW.
  void option_pair(const std::string& names, const std::string& values,
                   std::vector<std::string>& to, const std::string& help);

  // Reads the command line. Ends the process after --help. Throws usage_error.
  void parse(int argc, char** argv);

  const std::string& program() const;
  // Whether parse() found it; by its longest name.
  // Called for a command after parsing: whether it is the one that was given.
  bool parsed() const;
  bool is_given(const std::string& name) const;
  // How many arguments and options were added so far.
  std::size_t added() const;
  // What parse() found of the options from number `first` on, with the values; flags have none.
  std::vector<std::pair<std::string, std::optional<std::string>>> given(std::size_t first) const;

private:
  struct parser;
  std::unique_ptr<parser> parser_;
};

}  // namespace apps
