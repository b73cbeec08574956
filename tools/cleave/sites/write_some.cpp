#include "sites/write_some.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace sites {

int descriptor_for(int terminal) {
  const std::string name = "/proc/self/fd/" + std::to_string(terminal);
  const int own =
      isatty(terminal) ? open(name.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
  return own < 0 ? terminal : own;
}

bool write_some(int to, std::string& text, std::chrono::milliseconds at_most) {
  std::size_t done = 0;
  bool can = true;
  while (done < text.size()) {
    pollfd reader{to, POLLOUT, 0};
    if (poll(&reader, 1, done == 0 ? static_cast<int>(at_most.count()) : 0) <= 0) break;
    // A pipe that is ready has room for PIPE_BUF bytes.
    const ssize_t n =
        ::write(to, text.data() + done, std::min<std::size_t>(PIPE_BUF, text.size() - done));
    can = n >= 0 || errno == EINTR || errno == EAGAIN;
    if (n < 0) break;
    done += static_cast<std::size_t>(n);
  }
  text.erase(0, done);
  return can;
}

}  // namespace sites
