#pragma once

#include <csignal>

namespace cleave::machine {

/// While it lives this thread gets no signals. Threads that it begins meanwhile never get any, so
/// none ends up where nobody expects it.
class without_signals {
public:
  without_signals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~without_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  without_signals(const without_signals&) = delete;
  without_signals& operator=(const without_signals&) = delete;

private:
  sigset_t before_{};
};

}  // namespace cleave::machine
