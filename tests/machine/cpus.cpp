// CPUs that this process may use: quotas in fake /proc and /sys trees, and the affinity mask.
#include "machine/cpus.hpp"

#include "temporary_folder.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace cleave::tests {
namespace {

namespace fs = std::filesystem;

class quota : public testing::Test {
protected:
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  int cpus() const { return machine::quota_cpus(root); }

  /// A machine with version 2 only; this process is in `group`.
  void version2(const std::string& group, const std::string& top = "/") const {
    write("proc/self/cgroup", "0::" + group + "\n");
    write("proc/self/mountinfo",
          "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
          "30 22 0:26 " +
              top + " /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  /// Version 1, as systemd mounted it, with a version 2 hierarchy for systemd beside it.
  void version1(const std::string& group, const std::string& top = "/") const {
    write("proc/self/cgroup",
          "12:memory:/elsewhere\n4:cpu,cpuacct:" + group + "\n1:name=systemd:/x\n0::/y\n");
    write("proc/self/mountinfo",
          "25 22 0:22 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
          "31 22 0:28 " +
              top +
              " /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 master:2 - cgroup cgroup "
              "rw,cpu,cpuacct\n"
              "32 22 0:29 / /sys/fs/cgroup/memory rw shared:10 - cgroup cgroup rw,memory\n"
              "33 22 0:30 / /sys/fs/cgroup/cpuset rw shared:11 - cgroup cgroup rw,cpuset\n");
  }
  void limit1(const std::string& group, const std::string& quota_us,
              const std::string& period_us) const {
    const std::string at = "sys/fs/cgroup/cpu,cpuacct/" + group;
    write(at + "/cpu.cfs_quota_us", quota_us + "\n");
    write(at + "/cpu.cfs_period_us", period_us + "\n");
  }

  const temporary_folder own;
  const fs::path root = own.path;
};

TEST_F(quota, none_where_there_are_no_cgroups) {
  EXPECT_EQ(cpus(), 0);
  write("proc/self/cgroup", "");
  write("proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
  EXPECT_EQ(cpus(), 0);
}

TEST_F(quota, version2_rounds_up) {
  version2("/user.slice");
  const auto with = [this](const char* text) {
    write("sys/fs/cgroup/user.slice/cpu.max", text);
    return cpus();
  };
  EXPECT_EQ(with("max 100000\n"), 0);
  EXPECT_EQ(with("100000 100000\n"), 1);
  EXPECT_EQ(with("150000 100000\n"), 2);
  EXPECT_EQ(with("50000 100000\n"), 1);
  EXPECT_EQ(with("1000 100000\n"), 1);
  EXPECT_EQ(with("400000 50000\n"), 8);
  EXPECT_EQ(with("100001 100000\n"), 2);
}

TEST_F(quota, version2_the_tightest_of_the_group_and_its_ancestors) {
  version2("/a.slice/b.slice/c.scope");
  write("sys/fs/cgroup/a.slice/cpu.max", "600000 100000\n");
  EXPECT_EQ(cpus(), 6);
  write("sys/fs/cgroup/a.slice/b.slice/cpu.max", "300000 100000\n");
  EXPECT_EQ(cpus(), 3);
  write("sys/fs/cgroup/a.slice/b.slice/c.scope/cpu.max", "max 100000\n");
  EXPECT_EQ(cpus(), 3);
  write("sys/fs/cgroup/a.slice/b.slice/c.scope/cpu.max", "500000 100000\n");
  EXPECT_EQ(cpus(), 3);
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(cpus(), 2);
  write("sys/fs/cgroup/other.slice/cpu.max", "100000 100000\n");
  EXPECT_EQ(cpus(), 2);
}

TEST_F(quota, version2_in_a_container_with_a_namespace) {
  version2("/");
  write("sys/fs/cgroup/cpu.max", "250000 100000\n");
  EXPECT_EQ(cpus(), 3);
}

TEST_F(quota, version2_in_a_container_without_a_namespace) {
  version2("/docker/abc/inner", "/docker/abc");  // the mount shows the container's part only
  write("sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(cpus(), 4);
  write("sys/fs/cgroup/inner/cpu.max", "200000 100000\n");
  EXPECT_EQ(cpus(), 2);
}

TEST_F(quota, version2_of_a_process_that_was_moved_out_of_its_namespace) {
  version2("/../../elsewhere");
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(cpus(), 2);
}

TEST_F(quota, version1) {
  version1("/user/me");
  EXPECT_EQ(cpus(), 0);
  limit1("user/me", "-1", "100000");
  EXPECT_EQ(cpus(), 0);
  limit1("user/me", "350000", "100000");
  EXPECT_EQ(cpus(), 4);
  limit1("user", "50000", "25000");
  EXPECT_EQ(cpus(), 2);
  limit1("", "20000", "25000");
  EXPECT_EQ(cpus(), 1);
}

TEST_F(quota, version1_in_a_container) {
  version1("/docker/abc", "/docker/abc");
  limit1("", "300000", "100000");
  EXPECT_EQ(cpus(), 3);
}

TEST_F(quota, version1_in_a_container_that_sees_the_path_of_the_host) {
  version1("/docker/abc", "/");  // mounted from the container's group as if it were the top
  limit1("", "300000", "100000");
  EXPECT_EQ(cpus(), 3);
}

TEST_F(quota, other_controllers_do_not_count) {
  version1("/me");
  write("sys/fs/cgroup/memory/me/cpu.cfs_quota_us", "100000");
  write("sys/fs/cgroup/memory/me/cpu.cfs_period_us", "100000");
  write("sys/fs/cgroup/cpuset/me/cpu.cfs_quota_us", "100000");
  write("sys/fs/cgroup/cpuset/me/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cpus(), 0);
}

TEST_F(quota, both_versions_the_tighter) {
  version1("/me");
  limit1("me", "500000", "100000");
  write("sys/fs/cgroup/unified/y/cpu.max", "200000 100000\n");
  EXPECT_EQ(cpus(), 2);
}

TEST_F(quota, mount_points_with_spaces) {
  write("proc/self/cgroup", "0::/g\n");
  write("proc/self/mountinfo", "30 22 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n");
  write("my groups/g/cpu.max", "200000 100000\n");
  EXPECT_EQ(cpus(), 2);
}

TEST_F(quota, malformed_files_are_no_quota) {
  version2("/g");
  for (const char* text :
       {"", "\n", "many few\n", "100000\n", "100000 0\n", "-5 100000\n", "0 100000\n"}) {
    write("sys/fs/cgroup/g/cpu.max", text);
    EXPECT_EQ(cpus(), 0) << text;
  }
  write("proc/self/cgroup", "nonsense\n::\n0\n");
  write("proc/self/mountinfo", "a b c\n\n- - - -\n1 2 3 4 5 6 7 8\n");
  EXPECT_EQ(cpus(), 0);
}

TEST(usable_cpus, within_the_affinity_mask) {
  EXPECT_GE(machine::usable_cpus(), 1);
  const int of_host = machine::host_cpus();
  EXPECT_GE(of_host, machine::usable_cpus());
  std::thread([of_host] {  // the mask of a thread is its own
    cpu_set_t all, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    EXPECT_LE(machine::usable_cpus(), CPU_COUNT(&all));
    if (machine::quota_cpus() == 0) { EXPECT_EQ(machine::usable_cpus(), CPU_COUNT(&all)); }
    int first = 0;
    while (!CPU_ISSET(first, &all)) ++first;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(machine::usable_cpus(), 1);
    EXPECT_EQ(machine::host_cpus(), of_host) << "whatever the mask";
  })
      .join();
}

}  // namespace
}  // namespace cleave::tests
