#pragma once

#include "node/gathered.hpp"
#include "node/inquiries.hpp"
#include "node/sleeping.hpp"
#include "node/teams.hpp"
#include "transport/launch.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace cleave::net {

/// What a node has done so far.
struct node_counters {
  unsigned nodes = 1;
  std::uint64_t tasks_out = 0, tasks_in = 0;  // tasks that crossed between nodes
  traffic carried;
};

/// A process as one node of several: a thread that moves what happens between the transport, the
/// protocol and core, and sleeps while nothing does. The driver's parts do the work, each with what
/// it owns; here is the life of the whole.
///
/// Invariant: only the thread touches the parts and the transport, or a worker that watches while
/// it sleeps (sleeping), but for what they say is any thread's.
class driver final : detail::team_carrier, sleeping::work {
public:
  /// Makes the transport, in the thread that will use and destroy it; null if there is to be none.
  using opener = std::function<std::unique_ptr<transport>()>;

  /// Opens the transport, in a thread of its own; null if this process is alone, or is to be.
  /// Blocks until all ranks have opened theirs. Throws std::runtime_error.
  static std::unique_ptr<driver> open(const transport_choice& choice, const preference& asks);
  /// Opens the transport by `make`; throws what that throws, and std::logic_error of
  /// program_hash().
  static std::unique_ptr<driver> open(opener make, const settings& how = {});
  /// The pool is gone. Closes the transport.
  ~driver() override;
  driver(const driver&) = delete;
  driver& operator=(const driver&) = delete;

  /// Ends the thread's sleep.
  detail::native::bell bell() noexcept;
  using reporter = inquiries::reporter;
  /// Begins. Called once, before anything runs. `records`: tasks that go out say who made them, and
  /// when.
  void attach(other_nodes& p, reporter of_this_node = {}, bool records = false);
  /// Blocks until the first node has gone, or turns out to run another program, or this one has
  /// left.
  void wait_until_over();
  /// Takes nothing new, tells the others, and has left when what is here is done, or when `at_most`
  /// has passed; what is not done by then runs again elsewhere. Does not block. Any thread.
  void leave(std::chrono::milliseconds at_most);
  /// Tells the other nodes that this one goes, and has nothing to do with the pool any more.
  void stop();
  node_counters counted() const;
  /// Processes of the job, as there are now. Any thread.
  unsigned nodes() const noexcept { return nodes_; }
  /// Whom this node asks for work.
  preference asks() const { return {how_.whom, how_.site_nodes}; }

  // These concern the job; any thread but the driver's own may call them.

  using answer = inquiries::answer;
  /// Asks all other nodes what they have done. Blocks until those that are there have answered, but
  /// no longer than `at_most`.
  std::vector<answer> inquire(bool trace, std::chrono::milliseconds at_most);
  /// What all other nodes have recorded, by this node's clock. Blocks, some seconds at most.
  std::vector<trace::node_trace> traces();

  /// Has all nodes run a task: this one `root`, by run(), which blocks; the others copies of
  /// `input`. Blocks until all have ended. False if a node was lost meanwhile: then it is to be run
  /// again. Throws what the task threw here or elsewhere. The first node only, one at a time.
  bool run_team(const detail::wire_type& type, detail::task& input, detail::task& root,
                const std::function<void()>& run);

private:
  struct parts {
    parts(driver& of, other_nodes& p, reporter of_this_node, bool records);
    other_nodes& core;
    outlet out;
    value_exchange values;
    gathered_exchange gathered;
    courier tasks;
    net::teams teams;
    net::inquiries inquiries;
    sleeping sleep;
    std::vector<incoming> found;  // what hear_members() has left for hear(), in order
    instant show_at{};            // when this node next shows others what it does
  };
  /// Each turns true once, with the mutex.
  struct life {
    bool opened = false;   ///< the transport is there, or there is to be none
    bool over = false;     ///< wait_until_over() returns
    bool stopped = false;  ///< the pool is not touched any more
    bool closing = false;  ///< the driver is destroyed
    std::exception_ptr failed;
  };

  explicit driver(const settings& how) : how_(how) {}
  void live(const opener& make);
  void loop();
  void be_over();
  void count();
  void step(instant now);
  void hear(instant now);
  bool hear_member(incoming& arrived);
  std::optional<incoming> receive();
  bool read(incoming& arrived, message& m);
  void say_malformed(address from, const char* wrong);
  void hear_of_peers(instant now);
  void tell_finished(instant now, bool all);
  void show(instant now);

  bool step_and_fall_asleep() override;
  bool hear_members() override;
  instant time_to_sleep(instant at) const override;
  bool is_over() const noexcept override { return stopping_; }

  bytes fetch(detail::value_name name) override;
  void await(const std::function<bool()>& holds) override;
  void tell() noexcept override;
  void improved() noexcept override { parts_->values.improved(); }
  void updated() noexcept override { parts_->gathered.updated(); }
  void send_to_member(std::uint64_t team, unsigned rank,
                      std::span<const std::byte> message) override;
  bytes begin_letter(std::uint64_t team) const override {
    return parts_->teams.mail().begin_letter(team);
  }
  void send_letter(std::uint64_t team, unsigned rank, bytes& letter, std::size_t begun) override {
    parts_->teams.mail().send_letter(team, rank, letter, begun);
  }
  void flush_to_members() noexcept override { parts_->teams.mail().flush(); }
  void look_after(std::chrono::microseconds delay) noexcept override {
    if (parts_->teams.look_after(delay)) carries_->ring();
  }
  bool begin_watch() noexcept override { return parts_->sleep.begin_watch(); }
  bool look() noexcept override { return parts_->sleep.look(); }
  void keep_watch() noexcept override { parts_->sleep.keep_watch(); }
  void end_watch() noexcept override { parts_->sleep.end_watch(); }

  const settings how_;
  identity self_;
  std::thread thread_;
  std::unique_ptr<transport> carries_;
  std::unique_ptr<parts> parts_;  // from attach() on
  std::atomic<bool> stopping_{false};
  std::atomic<unsigned> nodes_{1};
  std::atomic<instant> leave_by_{instant::max()};  // max: nobody has asked it to leave
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  life life_;              // with the mutex
  node_counters counted_;  // with the mutex
};

}  // namespace cleave::net
