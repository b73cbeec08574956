#include "sites/program_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <stdexcept>

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
    // There is room for so much in a pipe that is ready.
    const ssize_t n =
        ::write(to, text.data() + done, std::min<std::size_t>(PIPE_BUF, text.size() - done));
    can = n >= 0 || errno == EINTR || errno == EAGAIN;
    if (n < 0) break;
    done += static_cast<std::size_t>(n);
  }
  text.erase(0, done);
  return can;
}

void program_output::add(std::string_view text) {
  const std::size_t again = std::min(text.size(), kept_.size() - written_);
  if (kept_.compare(written_, again, text.substr(0, again)) != 0) {
    std::string line =
        "cleave: begun again, the program writes something else; all of it follows\n";
    if (to_ >= 0) write_some(STDERR_FILENO, line);
    kept_.resize(written_);
    show(kept_);
    return add(text);
  }
  const std::string_view rest = text.substr(again);
  show(rest);
  if (!keeps_) return;
  kept_ += rest, written_ += text.size();
  if (to_ >= 0 && kept_.size() > most_kept) keeps_ = false, written_ = 0, kept_.clear();
}

void program_output::show(std::string_view text) {
  if (to_ >= 0) unwritten_ += text;
}

void program_output::write(std::chrono::milliseconds at_most) {
  if (!write_some(to_, unwritten_, at_most))
    throw std::runtime_error("cannot write to standard output");
}

}  // namespace sites
