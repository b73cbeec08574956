#include "machine/on_cpu.hpp"

#include <gtest/gtest.h>
#include <sched.h>

namespace {

using cleave::machine::on_cpu;

cpu_set_t allowed() {
  cpu_set_t cpus;
  sched_getaffinity(0, sizeof cpus, &cpus);
  return cpus;
}

TEST(on_cpu, each_one_and_then_as_before) {
  cpu_set_t before = allowed();
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(static_cast<unsigned>(cpu), &before)) continue;
    {
      const on_cpu there(cpu);
      EXPECT_EQ(sched_getcpu(), cpu);
    }
    cpu_set_t after = allowed();
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
  }
}

TEST(on_cpu, that_may_not_be_used_changes_nothing) {
  cpu_set_t before = allowed();
  for (const int cpu : {-1, CPU_SETSIZE}) {
    const on_cpu there(cpu);
    cpu_set_t now = allowed();
    EXPECT_TRUE(CPU_EQUAL(&before, &now));
  }
}

}  // namespace
