// What every application does besides its computation: command line, repeats, output, errors.
//
//     int main(int argc, char** argv) try {
//       int n = 0;
//       apps::driver app("queens", "Counts ...", "queens 14 --workers 2");
//       app.number("N", n, 1, 32, "queens to place");
//       app.parse(argc, argv);
//       return app.run(apps::queens::trial_of(n));
//     } catch (...) {
//       return apps::failed("queens");
//     }
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "answer.hpp"
#include "input_error.hpp"
#include "trial.hpp"

// NOLINTBEGIN(readability-identifier-naming): CLI11's names
namespace CLI {
class App;
}
// NOLINTEND(readability-identifier-naming)

namespace apps {

// An argument or an option that cannot be used: what it is, and what was expected.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Inside a catch block: says on one line what went wrong. Returns the exit status: 2 if the input was
// to blame, otherwise 1.
int failed(const std::string& program) noexcept;

// For programs that describe their command line themselves. Ends the process after --help. Throws usage_error.
void parse(CLI::App& app, int argc, char** argv);

class driver {
public:
  // `about` and `notes` are the beginning and the end of --help.
  driver(std::string name, std::string about, std::string example, std::string notes = "");
  ~driver();
  driver(const driver&) = delete;
  driver& operator=(const driver&) = delete;

  // Arguments, in their order. The variables are set by parse() and must outlive it.
  void number(const std::string& name, int& to, int low, int high, const std::string& help);
  void choice(const std::string& name, std::string& to, std::vector<std::string> of,
              const std::string& help);
  void text(const std::string& name, std::string& to, const std::string& help);
  void optional_text(const std::string& name, std::string& to, const std::string& help);
  // An option with a value: "--board,-b" and "FILE".
  void option(const std::string& names, const std::string& value_name, std::string& to,
              const std::string& help);
  void option_number(const std::string& names, int& to, int low, int high, const std::string& help);

  // Ends the process after --help. Throws usage_error.
  void parse(int argc, char** argv);

  // Runs one of its two programs as often as --repeat says, and prints what came out. Returns the
  // exit status.
  int run(const trial& once);

  struct command_line;

private:
  struct report;
  void print(const report& r) const;
  void print_json(const report& r) const;

  std::unique_ptr<command_line> line_;
};

}  // namespace apps
