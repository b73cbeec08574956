#include "machine/interrupter.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace cleave::machine {
namespace {

std::atomic<void (*)()> to_call{nullptr};
static_assert(decltype(to_call)::is_always_lock_free);

/// Real-time signals queue: where the program blocks them, one waits, and no second is sent.
std::atomic<bool> on_its_way{false};

void handle(int) {
  const int kept = errno;
  on_its_way.store(false, std::memory_order_relaxed);
  if (auto* const f = to_call.load(std::memory_order_relaxed)) f();
  errno = kept;
}

/// One that nobody handles, from now on handled by this; 0: there is none.
int take_signal() noexcept {
  for (int number = SIGRTMAX - 1; number >= SIGRTMIN; --number) {
    struct sigaction mine {};
    if (sigaction(number, nullptr, &mine) != 0 || (mine.sa_flags & SA_SIGINFO) != 0) continue;
    if (mine.sa_handler != SIG_DFL && mine.sa_handler != &handle) continue;
    mine.sa_handler = &handle;
    mine.sa_flags = SA_RESTART | SA_ONSTACK;
    sigemptyset(&mine.sa_mask);
    if (sigaction(number, &mine, nullptr) == 0) return number;
  }
  return 0;
}

}  // namespace

interrupter::interrupter(void (*interrupted)()) noexcept
    : signal_(take_signal()),
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
  // The program may have taken the signal for itself.
  struct sigaction now_is {};
  if (sigaction(signal_, nullptr, &now_is) != 0 || now_is.sa_handler != &handle) return false;
  if (on_its_way.exchange(true, std::memory_order_relaxed)) return false;
  const bool sent = syscall(SYS_tgkill, getpid(), thread_, signal_) == 0;
  if (!sent) on_its_way.store(false, std::memory_order_relaxed);
  return sent;
}

}  // namespace cleave::machine
