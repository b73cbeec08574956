// One daemon among those of its gang, as a state machine without clocks, sockets and NATS: who
// leads, and whose turn it is.
//
// Invariants:
// 1. Whoever leads is found from what is heard alone: the first by name of those who may lead and
//    were heard within the last second, or oneself. So all who hear the same follow the same.
// 2. Whoever leads is followed only by those whom it counts in. A node that is not heard, or hears
//    nobody, leads itself: its jobs go on.
// 3. A turn is announced before it begins, and every announcement tells the last turns again: a
//    message that is late or lost costs nothing as long as the next one is in time.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gang/messages.hpp"

namespace gang {

class peers {
public:
  // A daemon: its machine, and the process there. Several users' daemons may be on one machine.
  struct name {
    std::string machine, process;
    auto operator<=>(const name&) const = default;
  };

  peers(name self, std::chrono::milliseconds slice);

  // Tells what this node has of jobs.
  void set_parts(std::vector<part> parts);
  // Tells whether messages go through: from then on this daemon listens.
  void set_joined(moment now, bool joined);
  // Adds an order, which is told to all for a while. False if there are too many at once.
  bool add_order(moment now, order o);
  // Tells how late keepers were; it is said with the next heartbeat.
  void set_late(lateness late) { late_ = late; }

  void hear(moment now, const name& from, const heartbeat& h);
  // `ahead`: how far the leader's clock is ahead. Without it nothing is known of when its turns
  // are.
  void hear(moment now, const name& from, const announcement& a,
            std::optional<clock_offset::estimate> ahead);
  // This daemon has gone, by the relay's word.
  void gone(const name& who);

  // Does what is due. Returns when something is due next, if nothing is heard before.
  moment step(moment now, std::optional<clock_offset::estimate> ahead);

  // What is to be said to all; each returns it once.
  std::optional<heartbeat> say_heartbeat();
  std::optional<announcement> say_announcement();
  // What others have asked of this node's parts; each order is returned once.
  std::vector<order> take_orders();

  const timetable& announced() const { return following_.timetable; }
  // The daemon that this one follows: itself, if it leads.
  const name& leader() const { return following_.leader; }
  bool leads() const { return following_.leader == self_; }
  std::uint32_t slice_ms() const;

  // What a list shows of a node.
  struct node {
    name who;
    bool self = false;
    heartbeat last;
  };
  std::vector<node> nodes() const;
  struct job {
    std::string user, name, command;
    bool paused = false;
    std::uint64_t version = 0;
    node_set nodes{};  // the machines that have a part of it
    job_id id() const { return name + " " + user; }
  };
  std::vector<job> jobs() const;

private:
  struct heard {
    heartbeat last;
    moment at{}, since{};
    moment counted_in{};          // when it last said, as a leader, that it counts this daemon in
    std::uint64_t last_turn = 0;  // the number of its last turn
  };
  struct obeyed {
    moment at{};  // when it was heard last
    std::uint64_t number = 0;
  };

  bool is_new(moment now, const name& from, const order& o);
  bool may_lead(moment now) const;
  name elected(moment now) const;
  void follow(moment now, const name& leader);
  void lead(moment now);
  void place_jobs();
  void announce(moment at);
  moment ahead_of_time() const;
  moment slice() const;

  struct orders_of_all {
    std::vector<std::pair<moment, order>> said;  // until when each order is said
    std::vector<order> asked;                    // what others have asked
    std::uint64_t last = 0;
  };
  struct following {
    name leader;
    gang::timetable timetable;
    clock_offset::estimate ahead;
  };
  // What this node is to say, and when.
  struct saying {
    bool changed = false;  // whether there is something new to say
    bool heartbeat = false, announcement = false;
    moment heartbeat_at{}, said_at{}, announce_at{};
  };
  // What this daemon knows as a leader.
  struct leading {
    round_robin ring;
    std::vector<job_id> told;  // the jobs that run by its last announcement
    std::uint64_t number = 0;
    std::deque<turn> last_turns;
    moment last_at{}, slice_end{};
  };

  const name self_;
  const std::chrono::milliseconds slice_;
  std::vector<part> parts_;
  orders_of_all orders_;
  std::map<name, heard> others_;
  std::map<name, obeyed> obeyed_;  // the last order of each daemon, also when that has gone
  std::optional<moment> joined_;   // since when messages go through
  following following_;
  lateness late_;
  bool may_lead_ = false;
  saying due_;
  leading lead_;
};

}  // namespace gang
