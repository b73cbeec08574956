// The command line of an application. Private to apps/common. CLI11, which takes long to compile, stays in its .cpp.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver.hpp"

// NOLINTBEGIN(readability-identifier-naming): CLI11's names
namespace CLI {
class Option;
}
// NOLINTEND(readability-identifier-naming)

namespace apps {

// `word` as a whole number in [low, high]. Throws usage_error, which begins with `what`.
int whole_number(const std::string& what, const std::string& word, int low, int high);

struct driver::command_line {
  struct argument {
    std::string name;
    bool required;
    std::string word;                              // as given; empty: not given
    std::function<void(const std::string&)> take;  // throws usage_error
    CLI::Option* option = nullptr;
  };

  std::string name;
  std::unique_ptr<CLI::App> app;
  std::vector<std::unique_ptr<argument>> arguments;
  std::vector<std::unique_ptr<argument>> options;
  CLI::Option* worker_option = nullptr;
  CLI::Option* trace_option = nullptr;
  bool json = false, sequential = false, profile = false;
  int workers = 0, repeats = 1, trace_size = 16;
  std::string trace;

  command_line(std::string program, const std::string& about, const std::string& example,
               const std::string& notes);
  ~command_line();
  command_line(const command_line&) = delete;
  command_line& operator=(const command_line&) = delete;
  argument& add(const std::string& argument_name, bool required, const std::string& help,
                std::function<void(const std::string&)> take);
  CLI::Option* add_number(const std::string& option, int& to, int low, int high,
                          const std::string& help);
  void add_text(const std::string& option, const std::string& value_name, std::string& to,
                const std::string& help);
  void parse(int argc, char** argv);

  // What was given of its own arguments and options, and --sequential, with the values; flags have none.
  std::vector<std::pair<std::string, std::optional<std::string>>> given() const;

private:
  void place_extras();
};

}  // namespace apps
