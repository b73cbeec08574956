#include "record/rank_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace cleave::record {

void rank_writer::open(const char* folder, int rank) noexcept {
  const std::string name = std::string(folder) + "/rank-" + std::to_string(rank);
  file_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file_ < 0) return give_up(name.c_str());
  buffered_.reserve(most_buffered);
  entry title;
  std::memcpy(static_cast<void*>(&title), rank_file_title, sizeof title);
  put(title);
}

void rank_writer::put(entry e, std::string_view text) noexcept {
  e.tag = static_cast<std::int32_t>(text.size());
  put(e);
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), sizeof(entry)))) {
    entry part;
    std::memset(static_cast<void*>(&part), 0, sizeof part);
    std::memcpy(static_cast<void*>(&part), text.data(), std::min(text.size(), sizeof part));
    put(part);
  }
}

void rank_writer::close() noexcept {
  flush();
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

void rank_writer::flush() noexcept {
  const char* at = reinterpret_cast<const char*>(buffered_.data());
  std::size_t left = file_ < 0 ? 0 : buffered_.size() * sizeof(entry);
  while (left > 0) {
    const ssize_t n = ::write(file_, at, left);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      give_up("the file of a rank");
      break;
    }
    at += n, left -= static_cast<std::size_t>(n);
  }
  buffered_.clear();
}

void rank_writer::give_up(const char* what) noexcept {
  std::fprintf(stderr, "record: %s: cannot be written: %s\n", what, std::strerror(errno));
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

}  // namespace cleave::record
