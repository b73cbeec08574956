#pragma once

#include "nats/dial.hpp"
#include "nats/inbox.hpp"
#include "nats/pulse.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cleave::net::nats {

/// One connection of nats.c, from when it is made until it is lost. Once lost, it is never up
/// again.
///
/// Invariant: each subscription owns a share of the inbox until nats.c's thread that delivers has
/// ended, so letters always have a place; and the subscription's end, for whatever reason, is a
/// suspicion in the inbox.
class link {
public:
  /// `ping_every`: after three pings in a row without an answer the connection counts as silent.
  link(nats_connection made, std::string url, std::chrono::milliseconds ping_every)
      : nats_(std::move(made)), url_(std::move(url)), pulse_(nats_.get(), ping_every) {}
  ~link();
  link(const link&) = delete;
  link& operator=(const link&) = delete;

  const std::string& url() const noexcept { return url_; }
  bool lost() const noexcept {
    return broken_ || pulse_.is_silent() || natsConnection_IsClosed(nats_.get());
  }
  /// Why the connection is lost, if it is.
  std::string why() const;
  /// The largest message that this link carries, in bytes.
  std::size_t most_bytes() const noexcept;
  /// Whether the relay does not allow something that was said so far, and flushed.
  bool is_forbidden() const noexcept;
  /// Blocks until the relay has all that was said so far. False: the relay does not have it within
  /// that time.
  bool flush(std::chrono::milliseconds at_most) { return pulse_.flush(at_most); }
  /// Sends a message; `reply` may be empty. False: a part of it may be sent, and this link is of no
  /// use any more.
  bool publish(const std::string& subject, const std::string& reply,
               std::span<const std::byte> content) noexcept;
  bool subscribe(const std::string& subject, const std::shared_ptr<inbox>& to);

private:
  const nats_connection nats_;
  const std::string url_;
  std::vector<natsSubscription*> subscriptions_;
  std::atomic<bool> broken_{false};
  pulse pulse_;
};

}  // namespace cleave::net::nats
