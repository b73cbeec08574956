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

#include <string>
#include <utility>
#include <vector>

#include "answer.hpp"
#include "support/command_line.hpp"
#include "trial.hpp"

namespace apps {

// A command line with the options that all applications have.
class driver : public command_line {
public:
  // `about` and `notes` are the beginning and the end of --help.
  driver(const std::string& name, const std::string& about, const std::string& example,
         const std::string& notes = "");

  // Reads the command line. Ends the process after --help. Throws usage_error.
  void parse(int argc, char** argv);

  // Runs one of its two programs as often as --repeat says, and prints what came out. Returns the
  // exit status.
  int run(const trial& once);

private:
  struct report;
  void print(const report& r) const;
  void print_json(const report& r) const;

  bool sequential_ = false, json_ = false, profile_ = false;
  std::string transport_, serve_;
  int workers_ = 0, repeats_ = 1, trace_size_ = 16, check_ = 0, check_seed_ = 0;
  std::string trace_;
  std::size_t not_reported_ =
      0;  // how many of the options come before those that print_json() repeats
};

}  // namespace apps
