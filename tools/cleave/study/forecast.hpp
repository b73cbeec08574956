// How far a study is, and how long the rest takes by a forecast, where runs differ in length.
#pragma once

#include <unistd.h>

#include <chrono>
#include <string>

namespace study {

// A run begins. At the end `done` is `all`.
struct step {
  int done = 0, all = 0;
  double left = 0;  // about the seconds that are left; 0: not known
  std::string next;
};

// Shows what is next. Where there is no terminal, it prints a line now and then.
class forecast_line {
public:
  // The first line comes after that time, if there is no terminal.
  explicit forecast_line(std::chrono::seconds first = {}) : next_(clock::now() + first) {}
  void operator()(const step& s);

private:
  using clock = std::chrono::steady_clock;
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  clock::time_point next_;
};

}  // namespace study
