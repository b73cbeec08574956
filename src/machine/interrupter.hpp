#pragma once

#include <sys/types.h>

namespace cleave::machine {

/// Interrupts the thread that made it, by a signal that no program can name: none blocks it, waits
/// for it or handles it. The thread is interrupted only while it runs or could run: so no sleep
/// ends early. A system call that it is in begins again where it can (SA_RESTART).
///
/// A process may have one of them.
class interrupter {
public:
  /// `interrupted` is what the thread then calls, wherever it is. It may call async-signal-safe
  /// functions only.
  explicit interrupter(void (*interrupted)()) noexcept;
  /// Called by the thread that made this object, which is not interrupted any more.
  ~interrupter();
  interrupter(const interrupter&) = delete;
  interrupter& operator=(const interrupter&) = delete;

  /// False if this C library keeps no such signal, or the kernel does not tell which threads run.
  bool works() const noexcept { return takes_signal_ && state_ >= 0; }
  /// Any other thread may call this, if works(). Returns whether it did interrupt: not while the
  /// last signal is on its way, nor once somebody else handles that signal.
  bool interrupt() const noexcept;

private:
  bool takes_signal_;
  pid_t thread_;
  int state_;  // the file that says whether the thread runs
};

}  // namespace cleave::machine
