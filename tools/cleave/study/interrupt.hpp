// Ctrl-C in a study, and SIGTERM: the first one ends it with what it has by then, the second one at
// once.
#pragma once

#include <csignal>

namespace study {

// Studies end so while one of these lives. There is one at a time.
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

// The signal that has interrupted the study, for the exit status; 0 if there was none.
int interrupted_by() noexcept;
inline bool is_interrupted() noexcept { return interrupted_by() != 0; }

}  // namespace study
