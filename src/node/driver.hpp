#pragma once

#include "node/proxy.hpp"
#include "node/report.hpp"
#include "protocol/protocol.hpp"
#include "transport/launch.hpp"

#include <cleave/detail/travel/team.hpp>
#include <cleave/detail/travel/types.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

namespace cleave::net {

/// What a node has done so far.
struct node_counters {
  unsigned nodes = 1;
  std::uint64_t tasks_out = 0, tasks_in = 0;  // that crossed
  traffic carried;
};

/// A process as one node of several: a thread that moves what happens between the transport, the
/// protocol and core's proxy, and sleeps while nothing does.
///
/// Invariant: a task is out (in `out_`) from when a worker has given it to a slot until its result
/// is in it or it runs here again; in (`in_`) from when it is fed to a worker until it has
/// finished. Only the thread touches them, the protocol and the transport, or a worker that watches
/// while it sleeps, with `stepping_`; other threads leave requests.
class driver final : core_port, network_port, detail::team_carrier {
public:
  /// Makes the transport, in the thread that will use and destroy it; null if there is to be none.
  using opener = std::function<std::unique_ptr<transport>()>;

  /// Opens the transport, in a thread of its own; null if this process is alone, or is to be.
  /// Blocks until all ranks have opened theirs. Throws std::runtime_error.
  static std::unique_ptr<driver> open(const transport_choice& choice);
  /// The same by `make`; throws what that throws, and std::logic_error of program_hash().
  static std::unique_ptr<driver> open(opener make, const settings& how = {});
  /// The proxy's pool is gone. Closes the transport.
  ~driver() override;
  driver(const driver&) = delete;
  driver& operator=(const driver&) = delete;

  /// Ends the thread's sleep.
  detail::native::bell bell() noexcept;
  /// What this process has done, with its trace or without; the driver adds what it knows itself.
  /// Any thread; must not block.
  using reporter = std::function<node_report(bool with_trace)>;
  /// Begins. Once, before anything runs. `records`: tasks that go out say who made them, and when.
  void attach(proxy& p, reporter of_this_node = {}, bool records = false);
  /// Blocks until the first node has gone, or turns out to run another program, or this one has
  /// left.
  void serve();
  /// Takes nothing new, tells the others, and has left when what is here is done, at the latest
  /// then; what is not done by then runs again elsewhere. Does not block. Any thread.
  void leave(std::chrono::milliseconds at_most);
  /// Tells the other nodes that this one goes, and has nothing to do with the proxy any more.
  void stop();
  node_counters counted() const;
  /// Processes of the job, as there are now. Any thread.
  unsigned nodes() const noexcept { return nodes_; }

  // Of the job; any thread but the driver's own.

  struct answer {
    address from;
    node_report what;
    clock_offset clock;
  };
  /// Asks all other nodes what they have done. Blocks until those that are there have answered,
  /// and not longer than that.
  std::vector<answer> inquire(bool trace, std::chrono::milliseconds at_most);
  /// What all other nodes have recorded, by this node's clock. Blocks, some seconds at most.
  std::vector<trace::node_trace> traces();

  /// Has all nodes run a task: this one `root`, by run(), which blocks; the others copies of
  /// `input`. Blocks until all have ended. False if a node was lost meanwhile: then it is to be run
  /// again. Throws what the task threw here or elsewhere. The first node only, one at a time.
  bool run_team(const detail::wire_type& type, detail::task& input, detail::task& root,
                const std::function<void()>& run);

private:
  /// A task that came back without a result.
  struct returned {
    std::uint64_t id;
    unsigned losses;
    bool operator==(std::uint64_t other) const { return id == other; }
  };

  explicit driver(const settings& how) : how_(how) {}
  void live(const opener& make);
  void loop();
  void end_serving();
  /// All that can be done now, with `stepping_`.
  void step(instant now);
  /// The same, until whoever has something rings. False if that was not to be had.
  bool step_and_fall_asleep();
  void wake_thread() noexcept;
  void hear(instant now);
  bool tell_given(instant now);
  void tell_finished(instant now);
  void tell_cancelled(instant now);
  void tell_starving(instant now);
  void tell_requests(instant now);
  bool give_back_here(const proxy::starving& who);
  std::deque<returned>::const_iterator first_to_give_again() const;
  void tell_answer(instant now, unsigned slot, returned what);
  void send_inquiries();
  void hear_of_peers(instant now);
  void show(instant now);
  static std::unique_ptr<detail::task> make_task(std::uint64_t type, detail::byte_reader& input);
  void hear_of_reports(address from, const message& m);
  std::shared_ptr<detail::team_node> begin_team(const detail::wire_type& type, detail::task& input,
                                                detail::task& root);
  void hear_of_teams(address from, message& m);
  void begin(address leader, const team_begin& m);
  void end(address from, const team_end& m);
  void hear_of_member(bytes contents);
  void lead_team();
  void begin_led_team();
  bool is_absent(address who) const;
  void look_for_absent();
  void make_team(std::uint64_t number, std::vector<address> members, unsigned rank);
  void send_to_members();
  bool have_to_send();
  void send_all_to_members();
  void stop_team() noexcept;
  void member_lost(address who);
  void fail_team(std::exception_ptr error);
  bool tell_end_of_team(const detail::task& t);
  void end_here(std::map<std::uint64_t, detail::task*>::iterator entry, std::exception_ptr error);
  void carry_values();
  void forget_values();
  std::uint64_t improved_since(std::uint64_t version, bytes& newest) const;
  std::uint64_t part_of(const proxy::starving& who);
  traveller describe(std::uint64_t id, detail::task& t) const;
  outcome outcome_of(detail::task& t) const noexcept;
  void check_length(const bytes& contents, const char* of_what) const;
  void leave_shared_out(message& m) const;
  std::chrono::microseconds time_to_sleep(instant now) const;
  static instant now() noexcept;

