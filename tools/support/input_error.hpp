// What is thrown when something the user gave cannot be used.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace apps {

struct input_error : std::runtime_error {
  std::string file;
  int line;  // 0: the file as a whole
  std::string expected, got;

  input_error(std::string in_file, int at_line, std::string what_expected, std::string what_got)
      : std::runtime_error(message(in_file, at_line, what_expected, what_got)),
        file(std::move(in_file)),
        line(at_line),
        expected(std::move(what_expected)),
        got(std::move(what_got)) {}

private:
  static std::string message(const std::string& file, int line, const std::string& expected,
                             const std::string& got) {
    std::string where = file;
    if (line > 0) where.append(":").append(std::to_string(line));
    return where + ": expected " + expected + ", got " + got;
  }
};

}  // namespace apps
