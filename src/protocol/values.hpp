#pragma once

#include <map>
#include <optional>
#include <utility>

#include "protocol/neighbours.hpp"

namespace cleave::net {

/// Shared values that go to all nodes, and published data that a node fetches.
///
/// Invariant: what core waits for is in `fetching_` until it has come, or its publisher is gone.
class values {
public:
  values(const surroundings& all, neighbours& peers) : all_(all), peers_(peers) {}

  /// When fetch_again() has something to do.
  instant next() const;

  /// Shared values were improved here.
  void improved(const bytes& newest) { spread(all_.self.self - 1, newest); }
  void on_update(const shared_update& m);

  void fetch(instant now, address publisher, std::uint64_t id);
  void on_fetch(instant now, address from, const net::fetch& m);
  void on_published(address from, const published& m);
  /// Asks again for what has not come, and gives up on publishers that are gone.
  void fetch_again(instant now);

  /// Something of a long message has come from there: it may be what was asked for.
  void alive(instant now, address from);
  /// A peer can be reached.
  void found(instant now, address who);
  /// A peer cannot be reached, and may come back.
  void unreachable(instant now, address who);
  /// A peer's process is gone.
  void gone(address who);

private:
  struct fetching {
    instant since{};
    instant resend_at{};
    instant resend_after{};  ///< doubles: what is large may only be slow
  };
  using of_peer = std::pair<address, std::uint64_t>;

  void spread(address last, const bytes& newest);
  void end_fetches(address publisher);
  void forget_served(address who);

  const surroundings& all_;
  neighbours& peers_;
  std::map<of_peer, fetching> fetching_;
  /// What was sent to which peer that asked for it, and until when it may be on its way.
  std::map<of_peer, instant> served_;
};

}  // namespace cleave::net
