#pragma once

#include "nats/access.hpp"
#include "nats/inbox.hpp"
#include "nats/parts.hpp"
#include "nats/refused.hpp"
#include "nats/subjects.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace cleave::net::nats {

class link;

/// 16 hexadecimal digits that nobody can guess.
std::string random_token();

/// A process's connection to its site's relay. Once made it is made again for as long as it takes
/// whenever it is lost; what is sent meanwhile, or was on its way, is lost. Letters from one sender
/// to this process arrive in the order in which they were sent, whole, or not at all; those to all
/// are in an order of their own.
///
/// Invariant: `link_` is null or the one connection that is up, on which all of `subjects_` are
/// listened to; only the keeper, a thread of this object, replaces it. Letters come in nats.c's
/// threads into `inbox_`, which outlives them.
class connection {
public:
  struct settings {
    int tries = 5;  ///< relays refuse whoever comes while they read their settings again
    std::chrono::milliseconds between_tries{200};
    /// This is asked between tries until the connection is there for the first time.
    std::function<bool()> give_up{};
    std::chrono::milliseconds answer_within{2000};  ///< the relay has to answer within this time
    /// The connection is lost if three pings in a row get no answer.
    std::chrono::milliseconds ping_every{1000};
    std::size_t most_bytes = std::size_t{1} << 30;  ///< the longest message that is sent in parts
  };

  /// Makes the connection, and blocks until it is there. `process` is this process's token. Throws
  /// refused or unreachable with one line that names the URL, std::invalid_argument.
  connection(access who, std::string process, const settings& how);
  connection(access who, std::string process);
  ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  /// The most bytes that a message may have which is sent in parts.
  std::size_t longest_message() const noexcept { return how_.most_bytes; }
  const endpoint& self() const noexcept { return self_; }

  // Any thread may call the functions that follow.

  /// Sends a message, in parts if the relay demands that; not at all while the connection is lost.
  /// May block for a second when the relay takes nothing, which then counts as lost. `kind` is a
  /// token. With `ask` a letter `nobody` comes back, as from `to`, if that is at this site and no
  /// process listens there.
  void send(const endpoint& to, std::string_view kind, std::span<const std::byte> content,
            bool ask = false);
  void send(const endpoint& to, std::string_view kind, std::string_view content, bool ask = false) {
    send(to, kind, std::as_bytes(std::span(content)), ask);
  }
  /// How much of a message that goes in parts was sent.
  struct outgoing {
    std::uint64_t number = 0;
    const link* by = nullptr;  ///< the connection that the message has begun with
    std::size_t done = 0;
  };
  /// Whether send() would send several messages.
  bool needs_parts(std::size_t bytes) const;
  /// Sends the next part of a message that needs parts; blocks as send() does. False: it was the
  /// last, or the connection was lost. Until then no other message may go there.
  bool send_part(const endpoint& to, std::string_view kind, std::span<const std::byte> content,
                 outgoing& so_far);
  /// Blocks until the relay has all that was sent; not for longer than it has to answer. A process
  /// that ends without it may lose what the kernel still had to send.
  void flush();
  /// Sends to all who listen to this topic, which is tokens with dots between them. `content` has
  /// at most most_to_all() bytes; throws std::invalid_argument if it has more.
  void tell_all(const std::string& topic, std::string_view content);
  static constexpr std::size_t most_to_all() noexcept { return 32 << 10; }
  /// From this call on letters to all of that topic come in; `*` stands for one token, `>` at its
  /// end for all that follow. When this returns the relay knows it, if the connection is there.
  void listen(const std::string& topic);
  /// Does what listen() does, but for a whole subject.
  void listen_to(const std::string& subject);

  /// The next letter that has arrived, or whose next part has. This process's own letters are left
  /// out.
  std::optional<letter> receive();
  /// Blocks until a letter may be there, ring() was called since the last wait, the connection was
  /// lost or is back, or the time is up. Does not spin. One thread at a time.
  void wait(std::chrono::microseconds at_most);
  void ring() noexcept;

  bool is_up() const noexcept { return up_; }
  /// How often the connection has been made.
  unsigned times_made() const noexcept { return times_made_; }
  /// Why the connection will not be made again: this machine's key is not taken any more.
  std::optional<std::string> refusal() const;
  /// How many waits blocked, and how many of these ended because the time was up.
  struct waits {
    std::uint64_t sleeps = 0, naps = 0;
  };
  waits counted() const noexcept { return counted_; }

private:
  std::shared_ptr<link> connect() const;
  void adopt(std::shared_ptr<link> made);
  void keep();
  bool make_again();
  bool send_part(link& by, const std::string& subject, const std::string& reply,
                 std::span<const std::byte> content, outgoing& so_far);
  void publish(link& by, const std::string& subject, const std::string& reply,
               std::span<const std::byte> content);
  std::shared_ptr<link> current() const;

  const access who_;
  const endpoint self_;
  const settings how_;
  const std::shared_ptr<inbox> inbox_;
  std::atomic<bool> up_{false};
  std::atomic<unsigned> times_made_{0};
  waits counted_;  // only the thread that waits touches it

  mutable std::mutex mutex_;  // guards the next three
  std::shared_ptr<link> link_;
  std::vector<std::string> subjects_;  // the subjects that are listened to
  std::optional<std::string> refusal_;

  std::mutex sending_;  // held by whoever sends: the parts of a message follow each other
  std::uint64_t last_number_ = 0;
  assembler unfinished_;  // only the thread that receives touches it
  std::thread keeper_;
};

}  // namespace cleave::net::nats
