#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cleave::net {

/// Where a node is reached. The transport gives it: a rank of MPI, a number of a relay's client.
using address = std::uint64_t;

using bytes = std::vector<std::byte>;

struct incoming {
  address from;
  bytes message;  // none: a part of one has come, which is a sign of life
};

struct outgoing {
  address to;
  bytes message;
};

/// How far a peer is.
enum class distance : std::uint8_t { same_host, same_site, far };

/// What a transport has done so far.
struct traffic {
  std::uint64_t sent = 0, received = 0;              // messages
  std::uint64_t sent_bytes = 0, received_bytes = 0;  // without what the transport adds
  std::uint64_t sleeps = 0;                          // waits that blocked
  std::uint64_t naps = 0;  // sleeps that a timer ended, not a message or a ring
  std::uint64_t late = 0;  // messages that nobody rang for: found after such a nap
};

/// What a node does, for people who look on from outside.
struct progress {
  std::uint32_t workers = 0, computing = 0;
  std::uint64_t tasks_in = 0, tasks_out = 0;  // tasks that crossed between nodes
};

/// What carries messages between nodes. One thread, the driver's, calls everything but ring() and
/// what sends_from_any_thread() speaks of; while that one is in wait(), another one that watches
/// does. Nothing blocks but wait(). Between two nodes messages arrive in the order in which they
/// were sent, whole, or not at all.
class transport {
public:
  virtual ~transport() = default;

  virtual address self() const noexcept = 0;
  /// The nodes that can be reached at this moment, without this one. The list grows and shrinks
  /// where nodes come and go.
  virtual std::vector<address> peers() const = 0;
  virtual distance how_far(address peer) const noexcept = 0;
  /// A number for the peer's site: the same for two peers of one site, most likely another for
  /// others.
  virtual std::uint64_t site(address /*peer*/) const noexcept { return 0; }

  /// Says to people where the peer is, also one that is lost.
  virtual std::string name(address peer) const { return "node " + std::to_string(peer); }

  /// The length of the longest message, in bytes; a longer one is dropped.
  virtual std::size_t longest_message() const noexcept {
    return std::numeric_limits<std::size_t>::max();
  }
  /// Takes the message and sends it when it can. A peer that is gone swallows it.
  virtual void send(address to, bytes message) = 0;
  /// Sends a message that nobody waits for: its receiver may find it when it wakes up next.
  virtual void send_without_waking(address to, bytes message) { send(to, std::move(message)); }
  /// Whether any thread may call send() and deliver().
  virtual bool sends_from_any_thread() const noexcept { return false; }
  /// Puts what this thread has sent on its way. The driver's thread need not call it.
  virtual void deliver() noexcept {}
  /// Does both, for all of these. A message that is sent at once may stay where it is.
  virtual void send_all(std::span<outgoing> all) {
    for (outgoing& each : all) send(each.to, std::move(each.message));
    deliver();
  }
  /// The next message that has arrived, if there is one. An empty one is none: a part of a long
  /// one has come, so its sender lives.
  virtual std::optional<incoming> receive() = 0;
  /// A peer that the transport knows to be gone, once for each time.
  virtual std::optional<address> lost() = 0;
  /// A peer that has come, or come again, since the transport was opened; once for each time. Where
  /// a peer was lost and is back, lost() has to be asked first.
  virtual std::optional<address> found() { return {}; }

  /// Puts what was sent on its way. Blocks until a message may be there, ring() was called since
  /// the last wait, or the time is up. Does not spin.
  virtual void wait(std::chrono::microseconds at_most) = 0;
  /// Ends a wait. Any thread.
  virtual void ring() noexcept = 0;

  // A thread that looks for messages in the place of one that sleeps in wait(): any thread, one at
  // a time, until end_watch().

  /// From now on messages and rings need not end a wait. False if they do all the same.
  virtual bool begin_watch() noexcept { return false; }
  /// Whether there may be a message, or was a ring, that the last call did not tell of. Brings
  /// messages on, does not block.
  virtual bool look() noexcept { return false; }
  /// Whether ring() was called since the last wait or call of this; true if the transport does not
  /// know.
  virtual bool was_rung() noexcept { return true; }
  /// Appends the messages that a look has found.
  virtual void found_by_look(std::vector<incoming>& /*all*/) {}
  /// What came since the last look() ends a wait. The thread may look again, and watches then.
  virtual void end_watch() noexcept {}

  virtual traffic counted() const noexcept { return {}; }
  /// What this node does now; a transport may tell others.
  virtual void show(const progress&) {}
};

}  // namespace cleave::net
