#include "forecast.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace study {

void forecast_line::operator()(const step& s) {
  constexpr std::chrono::seconds pause{20};
  const auto now = clock::now();
  if (!terminal_ && now < next_) return;
  next_ = now + pause;
  if (terminal_) fmt::print(stderr, "\r\033[K");
  const int left = static_cast<int>(s.left);
  const auto time = s.left > 0 ? fmt::format(", {} min {:02} s left", left / 60, left % 60) : "";
  if (s.done < s.all)
    fmt::print(stderr, "{} of {}{}: {}{}", s.done, s.all, time, s.next, terminal_ ? "" : "\n");
  std::fflush(stderr);
}

}  // namespace study
