// Ctrl-C in a study: the first one ends it with what it has by then, the second one at once.
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
  struct sigaction before_ {};
};

bool is_interrupted() noexcept;

}  // namespace study
