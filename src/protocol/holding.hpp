#pragma once

#include <optional>

#include "protocol/giving.hpp"
#include "protocol/ledger.hpp"
#include "protocol/neighbours.hpp"

namespace cleave::net {

/// What this node does for others: their tasks that it has, and their requests.
///
/// Invariant: a task is in `tasks()` until its owner has its result, or wants it no more. A request
/// is in a slot while core has it; each is answered once, unless its asker is lost.
class holding {
public:
  holding(const surroundings& all, neighbours& peers, const giving& given)
      : all_(all), peers_(peers), given_(given) {}

  const held_tasks& tasks() const { return tasks_; }
  const request_slots& slots() const { return slots_; }
  bool is_asked() const;
  /// When tick() has something to do.
  instant next() const;
  /// Answers what no worker has served.
  void end_slots(instant now);
  /// Sends results again that nobody has acknowledged.
  void resend(instant now);

  // Requests of others.

  void on_request(instant now, address from, const task_request& m);
  /// Ends a request that core has answered; returns what it was.
  request_slot take(unsigned slot);
  /// Puts the request in this slot to core again.
  void ask_again(instant now, unsigned slot);

  // Tasks of others.

  /// Returns false if the task is here already, or was.
  bool is_new(address from, const task_key& key);
  /// Adds a task that has come and is new. Returns its number here.
  std::uint64_t add(address from, const task_key& key);
  /// Says that the task will not be run here.
  void refuse(instant now, std::uint64_t id);
  /// Core has ended the task. Returns false if nobody knows it.
  bool finish(instant now, std::uint64_t id, outcome end);
  void on_receipt(address from, const result_receipt& m);
  void on_cancel(address from, const cancel& m);
  /// A peer is lost: its tasks are orphans, its requests are over.
  void lost(address who);
  /// Which of the peer's tasks are here.
  std::vector<task_key> of(address owner) const;

private:
  std::optional<std::uint64_t> split_for(address from, const task_request& m) const;
  void end(std::uint64_t id);
  void send_result(instant now, held_task& t);

  const surroundings& all_;
  neighbours& peers_;
  const giving& given_;
  held_tasks tasks_;
  request_slots slots_;
};

}  // namespace cleave::net
