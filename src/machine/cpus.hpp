#pragma once

#include <filesystem>

namespace cleave::machine {

/// How many CPUs this process may really use: those of its affinity mask, but no more than its
/// cgroup's quota pays for, rounded up; at least 1.
int usable_cpus();

/// How many CPUs all processes of this machine share: those that are there, but no more than this
/// process's cgroup pays for; at least 1.
int host_cpus();

/// CPUs that the cgroup quota (v2 cpu.max, v1 cpu.cfs_quota_us; the tightest of the group and its
/// ancestors) pays for, rounded up, or 0 if there is none. `root` is prefixed to /proc and /sys,
/// for tests.
int quota_cpus(const std::filesystem::path& root = "/");

}  // namespace cleave::machine
