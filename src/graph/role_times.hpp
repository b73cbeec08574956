#pragma once

#include <cleave/detail/travel/bytes.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "graph/roles.hpp"

namespace cleave::detail {

/// What one node measures of the subtasks that it runs, by their roles: so what it remembers does
/// not grow with the number of steps.
class role_times {
public:
  explicit role_times(roles& of) noexcept : roles_(of) {}

  /// Runs a subtask of that role by call(), and measures it. Any thread.
  template <class Call>
  void run(std::uint32_t number, Call call) {
    if (number == roles::none) return call();
    role& r = roles_.at(number);
    if (!r.begins()) return call();
    const double began = now();
    call();
    r.ran(began, now());
    measure_sizes(r);
  }
  /// Appends what was measured since the last report. One thread at a time.
  void put_report(byte_writer& to);

private:
  static double now() noexcept;
  void measure_sizes(role& r);

  roles& roles_;
  std::vector<std::uint32_t> reported_;  // how often each role had run at the last report
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, double> sizes_;  // with the mutex: of data, in bytes
};

}  // namespace cleave::detail
