#include "gang/prompt.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace gang {
namespace {

// The kernel's struct, which libraries before glibc 2.41 do not have.
struct attributes {
  std::uint32_t size = sizeof(attributes), policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 100'000;  // nanoseconds
  std::uint64_t deadline = 0, period = 0;
};

}  // namespace

void be_prompt(bool alone) noexcept {
  const sched_param lowest{1};
  if (sched_setscheduler(0, SCHED_RR | (alone ? SCHED_RESET_ON_FORK : 0), &lowest) == 0) return;
  constexpr std::uint64_t reset_on_fork = 1;
  attributes short_slice;
  short_slice.nice = own_scheduling().nice;
  if (alone) short_slice.flags = reset_on_fork;
  syscall(SYS_sched_setattr, 0, &short_slice, 0u);
}

scheduling own_scheduling() noexcept {
  sched_param parameters{};
  sched_getparam(0, &parameters);
  return {sched_getscheduler(0), parameters.sched_priority, getpriority(PRIO_PROCESS, 0)};
}

void be_scheduled(const scheduling& how) noexcept {
  const sched_param parameters{how.priority};
  sched_setscheduler(0, how.policy, &parameters);
  setpriority(PRIO_PROCESS, 0, how.nice);
}

}  // namespace gang
