#include "graph/replanner.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <exception>
#include <utility>

#include "graph/improved.hpp"
#include "graph/recorder.hpp"

namespace cleave::detail {
namespace {

/// Thinking takes one part of the time in so many at most.
constexpr double share_of_thinking = 25;
/// After so many steps at least it is seen whether a plan was worth it.
constexpr std::uint64_t steps_to_settle = 8;

/// Microseconds of CPU time of this thread.
double thinking_time() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

}  // namespace

// ---- what was measured

void measured_steps::add(byte_reader& r) {
  for (std::size_t n = r.get_length(); n > 0; --n) {
    const auto number = r.get<std::uint32_t>();
    times_[number] = r.get<float>();
    intervals_[number] = r.get<float>();
  }
  for (std::size_t n = r.get_length(); n > 0; --n) {
    const auto datum = r.get<std::uint32_t>();
    bytes_[datum] = r.get<double>();
  }
  r.expect_end();
}

double measured_steps::step_time(const std::vector<made>& last) const {
  std::vector<double> all;
  for (const made& m : last)
    if (const auto at = intervals_.find(m.role); at != intervals_.end() && at->second > 0)
      all.push_back(at->second);
  if (all.empty()) return 0;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

std::optional<role_ranks> measured_steps::better(const std::vector<made>& last, unsigned count,
                                                 double further, roles& of) const {
  if (count == 0) return {};
  recorded_graph g;
  g.nodes = on_.nodes, g.workers = on_.workers, g.messages = on_.messages, g.names = {"subtask"};
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  for (const made& m : last) {
    role& r = of.at(m.role);
    for (const datum_use& u : r.uses) {
      const std::uint32_t datum = u.of->place.number;
      const auto [at, is_new] =
          numbers.try_emplace(datum, static_cast<std::uint32_t>(g.bytes.size()));
      if (is_new) {
        const auto size = bytes_.find(datum);
        g.bytes.push_back(size != bytes_.end() ? size->second : 0);
      }
      g.uses.push_back({at->second, u.mode});
    }
    const auto time = times_.find(m.role);
    g.subtasks.push_back({0, r.stays ? m.ran_on : recorded_graph::any_rank, m.ran_on,
                          static_cast<std::uint32_t>(g.uses.size()), 0,
                          time != times_.end() ? time->second : 0});
  }
  const improvement i = improved(g, on_);
  const double gain = (i.before - i.after) / count * further;
  if (i.after > (1 - model_error) * i.before || gain < i.moving) return {};
  role_ranks ranks(of.count() + 1, recorded_graph::any_rank);
  for (std::size_t k = 0; k < last.size(); ++k)
    if (!of.at(last[k].role).stays) ranks[last[k].role] = i.ranks[k];
  return ranks;
}

// ---- the last steps

void last_steps::add(std::uint32_t role, std::uint32_t ran_on, bool begins_step) {
  if (begins_step) {
    if (!begins_.empty()) length_.store(made_.size() - begins_.back(), std::memory_order_relaxed);
    while (begins_.size() > most || (begins_.size() > 1 && made_.size() - begins_[1] >= enough)) {
      const std::size_t first = begins_[1];
      made_.erase(made_.begin(), made_.begin() + static_cast<std::ptrdiff_t>(first));
      begins_.pop_front();
      for (std::size_t& b : begins_) b -= first;
    }
    begins_.push_back(made_.size());
  }
  if (!begins_.empty()) made_.push_back({role, ran_on});
}

std::vector<measured_steps::made> last_steps::whole() const {
  if (begins_.empty()) return {};
  return {made_.begin(), made_.begin() + static_cast<std::ptrdiff_t>(begins_.back())};
}

unsigned last_steps::count() const noexcept {
  return static_cast<unsigned>(begins_.empty() ? 0 : begins_.size() - 1);
}

// ---- a plan

replanner::replanner(const machine_model& on, unsigned every, roles& of)
    : roles_(of), pace_(every), known_(on), worth_{every} {
  due_.step = every;
  thread_ = std::thread([this] { think_on(); });
}

replanner::~replanner() { stop(); }

void replanner::stop() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    now_.ends = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool replanner::asks(std::uint64_t step, double now) {
  const bool slower = pace_.is_slower(step, now);
  if (!slower && step < due_.step.load(std::memory_order_relaxed)) return false;
  const std::lock_guard lock(mutex_);
  if (now_.is != state::waits || steps.count() == 0) return false;
  if (slower && !now_.looks) worth_.period = worth_.first_period, due_.step = step;
  if (step < due_.step || (!now_.looks && now < due_.not_before)) return false;
  now_.is = state::asks;
  pace_.forget();
  asked_ = {step, steps.count(), steps.whole(), {}};
  return true;
}

void replanner::report(std::vector<std::byte> contents) {
  {
    const std::lock_guard lock(mutex_);
    asked_.reports.push_back(std::move(contents));
    if (asked_.reports.size() < known_.nodes()) return;
    now_.is = state::thinks;
  }
  changed_.notify_all();
}

std::optional<role_ranks> replanner::take_plan() {
  const std::lock_guard lock(mutex_);
  if (now_.is != state::has_plan) return {};
  now_.is = state::begins;
  return std::move(plan_);
}

void replanner::begins(std::uint64_t step) {
  const std::lock_guard lock(mutex_);
  now_.is = state::waits, now_.looks = true;
  due_.step = step + until_settled();
}

void replanner::think_on() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return now_.ends || now_.is == state::thinks; });
    if (now_.ends) return;
    const asked a = std::exchange(asked_, {});
    const bool looks = std::exchange(now_.looks, false);
    const auto further = static_cast<double>(worth_.period);
    lock.unlock();
    const double began = thinking_time();
    std::optional<role_ranks> plan;
    double step_time = 0;
    try {
      for (const auto& contents : a.reports) {
        byte_reader r(contents);
        known_.add(r);
      }
      step_time = known_.step_time(a.last_steps);
      if (!looks) plan = known_.better(a.last_steps, a.count, further, roles_);
    } catch (const std::exception&) {}  // without memory, or with no sense in a report: no plan
    const double took = thinking_time() - began;
    lock.lock();
    judge(a.step, looks, plan.has_value(), step_time, took);
    if (plan) plan_ = std::move(*plan);
    now_.is = plan ? state::has_plan : state::waits;
  }
}

/// Says when the graph is planned next, in step `step`; a step takes `time`, and thinking took
/// `took`. Called with the mutex.
void replanner::judge(std::uint64_t step, bool looked, bool planned, double time, double took) {
  constexpr std::uint64_t longest = 1 << 20;
  auto& [first_period, period, before, cost] = worth_;
  bool is_worth_it = planned;
  if (looked) is_worth_it = (before - time) * static_cast<double>(period) > cost;
  const std::uint64_t since = looked ? until_settled() : 0;
  if (!is_worth_it) period = std::min(2 * period, longest);
  else if (looked) period = first_period;
  if (planned) before = time, cost = took;
  due_.step = step + std::max<std::uint64_t>(1, period - std::min(period, since));
  if (!looked) due_.not_before = recorder::now() + share_of_thinking * took;
}

/// The number of steps after which it is seen whether a plan was worth it.
std::uint64_t replanner::until_settled() const noexcept {
  return std::max(steps_to_settle, worth_.period / 4);
}

}  // namespace cleave::detail
