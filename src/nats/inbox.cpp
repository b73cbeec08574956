#include "nats/inbox.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace cleave::net::nats {

using namespace std::chrono_literals;

// The most bytes of letters that nobody has received.
constexpr std::size_t most_waiting = std::size_t{1} << 30;

namespace {

/// What a letter counts for. An empty one counts too, as there can be many.
std::size_t bytes_of(const letter& one) noexcept {
  const endpoint& from = one.from;
  return sizeof one + one.content.size() + one.topic.size() + from.process.size() +
         from.at.site.size() + from.at.name.size();
}

}  // namespace

void say_if_read(const std::string& line) noexcept {
  pollfd reader{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&reader, 1, 0) > 0) std::fputs(line.c_str(), stderr);
}

void inbox::put(letter one) {
  {
    const std::lock_guard lock(mutex_);
    if (bytes_ + bytes_of(one) > most_waiting) {
      if (!std::exchange(overflown_, true))
        say_if_read("cleave: relay: more arrives than is read: some is lost\n");
      return;
    }
    bytes_ += bytes_of(one);
    letters_.push_back(std::move(one));
  }
  arrived_.notify_one();
}

void inbox::suspect() noexcept {
  {
    const std::lock_guard lock(mutex_);
    suspect_ = true;
  }
  for_keeper_.notify_one();
}

void inbox::ring() noexcept {
  {
    const std::lock_guard lock(mutex_);
    rung_ = true;
  }
  arrived_.notify_one();
}

void inbox::close() noexcept {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  for_keeper_.notify_one();
}

std::optional<letter> inbox::take() {
  const std::lock_guard lock(mutex_);
  if (letters_.empty()) return {};
  letter next = std::move(letters_.front());
  letters_.pop_front();
  bytes_ -= bytes_of(next);
  return next;
}

inbox::woken inbox::wait(std::chrono::microseconds at_most) {
  std::unique_lock lock(mutex_);
  const auto ready = [this] { return rung_ || !letters_.empty(); };
  auto how = woken::not_asleep;
  if (!ready()) {
    const auto longest = std::min<std::chrono::microseconds>(at_most, 1h);
    how = arrived_.wait_for(lock, longest, ready) ? woken::by_somebody : woken::by_time;
  }
  rung_ = false;
  return how;
}

bool inbox::wait_for_suspicion(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  for_keeper_.wait_for(lock, at_most, [this] { return suspect_ || closed_; });
  suspect_ = false;
  return !closed_;
}

bool inbox::pause(std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  return !for_keeper_.wait_for(lock, at_most, [this] { return closed_; });
}

}  // namespace cleave::net::nats
