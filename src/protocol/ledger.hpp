#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "protocol/core_port.hpp"

/// What a node owes and is owed. A task is in exactly one of: core of its owner, `given` of its
/// owner, and, while it is there, `held` of at most one thief under its newest attempt. The
/// protocol owns all four tables.
namespace cleave::net {

/// A task given to another node:
///
///          answered                task_result: value, error; cancelled
///   core ------------> given_task -------------------------------------> core: complete
///     ^                    |
///     +------ again -------+   task_result: refused; thief lost; missing from two heartbeats;
///                              taken back
struct given_task {
  address to = 0;
  std::uint64_t attempt = 0;
  std::uint64_t depth = 0;
  unsigned losses = 0;     ///< how many nodes that had it before were lost
  instant since{};         ///< when it was sent
  bool is_long = false;    ///< it has been there for too long
  instant unanswered{};    ///< when a part of it was asked for, in vain; 0: never
  std::uint64_t beat = 0;  ///< the owner's last heartbeat before it was sent
  unsigned missing = 0;    ///< heartbeats in a row that should have named it and did not
};

/// Whose task it is, beyond doubt.
struct full_key {
  incarnation owner = 0;
  task_key key;
  friend auto operator<=>(const full_key&, const full_key&) = default;
};

/// A task held for another node:
///
///            finished            result_receipt; owner lost; cancel
///   running ---------> ended ------------------------------> gone
///      |                                                      ^
///      +------------ cancel, owner lost: core.cancel ---------+
struct held_task {
  enum class state : std::uint8_t { running, ended };

  address owner = 0;
  full_key key;
  state is = state::running;
  outcome end;
  bytes shared;
  instant resend_at{};
  instant resend_after{};

  void finish(outcome how) {
    assert(is == state::running);
    is = state::ended;
    end = std::move(how);
  }
};

class held_tasks {
public:
  std::uint64_t add(held_task t) {
    const std::uint64_t id = ++last_;
    by_key_.emplace(t.key, id);
    tasks_.emplace(id, std::move(t));
    return id;
  }
  held_task* find(std::uint64_t id) {
    const auto at = tasks_.find(id);
    return at == tasks_.end() ? nullptr : &at->second;
  }
  const held_task* find(std::uint64_t id) const {
    const auto at = tasks_.find(id);
    return at == tasks_.end() ? nullptr : &at->second;
  }
  /// 0 if there is none.
  std::uint64_t id_of(const full_key& key) const {
    const auto at = by_key_.find(key);
    return at == by_key_.end() ? 0 : at->second;
  }
  void erase(std::uint64_t id) {
    const auto at = tasks_.find(id);
    assert(at != tasks_.end());
    remember(at->second.key);
    by_key_.erase(at->second.key);
    tasks_.erase(at);
  }
  /// Whether it was here and is over, as far back as is remembered. A task that comes again after
  /// that runs for nothing, and does no harm.
  bool was_here(const full_key& key) const { return over_.count(key) != 0; }

  auto begin() { return tasks_.begin(); }
  auto end() { return tasks_.end(); }
  auto begin() const { return tasks_.begin(); }
  auto end() const { return tasks_.end(); }
  bool empty() const { return tasks_.empty(); }

private:
  static constexpr std::size_t remembered = 1024;

  void remember(const full_key& key) {
    if (!over_.insert(key).second) return;
    order_.push_back(key);
    if (order_.size() <= remembered) return;
    over_.erase(order_.front());
    order_.pop_front();
  }

  std::map<std::uint64_t, held_task> tasks_;
  std::map<full_key, std::uint64_t> by_key_;
  std::set<full_key> over_;
  std::deque<full_key> order_;
  std::uint64_t last_ = 0;
};

/// A request sent:
///
///          task, none, peer lost
///    open -----------------------> gone
///      |                            ^
///      +- time is up -> late -------+   the answer may still come, and is dealt with
struct sent_request {
  enum class state : std::uint8_t { open, late };

  address to = 0;
  asker who = 0;
  std::uint64_t wanted = 0;  ///< the task that went out; 0: anything
  state is = state::open;
  instant since{};
  instant until{};  ///< open: gives up waiting; late: forgets it

  void give_up(instant forget_at) {
    assert(is == state::open);
    is = state::late;
    until = forget_at;
  }
};

/// A request of another node, put to core:
///
///           ask            answered
///    free --------> asked -----------> free
///     ^  withdraw    |  withdraw: false          answered
///     +--------------+------------------> closing ---------> free
struct request_slot {
  enum class state : std::uint8_t { free, asked, closing };

  state is = state::free;
  address from = 0;
  std::uint64_t request = 0;
  bool anything = true;  ///< will do; else a part of one task
  bool orphan = false;   ///< its asker is lost
  instant until{};

  void open(address who, std::uint64_t number, bool any, instant at_most) {
    assert(is == state::free);
    *this = {state::asked, who, number, any, false, at_most};
  }
  void close() {
    assert(is == state::asked);
    is = state::closing;
  }
  void end() {
    assert(is != state::free);
    is = state::free;
  }
};

inline constexpr unsigned slot_count = 64;
using request_slots = std::array<request_slot, slot_count>;

/// Which of a peer's requests have been seen. Their numbers rise; they may come out of order, by
/// less than 64.
class seen_requests {
public:
  /// Whether it is new; it is not afterwards.
  bool first(std::uint64_t number) {
    if (number > highest_) {
      const std::uint64_t up = number - highest_;
      seen_ = up < 64 ? seen_ << up | 1 : 1;
      highest_ = number;
      return true;
    }
    const std::uint64_t back = highest_ - number;
    if (back >= 64 || (seen_ >> back & 1) != 0) return false;
    seen_ |= std::uint64_t{1} << back;
    return true;
  }

private:
  std::uint64_t highest_ = 0;
  std::uint64_t seen_ = 0;
};

}  // namespace cleave::net
