#pragma once

#include <map>
#include <optional>
#include <utility>

#include "protocol/holders.hpp"
#include "protocol/neighbours.hpp"

namespace cleave::net {

/// Published data that go from their publisher to the nodes that fetch them. What is large goes in
/// parts along a tree of nodes that have it, or are getting it: each passes parts on when they
/// come. docs/protocol.md has the rules.
///
/// Invariant: what core waits for is in `fetching_` until it has come, or its publisher is gone. A
/// copy's contents are the datum's first bytes.
class publications {
public:
  publications(const surroundings& all, neighbours& peers) : all_(all), peers_(peers) {}

  void fetch(instant now, address publisher, std::uint64_t id);
  void on_fetch(instant now, address from, const net::fetch& m);
  void on_published(instant now, address from, const published& m);
  /// Asks again for what has not come, gives up on publishers that are gone, and frees copies that
  /// nobody has read for long.
  void tick(instant now);
  /// When tick() has something to do.
  instant next() const;

  /// Something of a long message has come from there: it may be what was asked for.
  void alive(instant now, address from);
  /// A peer can be reached.
  void found(instant now, address who);
  /// A peer cannot be reached, and may come back.
  void unreachable(instant now, address who);
  /// A peer's process is gone.
  void gone(instant now, address who);

private:
  /// The publisher, and which of its data.
  using name = std::pair<address, std::uint64_t>;
  /// A node that gets a datum from here.
  struct reader {
    std::uint64_t sent = 0;   ///< bytes
    std::uint64_t until = 0;  ///< how far it may be sent before it asks again
    instant heard{};
  };
  struct copy {
    bytes contents;
    std::uint64_t size = 0;  ///< of the whole datum
    bool begun = false;      ///< its size is known
    std::map<address, reader> readers;
    instant used{};
    bool is_whole() const { return begun && contents.size() == size; }
  };
  struct fetching {
    address from = 0;
    instant since{};          ///< when something of it came last
    std::uint64_t asked = 0;  ///< how far it was asked for last
    instant resend_at{};
    instant resend_after{};  ///< doubles: what is large may only be slow
  };

  copy* own(instant now, std::uint64_t id);
  void send_whole(instant now, address to, const name& what, const copy& c);
  void serve(instant now, address to, const name& what, copy& c, const net::fetch& m);
  void pass_on(const name& what, copy& c);
  void ask(const name& what, fetching& f, bool again, std::optional<address> without = {});
  void ask_publisher(instant now, const name& what, fetching& f);
  bool is_unreachable(instant now, const name& what, const fetching& f) const;
  void end(const name& what, std::optional<bytes> contents);
  bool append(copy& c, const published& m) const;
  std::uint64_t site_of(address who) const;

  const surroundings& all_;
  neighbours& peers_;
  std::map<name, fetching> fetching_;
  std::map<name, copy> copies_;
  std::map<std::uint64_t, holders> holders_;  ///< of this node's own data
  /// Small data that were sent to whom, and until when they may be on their way.
  std::map<std::pair<address, name>, instant> sent_;
};

}  // namespace cleave::net
