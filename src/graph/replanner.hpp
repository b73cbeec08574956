#pragma once

#include <cleave/detail/travel/bytes.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "graph/roles.hpp"
#include "graph/schedule.hpp"
#include "graph/step_pace.hpp"

namespace cleave::detail {

/// The node of each role; any_rank: where its home is.
using role_ranks = std::vector<std::uint32_t>;

/// What members have measured, and what can be made of it.
class measured_steps {
public:
  struct made {
    std::uint32_t role, ran_on;
  };
  explicit measured_steps(const machine_model& on) : on_(on) {}
  /// Takes in what a member has put (put_report). Throws malformed.
  void add(byte_reader& report);
  unsigned nodes() const noexcept { return on_.nodes; }
  /// How long a step takes by the last reports, in microseconds: the median of what is known of
  /// these subtasks; 0: nothing is.
  double step_time(const std::vector<made>& last_steps) const;
  /// The best placement that the model knows for what these steps did, if it is worth its moves
  /// within so many further ones.
  std::optional<role_ranks> better(const std::vector<made>& last_steps, unsigned count,
                                   double further, roles& of) const;

private:
  const machine_model on_;
  std::unordered_map<std::uint32_t, double> times_, intervals_;  // of roles
  std::unordered_map<std::uint32_t, double> bytes_;              // of a datum's value
};

/// The last steps that the first node has made.
class last_steps {
public:
  void add(std::uint32_t role, std::uint32_t ran_on, bool begins_step);
  /// Those that are whole.
  std::vector<measured_steps::made> whole() const;
  unsigned count() const noexcept;
  /// How many subtasks the last whole step has; 0: there is none. Any thread.
  std::size_t length() const noexcept { return length_.load(std::memory_order_relaxed); }

private:
  static constexpr std::size_t most = 4, enough = 1000;
  std::vector<measured_steps::made> made_;
  std::deque<std::size_t> begins_;  // where steps begin
  std::atomic<std::size_t> length_{0};
};

/// Plans a graph anew on its first node, while it runs: asks every member what it has measured,
/// looks for a better placement in a thread of its own, and looks once more whether that was worth
/// it.
///
/// Invariant: a report of each member is asked for only when all that were asked for before have
/// come; the thread thinks only when all have come; a plan is taken before reports are asked for
/// again. So each of them knows alone what is next.
class replanner {
public:
  /// `every`: after so many steps the graph is planned anew; after more, if it is not worth it.
  replanner(const machine_model& on, unsigned every, roles& of);
  ~replanner();
  replanner(const replanner&) = delete;
  replanner& operator=(const replanner&) = delete;

  // The owner of the graph.

  last_steps steps;
  /// Called when step `step` begins, at `now`, in microseconds. Returns whether all members are to
  /// report: it is time, or steps take longer than they did.
  bool asks(std::uint64_t step, double now);
  /// The plan that was taken begins with step `step`.
  void begins(std::uint64_t step);
  /// Blocks until the thread has thought to its end, which reads the graph's data. It thinks no
  /// more.
  void stop() noexcept;

  // Any thread.

  /// A member's report has come.
  void report(std::vector<std::byte> contents);
  /// A plan that is ready, once.
  std::optional<role_ranks> take_plan();

private:
  enum class state : std::uint8_t { waits, asks, thinks, has_plan, begins };
  struct asked {
    std::uint64_t step = 0;
    unsigned count = 0;  // steps
    std::vector<measured_steps::made> last_steps;
    std::vector<std::vector<std::byte>> reports;
  };
  void think_on();
  void judge(std::uint64_t step, bool looked, bool planned, double time, double took);
  std::uint64_t until_settled() const noexcept;

  roles& roles_;
  step_pace pace_;  // the owner's
  std::mutex mutex_;
  std::condition_variable changed_;
  struct {
    state is = state::waits;
    bool ends = false;
    bool looks = false;  // only whether the last plan was worth it
  } now_;                // with the mutex
  /// When reports are asked for next: in this step, and not before that time.
  struct {
    std::atomic<std::uint64_t> step;
    double not_before = 0;  // with the mutex
  } due_;
  asked asked_;           // with the mutex
  role_ranks plan_;       // with the mutex
  measured_steps known_;  // the thread's; with the mutex while it does not think
  struct {
    const std::uint64_t first_period;
    std::uint64_t period = first_period;
    double step_time = 0, cost = 0;  // before the last plan; of making it
  } worth_;                          // with the mutex
  std::thread thread_;
};

}  // namespace cleave::detail
