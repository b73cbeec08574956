#include "node/teams.hpp"

#include <cleave/detail/travel/types.hpp>

#include <algorithm>
#include <utility>

#include "machine/cpus.hpp"
#include "transport/launch.hpp"
#include "travel/exceptions.hpp"

namespace cleave::net {
namespace {

std::exception_ptr different_numbers() {
  return std::make_exception_ptr(detail::team_node::different_numbers());
}

/// What is read from files is read once.
unsigned cpus_of_host() {
  static const auto cpus = static_cast<unsigned>(machine::host_cpus());
  return cpus;
}

}  // namespace

// ---- the first node, asked by another thread

bool teams::run(const detail::wire_type& type, detail::task& input, detail::task& root,
                const std::function<void()>& run_root) {
  const auto team = begin_leading(type, input, root);
  run_root();
  led_team::result ends;
  {
    const bool missed = !root.error && team->end();
    std::unique_lock lock(mutex_);
    if (missed) fail(different_numbers());
    led_->own = nullptr;
    led_->cancelled |= root.error != nullptr;
    out_.carrier().ring();
    changed_.wait(lock, [this] { return led_->awaited.empty(); });
    ends = std::move(led_->ends);
    led_.reset();
  }
  if (ends.lost_member && !detail::stopped(root.parent)) return false;
  if (!root.error && !ends.error) return true;
  try {
    if (root.error) std::rethrow_exception(root.error);
  } catch (const detail::cancelled&) {
    if (detail::stopped(root.parent)) throw;
    if (!ends.error)
      throw std::logic_error(
          "cleave::runtime::run_on_all: a node went on after an exception that others do not know");
  }
  std::rethrow_exception(ends.error);  // the team was cancelled for that error
}

std::shared_ptr<detail::team_node> teams::begin_leading(const detail::wire_type& type,
                                                        detail::task& input, detail::task& root) {
  led_team asked;
  asked.type = type.id(), asked.own = &root;
  detail::byte_writer w(asked.input);
  type.put_input(input, w);
  std::unique_lock lock(mutex_);
  led_ = std::move(asked);
  out_.carrier().ring();
  changed_.wait(lock, [this] { return led_->begun; });
  return team_;
}

// ---- the same, by the driver's thread

void teams::lead() {
  bool stops = false;
  {
    std::lock_guard lock(mutex_);
    if (!led_) return;
    if (!led_->begun) begin_led();
    look_for_absent();
    if (led_->own != nullptr && detail::stopped(led_->own)) led_->cancelled = true;
    if (led_->cancelled && !std::exchange(led_->told, true)) {
      stops = true;
      if (led_->own != nullptr) core_.cancel(*led_->own);
      for (const address who : led_->awaited) out_.tell(who, team_cancel{mail_.team()});
    }
    if (led_->awaited.empty()) changed_.notify_all();
  }
  if (stops) team_->look_for_cancelled();
}

/// Whether a node runs another program, or has ended, as far as is known.
bool teams::is_absent(address who) const {
  const auto known = tasks_.protocol().peers().find(who);
  return known != tasks_.protocol().peers().end() && !neighbours::is_open(known->second);
}

/// Called with the mutex.
void teams::look_for_absent() {
  const auto absent = std::erase_if(led_->awaited, [this](address who) { return is_absent(who); });
  if (absent != 0) led_->ends.lost_member = led_->cancelled = true;
}

/// Called with the mutex.
void teams::begin_led() {
  std::vector<address> members(1, out_.carrier().self());
  for (const address who : out_.carrier().peers())
    if (!is_absent(who)) members.push_back(who);
  make_team(mail_.team() + 1, std::move(members), 0);
  core_.set_team(team_.get());
  const team_begin all{mail_.team(), mail_.members(), led_->type, std::move(led_->input),
                       values_.shared()};
  for (const address who : mail_.members()) {
    if (who == out_.carrier().self()) continue;
    out_.tell(who, all);
    led_->awaited.insert(who);
  }
  led_->begun = true;
  changed_.notify_all();
}

/// Called with the mutex.
void teams::fail(std::exception_ptr error) {
  if (!led_ || !led_->begun) return;  // or the error is the last team's
  led_->cancelled = true;
  if (!led_->ends.error) led_->ends.error = std::move(error);
}

void teams::end(address from, const team_end& m) {
  const bool is_of_this = m.team == mail_.team() && m.how == ending::value;
  const bool missed = is_of_this && team_ != nullptr && team_->member_ended(m.ports);
  std::lock_guard lock(mutex_);
  if (!led_ || m.team != mail_.team() || led_->awaited.erase(from) == 0) return;
  const auto error = tasks_.take_in(m.shared, true);
  if (missed) fail(different_numbers());
  if (m.how == ending::value && error) fail(error);
  if (m.how != ending::error) return;
  try {
    detail::byte_reader r(m.error);
    fail(detail::get_exception(r));
  } catch (...) { fail(std::current_exception()); }
}

/// A member that has ended its part counts, too: what it sent last may not have arrived.
void teams::member_lost(address who) {
  std::lock_guard lock(mutex_);
  if (!led_ || !led_->begun || std::ranges::count(mail_.members(), who) == 0) return;
  led_->awaited.erase(who);
  led_->ends.lost_member = led_->cancelled = true;
}

// ---- every node

void teams::hear(address from, const message& m) {
  if (launched().comes_and_goes) return;  // there are no teams
  if (m.to != 0 && m.to != out_.self().process) return;
  if (const auto* begun = std::get_if<team_begin>(&m.body)) begin(from, *begun);
  if (const auto* ended = std::get_if<team_end>(&m.body)) end(from, *ended);
  const auto* ends = std::get_if<team_cancel>(&m.body);
  if (ends != nullptr && ends->team == mail_.team()) stop();
}

void teams::hear(team_parts& parts) {
  if (launched().comes_and_goes) return;
  if (parts.to() != 0 && parts.to() != out_.self().process) return;
  while (auto part = parts.next()) hear_of_member(parts.team(), std::move(*part));
}

void teams::hear_of_member(std::uint64_t team, bytes contents) {
  if (team > mail_.team()) early_[team].push_back(std::move(contents));
  else if (team == mail_.team()) hear_of_member(std::move(contents));
}

void teams::hear_of_member(bytes contents) {
  if (team_ == nullptr) return;
  try {
    if (!team_->receive(std::move(contents))) return;
    const std::lock_guard lock(mutex_);
    fail(different_numbers());
  } catch (const detail::malformed& e) { out_.say(std::string("within a team: ") + e.what()); }
}

void teams::make_team(std::uint64_t number, std::vector<address> members, unsigned rank) {
  const transport& t = out_.carrier();
  detail::team_places places;
  bool is_one_host = true;
  for (const address who : members) {
    const distance far = who == t.self() ? distance::same_host : t.how_far(who);
    is_one_host &= far == distance::same_host;
    places.sites.push_back(far == distance::far ? t.site(who) + 1 : 0);
  }
  if (is_one_host) places.cpus = cpus_of_host();
  mail_.set_team(number, std::move(members));
  team_ = std::make_shared<detail::team_node>(
      number, rank, static_cast<unsigned>(mail_.members().size()), &net_, std::move(places));
}

void teams::begin(address leader, const team_begin& m) {
  if (m.team <= mail_.team()) return;
  const auto self = std::find(m.members.begin(), m.members.end(), out_.carrier().self());
  if (self == m.members.end()) return;
  tasks_.take_in(m.shared, false);
  make_team(m.team, m.members, static_cast<unsigned>(self - m.members.begin()));
  std::unique_ptr<detail::task> t;
  try {
    detail::byte_reader r(m.input);
    t = courier::make_task(m.type, r);
  } catch (...) {
    const auto error = detail::exception_bytes(std::current_exception());
    return out_.tell(leader, team_end{m.team, ending::error, 0, error, {}});
  }
  set_task(t.release());  // the pool owns the task
  core_.begin(*task_, team_.get());
  const auto known = early_.extract(m.team);
  early_.clear();
  if (known.empty()) return;
  for (bytes& contents : known.mapped()) hear_of_member(std::move(contents));
}

bool teams::tell_end(const detail::task& t) {
  if (&t != task_) return false;
  set_task(nullptr);
  team_end ended{mail_.team(), ending::value, team_->ports_made(), {}, values_.shared()};
  try {
    if (t.error) std::rethrow_exception(t.error);
  } catch (const detail::cancelled&) { ended.how = ending::refused; } catch (...) {
    ended.how = ending::error;
    ended.error = detail::exception_bytes(t.error);
  }
  mail_.send();
  out_.tell(mail_.members().front(), std::move(ended));
  return true;
}

void teams::stop() noexcept {
  if (task_ == nullptr) return;
  core_.cancel(*task_);
  team_->look_for_cancelled();
}

void teams::look_for_cancelled() noexcept {
  if (team_ != nullptr) team_->look_for_cancelled();
}

bool teams::look_after(std::chrono::microseconds delay) noexcept {
  const instant at = now() + delay;
  instant before = looks_at();
  // Relaxed: whoever lowers it rings, and the thread that is woken sees it.
  while (at < before)
    if (looks_at_.compare_exchange_weak(before, at, std::memory_order_relaxed)) return true;
  return false;
}

void teams::look_again(instant at) noexcept {
  if (at < looks_at()) return;
  looks_at_.store(instant::max(), std::memory_order_relaxed);  // before the look: it may ask again
  if (team_ != nullptr) team_->look_again();
}

void teams::set_task(detail::task* t) noexcept {
  task_ = t;
  tasks_.set_runs_team(t != nullptr);
}

bool teams::is_on() const {
  const std::lock_guard lock(mutex_);
  return task_ != nullptr || led_.has_value();
}

}  // namespace cleave::net
