#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "transport/transport.hpp"

/// What nodes say to each other: Tascell's five messages (Hiraishi et al., section 3.2) and those
/// that survive losses need. docs/protocol.md tells the rules.
namespace cleave::net {

/// A number that a process draws when it starts, so that nobody takes it for one that was there
/// before.
using incarnation = std::uint64_t;

/// A task that its owner has given away: the owner's number for it, and which time of giving this
/// is. No two givings by one incarnation have the same attempt.
struct task_key {
  std::uint64_t task = 0;
  std::uint64_t attempt = 0;
  friend auto operator<=>(const task_key&, const task_key&) = default;
};

/// Asks for a task: any, or a part of `wanted`, which the receiver holds for the sender (a
/// take-back).
struct task_request {
  std::uint64_t request = 0;  ///< above all that this node has sent before
  task_key wanted;            ///< task 0: anything
  friend bool operator==(const task_request&, const task_request&) = default;
};

/// Answers a request with a task.
struct task {
  std::uint64_t request = 0;
  task_key key;
  std::uint64_t type = 0;   ///< which of the program's task types
  std::uint64_t depth = 0;  ///< how often it was split from the root task: a hint of its size
  bytes input;
  bytes shared;  ///< the newest shared values that the sender knows
  friend bool operator==(const task&, const task&) = default;
};

/// Answers a request without a task.
struct none {
  std::uint64_t request = 0;
  address elsewhere = 0;  ///< a hint: who was given much lately, plus one; 0: nobody known
  friend bool operator==(const none&, const none&) = default;
};

enum class ending : std::uint8_t {
  value,   ///< the result's bytes
  error,   ///< an exception's bytes
  refused  ///< nobody wants the task any more: not begun
};

/// A task's end. Sent again until a result_receipt comes.
struct task_result {
  task_key key;
  ending how = ending::value;
  bytes result;
  bytes shared;  ///< the newest shared values that the sender has read or offered
  friend bool operator==(const task_result&, const task_result&) = default;
};

/// A result has come; it need not be sent again.
struct result_receipt {
  task_key key;
  friend bool operator==(const result_receipt&, const result_receipt&) = default;
};

/// What others need to know of a node to choose whom to ask.
struct load {
  std::uint32_t workers = 0;
  std::uint32_t busy = 0;   ///< workers that compute
  std::uint32_t depth = 0;  ///< the least split depth of the tasks that it runs; 0 with the root
  friend bool operator==(const load&, const load&) = default;
};

/// Names a gathered variable: the node that made it, plus one, and which of that node's it is.
/// Maker 0: a variable of static storage, of which the first node is the home.
struct gathered_name {
  std::uint64_t maker = 0;
  std::uint64_t number = 0;
  friend auto operator<=>(const gathered_name&, const gathered_name&) = default;
  /// The variable's home.
  address home() const noexcept { return maker == 0 ? 0 : maker - 1; }
};

/// How many updates of a gathered variable of its own the sender has put in order.
struct gathered_version {
  gathered_name name;
  std::uint64_t version = 0;
  friend bool operator==(const gathered_version&, const gathered_version&) = default;
};

struct heartbeat {
  std::uint64_t number = 0;  ///< above all that this node has sent before
  std::uint64_t heard = 0;   ///< the number of the receiver's last one that has come
  bool leaving = false;
  load state;
  std::vector<task_key> held;                   ///< the receiver's tasks that the sender has
  std::vector<gathered_version> gathered = {};  ///< of many some, at random
  friend bool operator==(const heartbeat&, const heartbeat&) = default;
};

/// The sender takes nothing new. When it is gone, what it held is lost.
struct leave {
  bool gone = false;
  friend bool operator==(const leave&, const leave&) = default;
};

/// Nobody waits for this task any more.
struct cancel {
  task_key key;
  friend bool operator==(const cancel&, const cancel&) = default;
};

/// Shared values that have improved. Addresses are a ring here: the receiver passes them on to the
/// nodes after itself, up to `last`.
struct shared_update {
  address last = 0;
  bytes values;
  friend bool operator==(const shared_update&, const shared_update&) = default;
};

/// Asks for published data from a byte on: their publisher, or a node that gets them or has them.
/// Sent again when some parts have come, and when all have.
struct fetch {
  address publisher = 0;
  std::uint64_t id = 0;
  std::uint64_t from = 0;
  bool again = false;   ///< what was sent from there on has not come
  address without = 0;  ///< to the publisher: who does not send them, plus one; 0: nobody
  friend bool operator==(const fetch&, const fetch&) = default;
};

enum class publishing : std::uint8_t {
  absent,     ///< the sender does not have the data
  elsewhere,  ///< ask that node
  part        ///< some of their bytes, in order
};

/// Answers a fetch.
struct published {
  address publisher = 0;
  std::uint64_t id = 0;
  publishing how = publishing::absent;
  address elsewhere = 0;
  std::uint64_t at = 0;    ///< where the part begins
  std::uint64_t size = 0;  ///< of all
  bytes contents;
  friend bool operator==(const published&, const published&) = default;
};

/// The sender runs another program, or speaks another version.
struct reject {
  std::string reason;
  friend bool operator==(const reject&, const reject&) = default;
};

/// Asks what the receiver has done so far. This and its answer are for people: no rule of the
/// protocol depends on them.
struct inquiry {
  std::uint64_t number = 0;
  bool trace = false;  ///< asks when its workers did what, too
  friend bool operator==(const inquiry&, const inquiry&) = default;
};

struct report {
  std::uint64_t number = 0;
  bytes contents;
  friend bool operator==(const report&, const report&) = default;
};

/// The first node has all nodes run a task together, each its own copy. This, the three that follow
/// and the drivers at both ends are the whole of it: no rule of the protocol depends on them.
struct team_begin {
  std::uint64_t team = 0;        ///< above all that the sender has begun before
  std::vector<address> members;  ///< in the order of their ranks; the first is the sender
  std::uint64_t type = 0;        ///< which of the program's task types
  bytes input;
  bytes shared;  ///< the newest shared values that the sender knows
  friend bool operator==(const team_begin&, const team_begin&) = default;
};

/// What one member has told another since the last of these messages, in that order.
struct team_data {
  std::uint64_t team = 0;
  std::vector<bytes> parts;
  friend bool operator==(const team_data&, const team_data&) = default;
};

/// The sender's copy of the task has ended.
struct team_end {
  std::uint64_t team = 0;
  ending how = ending::value;
  std::uint64_t ports = 0;  // how many ports it has made
  bytes error;
  bytes shared;
  friend bool operator==(const team_end&, const team_end&) = default;
};

/// The receiver's copy of the task is to end.
struct team_cancel {
  std::uint64_t team = 0;
  friend bool operator==(const team_cancel&, const team_cancel&) = default;
};

/// Updates of a gathered variable that the sender has made: to the variable's home. Sent again
/// until a gathered_receipt comes.
struct gathered_updates {
  gathered_name name;
  std::uint64_t first = 0;  ///< the number of the first one, by which the sender counts them
  std::vector<bytes> updates;
  friend bool operator==(const gathered_updates&, const gathered_updates&) = default;
};

/// The home has put the receiver's updates in order, up to that number.
struct gathered_receipt {
  gathered_name name;
  std::uint64_t number = 0;
  std::uint64_t version = 0;  ///< they are among the first so many of the home's order
  friend bool operator==(const gathered_receipt&, const gathered_receipt&) = default;
};

/// An update in the order of its variable's home.
struct ordered_update {
  address from = 0;          ///< who made it
  std::uint64_t number = 0;  ///< which of that node's it is
  bytes update;
  friend bool operator==(const ordered_update&, const ordered_update&) = default;
};

/// Updates of a gathered variable in the home's order. Passed on up to `last`, as a shared_update.
struct gathered_news {
  gathered_name name;
  address last = 0;
  std::uint64_t first = 0;  ///< the place of the first one in the order, from 1 on
  std::vector<ordered_update> updates;
  friend bool operator==(const gathered_news&, const gathered_news&) = default;
};

/// Asks a gathered variable's home for what comes after the first so many updates.
struct gathered_ask {
  gathered_name name;
  bool absent = false;  ///< the sender has no value yet
  std::uint64_t version = 0;
  friend bool operator==(const gathered_ask&, const gathered_ask&) = default;
};

/// Answers a gathered_ask with the variable's value.
struct gathered_value {
  gathered_name name;
  std::uint64_t version = 0;  ///< the first so many updates are in it
  std::uint64_t early = 0;    ///< and those of its home's own up to that number
  std::uint64_t yours = 0;    ///< the last of the receiver's updates that are in it
  bytes value;
  friend bool operator==(const gathered_value&, const gathered_value&) = default;
};

using message_body =
    std::variant<task_request, task, none, task_result, result_receipt, heartbeat, leave, cancel,
                 shared_update, fetch, published, reject, inquiry, report, team_begin, team_data,
                 team_end, team_cancel, gathered_updates, gathered_receipt, gathered_news,
                 gathered_ask, gathered_value>;

inline constexpr std::uint8_t wire_version = 3;

struct message {
  std::uint64_t program = 0;  ///< hash of the program that runs
  incarnation from = 0;
  incarnation to = 0;  ///< 0: the sender has not heard from the receiver yet
  message_body body;
  std::uint8_t version = wire_version;  ///< in another one only the fields above are known
  friend bool operator==(const message&, const message&) = default;
};

/// "task_request", "task", …: as the log names a message.
const char* name(const message_body& body) noexcept;

bytes encode(const message& m);
/// Writes a `team_data` up to the number of its parts.
void begin_team_data(bytes& out, std::uint64_t program, incarnation from, std::uint64_t team);
/// Whether it is a `team_data` of this version and of that program, if it is well formed.
bool is_team_data(std::span<const std::byte> in, std::uint64_t program);

/// Reads what a stranger sent. Returns what is wrong with it, or nullptr and the message in `m`. A
/// message of another version is a `reject` without a reason, or else a `leave`.
/// Throws nothing but bad_alloc, and allocates no more than a few times the message's length.
const char* decode(std::span<const std::byte> in, message& m);
/// The same; most of the message may become a field of `m`, without a copy.
const char* decode(bytes&& in, message& m);

}  // namespace cleave::net
