#include "machine/interrupter.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

namespace cleave::machine {
namespace {

/// The signal by which glibc's setuid() reaches all threads. glibc handles it from the first thread
/// on, and keeps it from programs: its functions drop it from every set of signals that is to be
/// blocked or waited for, and let nobody handle it. Its handler returns at once if the signal was
/// sent in another way than its own. A signal that programs can name would be seen by one that
/// waits for all of them (sigtimedwait, signalfd): between a look at what the thread blocks and the
/// sending, the thread may block it.
constexpr int reserved = 33;

/// What the kernel is told of a handler; sigaction() tells nothing of reserved signals.
struct action {
  void (*handler)(int, siginfo_t*, void*);
  unsigned long flags;
  void (*restorer)();
  std::uint64_t mask;
};
bool exchange(const action* to, action* from) noexcept {
  return syscall(SYS_rt_sigaction, reserved, to, from, sizeof to->mask) == 0;
}

std::atomic<void (*)()> to_call{nullptr};
static_assert(decltype(to_call)::is_always_lock_free);

/// Signals queue: while glibc blocks this one, one waits, and no second is sent.
std::atomic<bool> on_its_way{false};

action of_glibc{};

void handle(int number, siginfo_t* sent, void* context) {
  if (sent->si_code != SI_QUEUE || sent->si_value.sival_ptr != &on_its_way)
    return of_glibc.handler(number, sent, context);
  const int kept = errno;
  on_its_way.store(false, std::memory_order_relaxed);
  if (auto* const f = to_call.load(std::memory_order_relaxed)) f();
  errno = kept;
}

/// Begins a thread, so that glibc handles its signal; it does not do so again.
void begin_threads() noexcept {
  pthread_t t{};
  if (pthread_create(
          &t, nullptr, [](void*) -> void* { return nullptr; }, nullptr) == 0)
    pthread_join(t, nullptr);
}

/// False if this C library has no such signal, or does not handle it.
bool take_signal() noexcept {
  if (SIGRTMIN <= reserved) return false;
  begin_threads();
  action now_is{};
  if (!exchange(nullptr, &now_is) || (now_is.flags & SA_SIGINFO) == 0) return false;
  if (now_is.handler == &handle) return true;
  of_glibc = now_is;
  now_is.handler = &handle;
  now_is.flags |= SA_RESTART | SA_ONSTACK;
  return exchange(&now_is, nullptr);
}

}  // namespace

interrupter::interrupter(void (*interrupted)()) noexcept
    : takes_signal_(take_signal()),
      thread_(static_cast<pid_t>(syscall(SYS_gettid))),
      state_(open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC)) {
  to_call.store(interrupted, std::memory_order_relaxed);
}

interrupter::~interrupter() {
  // The handler stays: a signal that is on its way must not end the program.
  to_call.store(nullptr, std::memory_order_relaxed);
  if (state_ >= 0) close(state_);
}

bool interrupter::interrupt() const noexcept {
  char line[128];  // thread (name) state ...; a name has at most 15 characters
  const ssize_t n = pread(state_, line, sizeof line - 1, 0);
  if (n <= 0) return false;
  line[n] = '\0';
  const char* const name_end = std::strrchr(line, ')');
  if (name_end == nullptr || std::strncmp(name_end, ") R", 3) != 0) return false;
  action now_is{};
  if (!exchange(nullptr, &now_is) || now_is.handler != &handle) return false;
  if (on_its_way.exchange(true, std::memory_order_relaxed)) return false;
  siginfo_t what{};
  what.si_code = SI_QUEUE;
  what.si_pid = getpid();
  what.si_uid = getuid();
  what.si_value.sival_ptr = &on_its_way;
  const bool sent = syscall(SYS_rt_tgsigqueueinfo, getpid(), thread_, reserved, &what) == 0;
  if (!sent) on_its_way.store(false, std::memory_order_relaxed);
  return sent;
}

}  // namespace cleave::machine
