#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "protocol/node.hpp"
#include "sim/core.hpp"
#include "sim/tree.hpp"

/// A deterministic world of nodes: its events happen one after the other in the order of their
/// time, and all that is random in it follows from the seed.
namespace sim {

struct link {
  instant latency{};
  double megabits = 0;  ///< per second; 0: no limit
};

class relays;

struct world_settings {
  std::uint64_t seed = 1;
  core_settings core;
  net::settings protocol;
  double loss = 0;         ///< the part of the messages that is lost
  double duplication = 0;  ///< the part of the messages that comes twice
  instant jitter{};
  bool reorders = false;      ///< the jitter may change the order
  bool tells_losses = false;  ///< the transport tells who is gone
  instant told_after{};       ///< when it tells so at the earliest
  bool checks = true;         ///< invariants after every event
  bool logs = false;
  std::function<unsigned(net::address)> site;  ///< the site that a node is at; none: all are at one
  std::function<link(unsigned, unsigned)> between;  ///< the link between two sites
  std::function<unsigned(unsigned)> workers;        ///< how many each node has, if they differ
  relays* servers = nullptr;  ///< they choose who is asked; null: there are none
  std::function<void(instant now, std::uint64_t visited)> progress;  ///< every simulated second
};

/// What happens to the nodes and to the network between them.
struct happening {
  enum class kind : std::uint8_t { join, crash, restart, leave, part, heal } what = kind::join;
  instant at{};
  unsigned node = 0;
  std::uint64_t side = 0;  ///< part: a bit for each node on the one side
  instant deadline{};      ///< leave: how long it may take
  bool foreign = false;    ///< join: runs another program
};

std::string to_string(const happening& h);

struct report {
  std::string violation;                ///< empty: all is right
  instant ended{};                      ///< when the root was done
  instant busy{};                       ///< what all workers computed, together
  std::map<unsigned, instant> busy_at;  ///< what the workers of each site computed
  std::uint64_t events = 0, messages = 0, bytes = 0, tasks = 0, requests = 0;
  std::vector<std::string> log;
};

class world final : public surroundings {
public:
  world(const tree& work, world_settings how);
  ~world() override;
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  /// Runs until the root is done and all is quiet, or something is wrong. `limit`: when every wait
  /// must have ended.
  report run(const std::vector<happening>& happenings, instant limit);

  // Cores call the functions that follow.
  instant now() const override { return now_; }
  void push_worker(unsigned node, unsigned worker, std::uint64_t epoch, instant at) override;
  void push_poll(unsigned node, unsigned slot, std::uint64_t epoch, instant at) override;
  void push_answer(unsigned node, unsigned slot, std::uint64_t epoch, instant at) override;
  void root_done(const piece& root) override;
  void violation(const std::string& what) override;

private:
  struct machine;
  enum class event_kind : std::uint8_t { deliver, worker, poll, answer, tick, lost, happening };
  struct event {
    instant at{};
    std::uint64_t order = 0;
    event_kind kind = event_kind::tick;
    unsigned node = 0;
    unsigned which = 0;            ///< a worker, a slot, a happening, the lost node, or the sender
    std::uint64_t epoch = 0;       ///< of the worker or slot: in a later one the event is void
    std::uint64_t generation = 0;  ///< the generation of the node that pushed or sent it
    net::bytes message;
  };
  struct later {
    bool operator()(const event& a, const event& b) const {
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };
  struct unanswered_request {
    unsigned node = 0;
    std::uint64_t generation = 0;
    instant by{};
  };

  void push(event e);
  void tell_progress();
  void handle(event& e, const std::vector<happening>& happenings);
  void happen(const happening& h);
  void boot(unsigned node, bool foreign);
  void stop(unsigned node);
  void deliver(event& e);
  void send(unsigned from, net::address to, net::message m);
  void transmit(unsigned from, unsigned to, net::bytes message);
  void relay_request(unsigned from, const net::message& m);
  void after(unsigned node);
  bool quiet() const;
  bool has_gathered(const machine& m) const;
  void note(const std::string& line);
  bool chance(double p);
  unsigned site_of(unsigned node) const;

  // Invariants.
  void watch_sent(unsigned from, net::address to, const net::message& m);
  void watch_delivered(unsigned to, const net::message& m);
  void check(unsigned node);
  void check_held(unsigned node);

  const tree& tree_;
  world_settings how_;
  net::random_numbers random_;
  instant now_{};
  instant told_at_{};  ///< when the progress was last told
  std::uint64_t order_ = 0;
  std::vector<event> events_;
  std::vector<std::unique_ptr<machine>> machines_;
  std::map<std::pair<unsigned, unsigned>, instant> arrives_;       ///< the last message on its way
  std::map<std::pair<unsigned, unsigned>, std::uint64_t> newest_;  ///< generation heard
  /// When the wire between two sites is free.
  std::map<std::pair<unsigned, unsigned>, instant> wire_busy_;
  std::optional<std::uint64_t> parted_;
  bool calm_ = true;  ///< nothing has happened that may lose a request
  bool parted_once_ = false;
  bool done_ = false;
  report report_;

  /// The node that has answered each request.
  std::map<std::pair<net::incarnation, std::uint64_t>, net::incarnation> answered_;
  std::map<std::pair<net::incarnation, std::uint64_t>, unanswered_request> open_;
  std::map<std::pair<net::incarnation, std::uint64_t>, net::incarnation>
      asked_;  ///< whom a request was for
  std::map<std::pair<unsigned, std::uint64_t>, instant>
      stale_;  ///< held tasks that nobody waits for, since when
  std::set<std::pair<net::incarnation, net::full_key>> results_;
};

}  // namespace sim
