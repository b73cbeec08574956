#pragma once

#include "node/courier.hpp"
#include "node/mail.hpp"

#include <cleave/detail/travel/team.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

namespace cleave::net {

/// Tasks that all nodes run together. The first node has them begin and awaits their ends; what
/// they say to each other passes through here. A node that is lost ends the team: the first node
/// then begins again with those that are left.
///
/// Invariant: one team at a time, the newest; its number rises. The driver's thread, but for run().
class teams {
public:
  /// `net`: what members use to reach each other.
  teams(other_nodes& core, outlet& out, value_exchange& values, courier& tasks,
        detail::team_carrier& net)
      : core_(core), out_(out), values_(values), tasks_(tasks), net_(net), mail_(out) {}

  member_mail& mail() noexcept { return mail_; }

  /// Does what driver::run_team() says. Called on the first node, by any thread but the driver's,
  /// one at a time.
  bool run(const detail::wire_type& type, detail::task& input, detail::task& root,
           const std::function<void()>& run_root);
  /// Does what the first node has to do for run(). Called at each step.
  void lead();
  void member_lost(address who);

  void hear(address from, const message& m);
  /// The same for what members say.
  void hear(team_parts& parts);
  /// Tells that a task that ran here has ended. Returns false if `t` is another one.
  bool tell_end(const detail::task& t);
  /// Some scope was cancelled here.
  void look_for_cancelled() noexcept;
  /// Has the members' graphs look again after that time. Returns whether looks_at() is earlier than
  /// it was. Any thread.
  bool look_after(std::chrono::microseconds delay) noexcept;
  /// When look_again() does something next.
  instant looks_at() const noexcept { return looks_at_.load(std::memory_order_relaxed); }
  void look_again(instant at) noexcept;
  /// The task that this node runs for another one is to end.
  void stop() noexcept;
  /// Whether a task runs here that all nodes run.
  bool is_on() const;

private:
  /// A task that all nodes run, as the first one sees it.
  ///
  ///     asked --begin_led--> begun --all have ended--> over
  struct led_team {
    struct result {
      bool lost_member = false;
      std::exception_ptr error;  // the error of a member, or null
    };
    bytes input;
    std::uint64_t type = 0;
    detail::task* own = nullptr;
    bool begun = false, cancelled = false, told = false;  // told: those that are to cancel it
    std::set<address> awaited;
    result ends;
  };

  std::shared_ptr<detail::team_node> begin_leading(const detail::wire_type& type,
                                                   detail::task& input, detail::task& root);
  void begin_led();
  bool is_absent(address who) const;
  void look_for_absent();
  void make_team(std::uint64_t number, std::vector<address> members, unsigned rank);
  void fail(std::exception_ptr error);
  void begin(address leader, const team_begin& m);
  void end(address from, const team_end& m);
  void hear_of_member(std::uint64_t team, bytes contents);
  void hear_of_member(bytes contents);
  void set_task(detail::task* t) noexcept;

  other_nodes& core_;
  outlet& out_;
  value_exchange& values_;
  courier& tasks_;
  detail::team_carrier& net_;
  member_mail mail_;
  // The team that there is, or was last. Others may hold it, too.
  std::shared_ptr<detail::team_node> team_;
  std::atomic<instant> looks_at_{instant::max()};
  detail::task* task_ = nullptr;                       // the task that runs here for another node
  std::map<std::uint64_t, std::vector<bytes>> early_;  // messages of teams that are to come
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<led_team> led_;  // with that mutex
};

}  // namespace cleave::net
