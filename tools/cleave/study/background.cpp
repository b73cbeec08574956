#include "background.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>

#include "cpus.hpp"

namespace study {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double load() {
  double one = 0;
  std::ifstream("/proc/loadavg") >> one;
  return one;
}

// The CPU seconds of this process and of those that it has waited for, and so on.
double own_cpu_seconds() {
  double sum = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& t : {usage.ru_utime, usage.ru_stime})
      sum += static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  }
  return sum;
}

cpu_time stat_of(const std::vector<int>& cpus) {
  std::ifstream in("/proc/stat");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  return read_stat(text, cpus, static_cast<double>(sysconf(_SC_CLK_TCK)));
}

}  // namespace

std::string background::disturbance(int cpus) const {
  constexpr double quiet = 0.05, steady = 1.2;
  std::vector<std::string> reasons;
  if (others > quiet * cpus)
    reasons.push_back(fmt::format("other processes used {:.2f} of {} CPUs", others, cpus));
  if (stolen > quiet * cpus)
    reasons.push_back(fmt::format("the hypervisor took {:.2f} of {} CPUs", stolen, cpus));
  if (!capacity.empty()) {
    const auto [least, most] = std::minmax_element(capacity.begin(), capacity.end());
    if (*most > steady * *least)
      reasons.push_back(fmt::format("all CPUs at once did {:.2f} to {:.2f} times the work of one",
                                    *least, *most));
  }
  return fmt::format("{}", fmt::join(reasons, "; "));
}

cpu_time read_stat(const std::string& text, const std::vector<int>& cpus, double ticks_per_second) {
  cpu_time sum;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    const auto is = [&](int cpu) { return name == "cpu" + std::to_string(cpu); };
    if (std::none_of(cpus.begin(), cpus.end(), is)) continue;
    double user = 0, nice = 0, system = 0, idle = 0, waits = 0, hard = 0, soft = 0, stolen = 0;
    words >> user >> nice >> system >> idle >> waits >> hard >> soft >> stolen;
    sum.used += (user + nice + system + hard + soft) / ticks_per_second;
    sum.stolen += stolen / ticks_per_second;
  }
  return sum;
}

background_watch::background_watch()
    : cpus_(cpus_allowed()),
      began_(now()),
      at_begin_(stat_of(cpus_)),
      own_at_begin_(own_cpu_seconds()) {
  found_.load_before = load();
}

void background_watch::measure_capacity() { found_.capacity.push_back(capacity(cpus_)); }

background background_watch::so_far() const {
  background b = found_;
  b.load_after = load();
  const double seconds = std::max(now() - began_, 1e-3);
  const cpu_time at_end = stat_of(cpus_);
  const double used = at_end.used - at_begin_.used, own = own_cpu_seconds() - own_at_begin_;
  b.others = std::max(0.0, (used - own) / seconds);
  b.stolen = std::max(0.0, (at_end.stolen - at_begin_.stolen) / seconds);
  return b;
}

}  // namespace study
