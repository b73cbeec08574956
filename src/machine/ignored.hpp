#pragma once

#include <csignal>

namespace cleave::machine {

/// Whether whoever began this process has it ignore the signal, as nohup does. Blocked, it would
/// be found all the same.
inline bool is_ignored(int signal) noexcept {
  struct sigaction is {};
  return sigaction(signal, nullptr, &is) == 0 && is.sa_handler == SIG_IGN;
}

}  // namespace cleave::machine
