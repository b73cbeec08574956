#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/message.hpp"
#include "transport/transport.hpp"

/// Where the protocol meets the machine that it runs on: core below it, the transport beside it.
/// Nothing here blocks, and nothing here calls the protocol back: what follows from a call is told
/// afterwards, as an event.
namespace cleave::net {

/// A time since some moment, which may be any that does not change.
using instant = std::chrono::microseconds;

/// A local worker that starves, as core numbers it.
using asker = std::uint64_t;

/// A task on its way, without its owner's name. A task that came in has a number that the protocol
/// gives it, one that went out the number that core gave it. Neither is ever 0.
struct traveller {
  std::uint64_t id = 0;
  std::uint64_t type = 0;
  std::uint64_t depth = 0;
  bytes input;
  unsigned losses = 0;  ///< for one that went out: as `again` said last. Does not travel.
};

/// A task that was lost with so many nodes takes longer than nodes live.
inline constexpr unsigned losses_to_stay = 2;

struct outcome {
  ending how = ending::value;
  bytes result;
};

/// The value of a gathered variable, as its home gives it to others.
struct gathered_state {
  bytes value;
  std::uint64_t early = 0;  ///< updates of the home's own that are in it, in order or not yet
};

/// The gathered variables of a node. Names of variables that are not here are allowed everywhere.
class gathered_port {
public:
  virtual ~gathered_port() = default;
  /// Whether the variable is here: its home has it, or a replica.
  virtual bool has(const gathered_name& name) const = 0;
  /// The next updates in the home's order, after which the variable has this version.
  virtual void arrived(const gathered_name& name, std::uint64_t version,
                       const std::vector<ordered_update>& updates) = 0;
  /// The home's value at this version: all updates that have arrived are in it. Nothing if it is
  /// being read at this moment.
  virtual std::optional<gathered_state> here(const gathered_name& name) const = 0;
  /// A value in the place of the replica's: updates of this node up to number m.yours are in it,
  /// those in `own` are not.
  virtual void replaced(const gathered_name& name, const gathered_value& m,
                        const std::vector<bytes>& own) = 0;
  /// Updates of this node are in order, up to that number: the variable has at least this version
  /// then.
  virtual void taken(const gathered_name& name, std::uint64_t version, std::uint64_t number) = 0;
  /// The variable's home is gone.
  virtual void gone(const gathered_name& name) = 0;
};

class core_port {
public:
  virtual ~core_port() = default;

  /// Posts a request of another node. `wanted`: 0 for anything, else a task that came in: only
  /// frames from its root inward may be split. Core tells `answered`, once, unless the request is
  /// withdrawn first.
  virtual void ask(unsigned slot, std::uint64_t wanted) = 0;
  /// Ends a request; returns false if a worker has taken it on: then `answered` is still to come.
  virtual bool withdraw(unsigned slot) = 0;

  /// Has a starving worker run a task that came in; false if it does not starve any more: nothing
  /// happened then.
  virtual bool start(asker who, const traveller& task) = 0;
  /// Nothing was found for this worker for now. The node goes on asking for it.
  virtual void refuse(asker who) = 0;

  /// A task that went out has a result, or an error. Comes once for each task.
  virtual void complete(std::uint64_t task, const outcome& end) = 0;
  /// A task that went out is to be run again: by whoever asks next, here or elsewhere, or by the
  /// worker that waits for it. From losses_to_stay on only here: others get parts of it.
  virtual void again(std::uint64_t task, unsigned losses) = 0;
  /// Nobody waits any more for a task that came in.
  virtual void cancel(std::uint64_t task) = 0;

  virtual load state() const = 0;

  /// The newest shared values that anybody here has read or offered, each with its witness.
  virtual bytes shared() const = 0;
  /// Values that another node has seen: each is kept if it is better. What came with a result is
  /// passed on with those of this node, known here or not. If one cannot be read returns why, as
  /// the result of an outcome that is an error; else nothing.
  virtual bytes merge(std::span<const std::byte> values, bool with_result) = 0;

  /// What this node has published under that number.
  virtual std::optional<bytes> publication(std::uint64_t id) const = 0;
  /// What a publisher sent; nothing if it does not have it or is gone.
  virtual void fetched(address publisher, std::uint64_t id, std::optional<bytes> contents) = 0;
};

/// What the protocol sends, and what it tells a person.
class network_port {
public:
  virtual ~network_port() = default;
  virtual void send(address to, message m) = 0;
  virtual void say(const std::string& line) = 0;
  /// The node's name, for people.
  virtual std::string name(address who) const { return "node " + std::to_string(who); }
};

}  // namespace cleave::net
