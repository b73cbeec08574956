#include "machine/thread.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <limits>
#include <mutex>
#include <system_error>

namespace cleave::machine {
namespace {

constexpr std::size_t guard_bytes = std::size_t{1}
                                    << 20;  // a frame larger than a page must still hit it
constexpr std::size_t signal_stack_bytes = std::size_t{64} << 10;

/// The running thread's guard zone, for the signal handler.
constinit thread_local std::uintptr_t guard_begin = 0;
constinit thread_local std::uintptr_t guard_end = 0;
constinit thread_local std::size_t stack_mib = 0;

struct sigaction previous_handler;

void say(const char* text) noexcept { (void)!write(STDERR_FILENO, text, std::strlen(text)); }

void on_fault(int signal, siginfo_t* info, void* context) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (guard_begin <= at && at < guard_end) {
    char digits[24];
    char* p = digits + sizeof digits;
    *--p = '\0';
    for (std::size_t n = stack_mib; p > digits && (n != 0 || *p == '\0'); n /= 10) {
      *--p = static_cast<char>('0' + n % 10);
    }
    say("cleave: recursion too deep: a worker's stack of ");
    say(p);
    say(" MiB is full; CLEAVE_STACK=MiB sets it\n");
    _exit(2);
  }
  // The fault is none of these: the former handler decides.
  if ((previous_handler.sa_flags & SA_SIGINFO) != 0) {
    previous_handler.sa_sigaction(signal, info, context);
  } else {
    // The fault repeats and meets the former handler; what somebody has sent does not.
    sigaction(SIGSEGV, &previous_handler, nullptr);
    if (info->si_code <= 0) raise(signal);
  }
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &previous_handler);
  });
}

}  // namespace

struct thread::state {
  void (*call)(void*);
  void* argument;
  char* memory = nullptr;
  std::size_t bytes = 0;
  pthread_t handle{};

  static void* begin(void* self) {
    auto& s = *static_cast<state*>(self);
    // The memory holds, from the bottom: signal stack, guard, stack.
    guard_begin = reinterpret_cast<std::uintptr_t>(s.memory) + signal_stack_bytes;
    guard_end = guard_begin + guard_bytes;
    stack_mib = (s.bytes - guard_bytes - signal_stack_bytes) >> 20;
    stack_t alternate{};
    alternate.ss_sp = s.memory;
    alternate.ss_size = signal_stack_bytes;
    sigaltstack(&alternate, nullptr);
    s.call(s.argument);
    alternate.ss_flags = SS_DISABLE;
    sigaltstack(&alternate, nullptr);
    return nullptr;
  }
};

namespace {
constexpr std::size_t least_stack = 65'536;
}

thread::thread(std::size_t stack_bytes, void (*call)(void*), void* argument)
    : state_(new state{call, argument}) {
  install_handler();
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (stack_bytes > std::numeric_limits<std::size_t>::max() / 2)
    throw std::system_error(ENOMEM, std::generic_category(), "a worker's stack");
  stack_bytes = std::max({stack_bytes, least_stack, static_cast<std::size_t>(PTHREAD_STACK_MIN)});
  stack_bytes = (stack_bytes + page - 1) / page * page;
  state_->bytes = signal_stack_bytes + guard_bytes + stack_bytes;
  void* memory = mmap(nullptr, state_->bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "a worker's stack");
  state_->memory = static_cast<char*>(memory);
  int failed =
      mprotect(state_->memory + signal_stack_bytes, guard_bytes, PROT_NONE) == 0 ? 0 : errno;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (failed == 0)
    failed = pthread_attr_setstack(&attributes, state_->memory + signal_stack_bytes + guard_bytes,
                                   stack_bytes);
  if (failed == 0)
    failed = pthread_create(&state_->handle, &attributes, &state::begin, state_.get());
  pthread_attr_destroy(&attributes);
  if (failed != 0) {
    munmap(state_->memory, state_->bytes);
    throw std::system_error(failed, std::generic_category(), "a worker's thread");
  }
}

thread::~thread() {
  pthread_join(state_->handle, nullptr);
  munmap(state_->memory, state_->bytes);
}

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