  void ask(unsigned slot, std::uint64_t wanted) override;
  bool withdraw(unsigned slot) override;
  bool start(asker who, const traveller& t) override;
  void refuse(asker) override {}
  void complete(std::uint64_t id, const outcome& end) override;
  void again(std::uint64_t id, unsigned losses) override;
  void cancel(std::uint64_t id) override;
  load state() const override;
  bytes shared() const override;
  bytes merge(std::span<const std::byte> values, bool with_result) override;
  std::exception_ptr take_in(std::span<const std::byte> values, bool with_result) noexcept;
  std::optional<bytes> publication(std::uint64_t id) const override;
  void fetched(address publisher, std::uint64_t id, std::optional<bytes> contents) override;

  void send(address to, message m) override;
  void say(const std::string& line) override;
  std::string name(address who) const override { return carries_->name(who); }

  bytes fetch(detail::value_name name) override;
  void await(const std::function<bool()>& holds) override;
  void tell() noexcept override;
  void improved() noexcept override;
  void send_to_member(std::uint64_t team, unsigned rank, bytes message) override;
  void flush_to_members() noexcept override;
  bool begin_watch() noexcept override;
  bool look() noexcept override;
  void keep_watch() noexcept override;
  void end_watch() noexcept override;

  /// A task that all nodes run, as the first one sees it.
  ///
  ///     asked --begin_team--> begun --all have ended--> over
  struct led_team {
    struct outcome {
      bool lost_member = false;
      std::exception_ptr error;  // that of a member, or null
    };
    bytes input;
    std::uint64_t type = 0;
    detail::task* own = nullptr;
    bool begun = false, cancelled = false, told = false;  // told: those that are to cancel it
    std::set<address> awaited;
    outcome ends;
  };
  struct to_member {
    std::uint64_t team;
    unsigned rank;
    bytes contents;
  };
  /// Of inquire(), which waits until nobody is awaited.
  struct open_inquiry {
    std::uint64_t number;
    bool trace;
    bool sent = false;
    std::map<address, double> awaited;  // when it was asked, in microseconds
    std::vector<answer> answers;
  };
  struct wait_for_data {
    bool asked = false;
    std::atomic<bool> arrived{false};  // after the contents
    std::optional<bytes> contents;
  };

  struct written {
    std::uint64_t id = 0;  // 0: nothing
    bytes contents;
    instant until{};
  };

  const settings how_;
  identity self_;
  std::thread thread_;
  std::unique_ptr<transport> carries_;
  proxy* core_ = nullptr;
  std::unique_ptr<node<>> protocol_;

  std::map<std::uint64_t, detail::task*> out_;  // by the number that other nodes know it by
  std::map<std::uint64_t, detail::task*> in_;   // by the protocol's number
  std::deque<returned> returned_;               // of those that are out: nobody runs them
  std::uint64_t last_out_ = 0;
  struct part_found {
    detail::request seen{};
    std::uint64_t id = 0;     // 0: none
    std::uint64_t up_to = 0;  // the last one that was looked at
  };
  std::map<unsigned, part_found> parts_found_;                          // by worker
  std::map<unsigned, std::pair<detail::request, std::uint64_t>> told_;  // workers that starve
  std::vector<proxy::starving> starving_;                               // as last seen
  std::vector<std::function<void(instant)>> events_;  // for the protocol, once it has returned
  instant asked_at_ = instant::max();                 // slots, and nobody has insisted since
  bool restless_ = false;                             // something was given back in this step
  std::uint64_t sent_version_ = 0;                    // of the shared values
  mutable written last_published_;                    // others will ask for the same
  std::uint64_t tasks_in_ = 0;
  instant show_at_{};

  // With the mutex.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool opened_ = false, over_ = false;
  std::atomic<bool> stopping_{false};
  std::atomic<unsigned> nodes_{1};
  std::atomic<instant> leave_by_{instant::max()};  // nobody has asked for it
  bool stopped_ = false, closing_ = false;
  std::exception_ptr failed_;
  bool improved_ = false;
  std::map<std::pair<address, std::uint64_t>, std::shared_ptr<wait_for_data>> wanted_data_;
  node_counters counted_;
  open_inquiry* inquiry_ = nullptr;
  std::optional<led_team> led_;

  std::mutex stepping_;     // before all others
  bool is_going_ = false;   // loop(); with that mutex
  instant sleeps_until_{};  // with that mutex
  std::atomic<bool> watched_{false};
  bool forgets_ = false;           // tasks of others have ended since values were forgotten
  std::atomic<bool> kept_{false};  // what is watched may not be looked at for a while
  std::atomic<bool> naps_{false};  // the thread does not sleep for longer than such a while

  std::mutex members_mutex_;
  std::vector<to_member> to_members_;  // with that mutex
  std::mutex sending_mutex_;           // of who sends them; before the other one

  // Of the team that there is, or was last. The thread's; others may hold the team itself.
  std::shared_ptr<detail::team_node> team_;
  // Set with the mutex of sending.
  std::uint64_t team_number_ = 0;
  std::vector<address> members_;
  detail::task* team_task_ = nullptr;                  // which runs here for another node
  std::map<std::uint64_t, std::vector<bytes>> early_;  // of teams that are to come

  std::mutex one_inquiry_;  // at a time
  std::uint64_t last_inquiry_ = 0;
  reporter report_;
  bool records_ = false;
};

}  // namespace cleave::net
