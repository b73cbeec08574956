#include "machine/cpus.hpp"

#include <sched.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace cleave::machine {
namespace {

namespace fs = std::filesystem;

/// A line of /proc/self/cgroup: `hierarchy:controllers:path`.
struct membership {
  std::string controllers;  // empty for version 2
  std::string path;
};

std::vector<membership> memberships(const fs::path& root) {
  std::vector<membership> found;
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const auto a = line.find(':');
    const auto b = line.find(':', a + 1);
    if (a == std::string::npos || b == std::string::npos) continue;
    found.push_back({line.substr(a + 1, b - a - 1), line.substr(b + 1)});
  }
  return found;
}

struct mount {
  fs::path top;  // the part of the hierarchy that is mounted
  fs::path point;
  std::string type;
  std::string options;
};

/// mountinfo writes blanks and backslashes in paths as three octal digits.
std::string unescaped(const std::string& field) {
  std::string path;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const bool escape = field[i] == '\\' && i + 3 < field.size() &&
                        field.find_first_not_of("01234567", i + 1) > i + 3;
    if (escape) {
      path += static_cast<char>(std::stoi(field.substr(i + 1, 3), nullptr, 8));
      i += 3;
    } else {
      path += field[i];
    }
  }
  return path;
}

/// Fields of /proc/self/mountinfo: id parent device root mount-point … - type source options.
std::vector<mount> cgroup_mounts(const fs::path& root) {
  std::vector<mount> found;
  std::ifstream in(root / "proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string skip;
    mount m;
    std::string top, point;
    fields >> skip >> skip >> skip >> top >> point;
    while (fields >> skip && skip != "-") {}
    fields >> m.type >> skip >> m.options;
    m.top = unescaped(top), m.point = unescaped(point);
    if (m.type == "cgroup" || m.type == "cgroup2") found.push_back(m);
  }
  return found;
}

bool lists(const std::string& comma_separated, const std::string& name) {
  std::istringstream items(comma_separated);
  for (std::string item; std::getline(items, item, ',');) {
    if (item == name) return true;
  }
  return false;
}

/// CPUs' worth of quota in one directory of a hierarchy.
std::optional<double> quota_in(const fs::path& directory, bool version2) {
  double quota = 0;
  double period = 100'000;
  if (version2) {
    std::ifstream in(directory / "cpu.max");
    std::string first;
    if (!(in >> first >> period) || first == "max") return {};
    std::istringstream number(first);
    if (!(number >> quota)) return {};
  } else {
    std::ifstream quota_file(directory / "cpu.cfs_quota_us");
    std::ifstream period_file(directory / "cpu.cfs_period_us");
    if (!(quota_file >> quota) || !(period_file >> period)) return {};
  }
  if (quota <= 0 || period <= 0) return {};
  return quota / period;
}

}  // namespace

int quota_cpus(const fs::path& root) {
  std::optional<double> tightest;
  const auto groups = memberships(root);
  for (const mount& m : cgroup_mounts(root)) {
    const bool version2 = m.type == "cgroup2";
    if (!version2 && !lists(m.options, "cpu")) continue;
    for (const membership& group : groups) {
      if (version2 ? !group.controllers.empty() : !lists(group.controllers, "cpu")) continue;
      // Inside a container the mount shows a part of the hierarchy, or the path is already relative
      // to it.
      fs::path below = fs::path(group.path).lexically_relative(m.top);
      if (below.empty() || *below.begin() == "..") below = fs::path(group.path).relative_path();
      const fs::path point = root / m.point.relative_path();
      for (fs::path at = below.lexically_normal();; at = at.parent_path()) {
        if (const auto q = quota_in(point / at, version2))
          tightest = std::min(*q, tightest.value_or(*q));
        if (at.empty() || at == ".") break;
      }
    }
  }
  return tightest ? std::max(1, static_cast<int>(std::ceil(*tightest))) : 0;
}

static int within_quota(int cpus) {
  if (const int paid = quota_cpus(); paid > 0) cpus = std::min(cpus, paid);
  return std::max(1, cpus);
}

int usable_cpus() {
  int cpus = static_cast<int>(std::thread::hardware_concurrency());
  // A mask sized for the machine: the fixed cpu_set_t ends at 1024 CPUs.
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
    cpu_set_t* mask = CPU_ALLOC(static_cast<std::size_t>(capacity));
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(capacity));
    const bool known = mask != nullptr && sched_getaffinity(0, bytes, mask) == 0;
    if (known) cpus = CPU_COUNT_S(bytes, mask);
    CPU_FREE(mask);
    if (known) break;
  }
  return within_quota(cpus);
}

int host_cpus() { return within_quota(static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN))); }

}  // namespace cleave::machine
