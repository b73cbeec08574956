// Ctrl-C in a study, and SIGTERM: the first one ends it with what it has by then, the second one at
// once.
#pragma once

#include <csignal>

namespace study {

// While it lives. One at a time.
class until_interrupted {
public:
  until_interrupted();
  ~until_interrupted();
  until_interrupted(const until_interrupted&) = delete;
  until_interrupted& operator=(const until_interrupted&) = delete;

private:
  struct sigaction before_int_ {
  }, before_term_{};
};

// By which signal, for the exit status; 0 if it was not.
int interrupted_by() noexcept;
inline bool is_interrupted() noexcept { return interrupted_by() != 0; }

}  // namespace study
