#pragma once

#include "node/clock.hpp"
#include "node/other_nodes.hpp"
#include "node/outlet.hpp"
#include "node/values.hpp"
#include "protocol/node.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace cleave::net {

/// Moves tasks, results and who starves between core and the protocol. The driver's thread.
///
/// Invariant: a task is out from when a worker has given it to a slot until its result is in it or
/// it runs here again; in from when it is fed to a worker until it has finished.
class courier final : core_port {
public:
  /// `fetched`: published data have come, and who waits is to look. `records`: tasks that go out
  /// say who made them, and when.
  courier(other_nodes& core, outlet& out, value_exchange& values, gathered_port& gathered,
          const settings& how, std::function<void()> fetched, bool records);

  node& protocol() noexcept { return protocol_; }
  const node& protocol() const noexcept { return protocol_; }

  // One step of the driver tells the protocol, in this order:

  /// Tells what workers have given to slots, each after a call of `before`; returns true if they
  /// gave anything.
  bool tell_given(instant at, const std::function<void()>& before);
  /// Tells that `t` has ended here.
  void tell_finished(instant at, detail::task& t);
  /// Tells which tasks that are out nobody waits for any more. Whoever gave one away is not kept
  /// waiting for the network to be allowed to unwind.
  void tell_cancelled(instant at);
  void tell_starving(instant at);
  /// Tells what has happened in calls of the protocol.
  void tell_events(instant at);
  /// Workers that answer no request for long are asked in what they would run undivided, too.
  void insist(instant at);

  /// When insist() has something to do.
  instant insists_at() const;
  /// Something was given back since the last call: whoever asks next is to have it.
  bool was_restless() noexcept { return std::exchange(restless_, false); }
  /// A task of another node has ended here, and no other one is left: true once.
  bool has_run_dry() noexcept { return in_.all.empty() && std::exchange(in_.ended, false); }
  std::uint64_t tasks_out() const noexcept { return out_.last; }
  std::uint64_t tasks_in() const noexcept { return in_.count; }
  /// Nothing comes or goes any more.
  void end();

  /// Takes in values that another node has seen. `with_result`: they came with a result, and go on
  /// with those of this node. Returns why one cannot be read, or null.
  std::exception_ptr take_in(std::span<const std::byte> shared, bool with_result) noexcept;
  /// A task for others is running here besides those that came by requests.
  void set_runs_team(bool is) noexcept { runs_team_ = is; }

  /// Makes a task that came from another node. Throws malformed, and what the user's types throw.
  static std::unique_ptr<detail::task> make_task(std::uint64_t type, detail::byte_reader& input);

private:
  /// A task that came back without a result.
  struct returned {
    std::uint64_t id;
    unsigned losses;
    bool operator==(std::uint64_t other) const { return id == other; }
  };
  using tasks = std::map<std::uint64_t, detail::task*>;
  struct tasks_that_are_out {
    tasks all;                  // by the number by which other nodes know each
    std::deque<returned> back;  // tasks that are out and that nobody runs
    std::uint64_t last = 0;
  };
  struct tasks_that_are_in {
    tasks all;  // by the number that the protocol gave each
    std::uint64_t count = 0;
    bool ended = false;  // one has ended since has_run_dry()
  };
  struct part_found {
    detail::request seen{};
    std::uint64_t id = 0;     // 0: none
    std::uint64_t up_to = 0;  // the last one that was looked at
  };
  /// Workers that starve.
  struct hunger {
    std::map<unsigned, part_found> parts_found;
    std::map<unsigned, std::pair<detail::request, std::uint64_t>> told;  // told to the protocol
    std::vector<other_nodes::starving> seen;                             // what was seen last
  };

  void ask(unsigned slot, std::uint64_t wanted) override;
  bool withdraw(unsigned slot) override;
  bool start(asker who, const traveller& t) override;
  void refuse(asker) override {}
  void complete(std::uint64_t id, const outcome& end) override;
  void again(std::uint64_t id, unsigned losses) override;
  void cancel(std::uint64_t id) override;
  load state() const override;
  bytes shared() const override { return values_.shared(); }
  bytes merge(std::span<const std::byte> values, bool with_result) override;
  std::optional<bytes> publication(std::uint64_t id) const override {
    return values_.publication(id);
  }
  void fetched(address publisher, std::uint64_t id, std::optional<bytes> contents) override;

  bool give_back_here(const other_nodes::starving& who);
  std::deque<returned>::const_iterator first_to_give_again() const;
  void tell_answer(instant at, unsigned slot, returned what);
  void end_here(tasks::iterator entry, std::exception_ptr error);
  std::uint64_t part_of(const other_nodes::starving& who);
  traveller describe(std::uint64_t id, detail::task& t) const;
  outcome outcome_of(detail::task& t) const noexcept;

  other_nodes& core_;
  outlet& net_;
  value_exchange& values_;
  const std::function<void()> fetched_;
  const bool records_;
  node protocol_;
  tasks_that_are_out out_;
  tasks_that_are_in in_;
  hunger hunger_;
  std::vector<std::function<void(instant)>> events_;  // for the protocol, once it has returned
  instant asked_at_ = instant::max();                 // max, or when slots asked
  bool restless_ = false;
  bool runs_team_ = false;
};

}  // namespace cleave::net
