#include "machine/thread.hpp"

#include "machine/stack.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <cstdint>
#include <ctime>
#include <system_error>

namespace cleave::machine {

struct thread::state {
  void (*call)(void*);
  void* argument;
  stack runs_on;
  pthread_t handle{};

  static void* begin(void* self) {
    auto& s = *static_cast<state*>(self);
    s.runs_on.watch_thread();
    s.call(s.argument);
    s.runs_on.forget_thread();
    return nullptr;
  }
};

thread::thread(std::size_t stack_bytes, void (*call)(void*), void* argument)
    : state_(new state{call, argument, stack(stack_bytes)}) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  int failed = pthread_attr_setstack(&attributes, state_->runs_on.begin(), state_->runs_on.bytes());
  if (failed == 0)
    failed = pthread_create(&state_->handle, &attributes, &state::begin, state_.get());
  pthread_attr_destroy(&attributes);
  if (failed != 0) throw std::system_error(failed, std::generic_category(), "a worker's thread");
}

thread::~thread() { pthread_join(state_->handle, nullptr); }

long preemptions() noexcept {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nivcsw;
}

namespace {
std::uint64_t read_clock(clockid_t clock) noexcept {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(t.tv_nsec);
}
}  // namespace

std::uint64_t cpu_time() noexcept { return read_clock(CLOCK_THREAD_CPUTIME_ID); }
std::uint64_t process_cpu_time() noexcept { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace cleave::machine
