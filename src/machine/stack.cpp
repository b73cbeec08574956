#include "machine/stack.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <system_error>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define CLEAVE_TELLS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CLEAVE_TELLS_SANITIZER 1
#endif
#endif
#ifdef CLEAVE_TELLS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif

namespace cleave::machine {
namespace {

constexpr std::size_t least_bytes = 65'536;
constexpr std::size_t guard_bytes = std::size_t{1}
                                    << 20;  // a frame larger than a page must still hit it
constexpr std::size_t signal_stack_bytes = std::size_t{64} << 10;

/// The guard below the stack that a thread is on, for the signal handler.
struct guard {
  std::uintptr_t begin = 0, end = 0;
  std::size_t stack_mib = 0;
};
constinit thread_local guard here{};

struct sigaction previous_handler;

void say(const char* text) noexcept { (void)!write(STDERR_FILENO, text, std::strlen(text)); }

void on_fault(int signal, siginfo_t* info, void* context) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (here.begin <= at && at < here.end) {
    char digits[24];
    char* p = digits + sizeof digits;
    *--p = '\0';
    for (std::size_t n = here.stack_mib; p > digits && (n != 0 || *p == '\0'); n /= 10) {
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

void handle_signals_on(void* memory) noexcept {
  stack_t alternate{};
  alternate.ss_sp = memory;
  alternate.ss_size = signal_stack_bytes;
  sigaltstack(&alternate, nullptr);
}
void handle_signals_on_no_other() noexcept {
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

/// Where a thread of the program handles its signals, from its first time on a stack of ours: as
/// it did, if it had a place of its own for that.
class signal_stack {
public:
  signal_stack() noexcept {
    stack_t own{};
    if (sigaltstack(nullptr, &own) != 0 || (own.ss_flags & SS_DISABLE) == 0) return;
    memory_ = mmap(nullptr, signal_stack_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory_ != MAP_FAILED) handle_signals_on(memory_);
  }
  ~signal_stack() {
    if (memory_ == MAP_FAILED) return;
    stack_t last{};
    if (sigaltstack(nullptr, &last) == 0 && last.ss_sp == memory_) handle_signals_on_no_other();
    munmap(memory_, signal_stack_bytes);
  }
  signal_stack(const signal_stack&) = delete;
  signal_stack& operator=(const signal_stack&) = delete;

private:
  void* memory_ = MAP_FAILED;
};

/// Calls call(argument) with the stack pointer at `top`. This file keeps the frame pointer, so that
/// debuggers find the caller. No function is inlined here, and nothing is known of it elsewhere.
#if defined(__GNUC__) && !defined(__clang__)
[[gnu::noinline, gnu::noipa]]
#else
[[gnu::noinline]]
#endif
void call_on(char* top, void (*call)(void*) noexcept, void* argument) noexcept {
#if defined(__x86_64__)
  asm volatile(
      "movq %%rsp, %%rbx\n\t"
      "movq %[top], %%rsp\n\t"
      "callq *%[call]\n\t"
      "movq %%rbx, %%rsp"
      : "+D"(argument), [top] "+r"(top), [call] "+r"(call)
      :
      : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "cc", "memory");
#elif defined(__aarch64__)
  register void* first asm("x0") = argument;
  asm volatile(
      "mov x19, sp\n\t"
      "mov sp, %[top]\n\t"
      "blr %[call]\n\t"
      "mov sp, x19"
      : "+r"(first), [top] "+r"(top), [call] "+r"(call)
      :
      : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
        "x15", "x16", "x17", "x18", "x19", "x30", "cc", "memory");
#else
  static_cast<void>(top), call(argument);
#endif
}

#ifdef CLEAVE_TELLS_SANITIZER
/// What AddressSanitizer is told of: it has to know which stack a thread is on, and if the program
/// exits here, that what only the outer stack knows is no leak.
struct told_call {
  void (*call)(void*) noexcept;
  void* argument;
  const void* outer_begin = nullptr;
  std::size_t outer_bytes = 0;

  static void run(void* self) noexcept {
    auto& what = *static_cast<told_call*>(self);
    __sanitizer_finish_switch_fiber(nullptr, &what.outer_begin, &what.outer_bytes);
    __lsan_register_root_region(what.outer_begin, what.outer_bytes);
    what.call(what.argument);
    __lsan_unregister_root_region(what.outer_begin, what.outer_bytes);
    __sanitizer_start_switch_fiber(nullptr, what.outer_begin, what.outer_bytes);
  }
};
#endif

}  // namespace

// The memory holds, from the bottom: signal stack, guard, stack.
const std::size_t stack::below = signal_stack_bytes + guard_bytes;

stack::stack(std::size_t bytes) {
  install_handler();
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (bytes > std::numeric_limits<std::size_t>::max() / 2)
    throw std::system_error(ENOMEM, std::generic_category(), "a worker's stack");
  bytes = std::max({bytes, least_bytes, static_cast<std::size_t>(PTHREAD_STACK_MIN)});
  bytes_ = (bytes + page - 1) / page * page;
  void* const memory = mmap(nullptr, below + bytes_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "a worker's stack");
  memory_ = static_cast<char*>(memory);
  if (mprotect(memory_ + signal_stack_bytes, guard_bytes, PROT_NONE) == 0) return;
  const int failed = errno;
  munmap(memory_, below + bytes_);
  throw std::system_error(failed, std::generic_category(), "a worker's stack");
}

stack::~stack() { munmap(memory_, below + bytes_); }

void stack::watch_thread() const noexcept {
  const auto bottom = reinterpret_cast<std::uintptr_t>(begin());
  here = {bottom - guard_bytes, bottom, bytes_ >> 20};
  handle_signals_on(memory_);
}
void stack::forget_thread() const noexcept { handle_signals_on_no_other(); }

void stack::run(void (*call)(void*) noexcept, void* argument) const noexcept {
  static thread_local const signal_stack for_overflow;
  static_cast<void>(for_overflow);
  const auto bottom = reinterpret_cast<std::uintptr_t>(begin());
  const guard before = std::exchange(here, {bottom - guard_bytes, bottom, bytes_ >> 20});
#ifdef CLEAVE_TELLS_SANITIZER
  told_call told{call, argument};
  void* own_frames = nullptr;
  __sanitizer_start_switch_fiber(&own_frames, begin(), bytes_);
  call_on(begin() + bytes_, &told_call::run, &told);
  __sanitizer_finish_switch_fiber(own_frames, nullptr, nullptr);
#else
  call_on(begin() + bytes_, call, argument);
#endif
  here = before;
}

}  // namespace cleave::machine
