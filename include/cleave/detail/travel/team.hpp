#pragma once

#include <cleave/detail/task.hpp>
#include <cleave/detail/travel/replicas.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

/// Nodes that run one task together, each its own copy of it, and send each other messages.
namespace cleave::detail {

/// What a team needs of the network. The driver (node/driver.hpp) implements it.
class team_carrier : public carrier, public message_watch {
public:
  /// Sends a message, which leaves with the next flush, together with others. Any thread may call
  /// it; does not block. Between two members messages arrive in the order in which they were sent,
  /// or the team is stopped.
  virtual void send_to_member(std::uint64_t team, unsigned rank,
                              std::span<const std::byte> message) = 0;
  /// Begins a message that is written in place, behind what is there. Any thread may call it.
  virtual std::vector<std::byte> begin_letter(std::uint64_t team) const = 0;
  /// Sends it, at once or with the next flush; `begun`: how long it was when it was begun. It is
  /// what it was afterwards, or empty. Any thread may call it; does not block. Its order among what
  /// is sent to that member is that of the calls.
  virtual void send_letter(std::uint64_t team, unsigned rank, std::vector<std::byte>& letter,
                           std::size_t begun) = 0;
  /// Has what was sent leave. Any thread may call it; does not block.
  virtual void flush_to_members() noexcept = 0;
  /// Has the team's ports look again after that time, or earlier if one asks for that. Any thread
  /// may call it; does not block.
  virtual void look_after(std::chrono::microseconds delay) noexcept = 0;
};

/// What receives messages within a team: a graph. Each function is called with the team's mutex.
class team_port {
public:
  virtual ~team_port() = default;
  /// Takes in a message; `first` is where its contents begin. Returns true if those that wait are
  /// to look again.
  virtual bool receive(std::vector<std::byte> message, std::size_t first) = 0;
  /// Some scope was cancelled: if the port's was, nothing is waited for any more.
  virtual void look_for_cancelled() noexcept = 0;
  /// A time that some port has asked for has passed.
  virtual void look_again() noexcept {}

  std::uint64_t port = 0;  // its number within its team, from enter() on
};

/// Where the members of a team are.
struct team_places {
  std::vector<std::uint64_t> sites;  // of each member, by a number that only this node gives
  unsigned cpus = 0;  // of the one host on which all members are; 0: they are on several
};

/// One node as a member of a team.
///
/// Invariant: a message goes to the port that its sender's port is there: the nth port of each
/// member is the same one. What comes for a port that is not there yet is kept for it, what comes
/// for one that is gone is dropped.
class team_node {
public:
  /// `net` may be null if there is one member. `number`: the network's. Without sites all members
  /// are at one.
  team_node(std::uint64_t number, unsigned its_rank, unsigned members, team_carrier* net,
            team_places of_members = {})
      : rank(its_rank), size(members), places(std::move(of_members)), number_(number), net_(net) {
    places.sites.resize(size);
  }
  team_node(const team_node&) = delete;
  team_node& operator=(const team_node&) = delete;

  const unsigned rank, size;
  team_places places;
  const worker* began_on = nullptr;  // the team's task

  // The members of the team call these.

  /// Gives the port its number, then what has come for it. Throws std::logic_error if a member has
  /// ended without it.
  void enter(team_port& p);
  /// Takes the port away, which receives nothing any more.
  void leave(const team_port& p) noexcept;
  /// Appends what receive() needs to know, for the beginning of a message.
  static std::vector<std::byte> begin_message(std::uint64_t port);
  /// Whoever sends calls flush() soon, on the same thread.
  void send(unsigned to, std::span<const std::byte> message) {
    net_->send_to_member(number_, to, message);
  }
  /// A message that is written in place, behind what is there, and whose memory is kept: see
  /// team_carrier. It is empty where there is one member, to whom nothing is sent.
  std::vector<std::byte> begin_letter() const {
    return net_ != nullptr ? net_->begin_letter(number_) : std::vector<std::byte>();
  }
  void send_letter(unsigned to, std::vector<std::byte>& letter, std::size_t begun) {
    net_->send_letter(number_, to, letter, begun);
  }
  void flush() noexcept {
    if (net_ != nullptr) net_->flush_to_members();
  }
  /// Blocks until `holds` returns true, which is called again after tell(); serves requests
  /// meanwhile.
  void await(const std::function<bool()>& holds) { net_->await(holds); }
  void tell() noexcept { net_->tell(); }
  void look_after(std::chrono::microseconds delay) noexcept {
    if (net_ != nullptr) net_->look_after(delay);
  }
  /// Null if there is one member.
  message_watch* watch() const noexcept { return net_; }
  /// The task has ended here, and makes no more ports. Returns whether others have made more.
  bool end() noexcept;

  // The network's thread calls these.

  /// Takes in a message. Returns whether it is for a port that this member has ended without.
  /// Throws malformed.
  bool receive(std::vector<std::byte> message);
  void look_for_cancelled() noexcept;
  void look_again() noexcept;
  std::uint64_t ports_made() noexcept;
  /// Another member has ended its task, and had made `ports` ports. Returns whether this one makes
  /// another number.
  bool member_ended(std::uint64_t ports) noexcept;
  static std::logic_error different_numbers();

  std::mutex mutex;  // guards all ports

private:
  using message_list = std::vector<std::pair<std::vector<std::byte>, std::size_t>>;

  const std::uint64_t number_;
  team_carrier* const net_;
  std::uint64_t last_ = 0;  // port
  // How many ports the members have made that have ended.
  struct {
    std::uint64_t fewest = (std::numeric_limits<std::uint64_t>::max)(), most = 0;
  } made_;
  bool ended_ = false;
  std::map<std::uint64_t, team_port*> ports_;
  std::map<std::uint64_t, message_list> early_;
};

/// Helps with the group's tasks until `enough` returns true, or none is left; whoever makes it true
/// calls team_node::tell() then. Only for the worker that made the group.
void wait(group_scope& g, const std::function<bool()>& enough);

/// This node as a member of the team whose task the calling worker is in. Called only within a task
/// that all nodes run.
team_node* team_of_this_node() noexcept;

}  // namespace cleave::detail
