#include "sites/program_output.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <stdexcept>

namespace sites {

void program_output::add(std::string_view text) {
  const std::size_t again = std::min(text.size(), kept_.size() - written_);
  if (kept_.compare(written_, again, text.substr(0, again)) != 0) {
    if (to_ >= 0)
      fmt::print(stderr,
                 "cleave: begun again, the program writes something else; all of it follows\n");
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
  std::size_t done = 0;
  while (done < unwritten_.size()) {
    pollfd reader{to_, POLLOUT, 0};
    if (poll(&reader, 1, done == 0 ? static_cast<int>(at_most.count()) : 0) <= 0) break;
    // There is room for so much in a pipe that is ready.
    const ssize_t n = ::write(to_, unwritten_.data() + done,
                              std::min<std::size_t>(PIPE_BUF, unwritten_.size() - done));
    if (n < 0 && errno != EINTR && errno != EAGAIN)
      throw std::runtime_error("cannot write to standard output");
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  unwritten_.erase(0, done);
}

}  // namespace sites
