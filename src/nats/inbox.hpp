#pragma once

#include "nats/subjects.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace cleave::net::nats {

struct letter {
  endpoint from;  ///< read from the subject, in which permissions let a machine write only itself
  bool to_all = false;  ///< false: to this process alone
  std::string topic;    ///< what the letter is: one token if it is direct, else several, with dots
  bool nobody = false;  ///< the relay says that nothing is listened to there
  std::vector<std::byte> content;
  bool unfinished = false;  ///< a part of a longer letter has come: there are no contents yet
};

/// Writes to standard error, unless its reader takes nothing: nobody here may wait for that. Any
/// thread may call it.
void say_if_read(const std::string& line) noexcept;

/// Where nats.c's threads leave what they have for a connection's threads: letters, and the
/// suspicion that it is lost.
///
/// Invariant: `bytes_` is what the letters in `letters_` hold, at most 1 GiB; what would exceed
/// that is dropped, and that is said once. Once closed it stays so, and whoever waits as the keeper
/// goes on. The inbox outlives the connection for as long as a thread of nats.c has it.
class inbox {
public:
  // Threads of nats.c call put() and suspect().

  void put(letter one);
  void suspect() noexcept;

  // Any thread may call ring() and close().

  /// Ends a wait().
  void ring() noexcept;
  void close() noexcept;

  // Only the thread that receives calls take() and wait().

  std::optional<letter> take();
  enum class woken { not_asleep, by_somebody, by_time };
  /// Blocks until there is a letter, or ring() was called since the last wait, or the time is up.
  woken wait(std::chrono::microseconds at_most);

  // Only the keeper calls wait_for_suspicion() and pause().

  /// Blocks until the connection may be lost, or it is time to look. False: the inbox is closed.
  bool wait_for_suspicion(std::chrono::milliseconds at_most);
  /// Blocks for so long. False: the inbox is closed.
  bool pause(std::chrono::milliseconds at_most);

private:
  std::mutex mutex_;
  std::condition_variable arrived_, for_keeper_;
  std::deque<letter> letters_;
  std::size_t bytes_ = 0;
  bool rung_ = false, overflown_ = false, suspect_ = false, closed_ = false;
};

}  // namespace cleave::net::nats
