#include "node/driver.hpp"

#include <algorithm>
#include <utility>

#include "transport/launch.hpp"
#include "travel/exceptions.hpp"

// Tasks that all nodes run together. The first node has them begin and awaits their ends; what they
// say to each other passes through here. Who is lost ends the team: the first node then begins
// again with those that are left.
namespace cleave::net {
namespace {

std::exception_ptr different_numbers() {
  return std::make_exception_ptr(detail::team_node::different_numbers());
}

}  // namespace

// ---- the first node, asked by another thread

bool driver::run_team(const detail::wire_type& type, detail::task& input, detail::task& root,
                      const std::function<void()>& run) {
  const auto team = begin_team(type, input, root);
  run();
  led_team::outcome ends;
  {
    const bool missed = !root.error && team->end();
    std::unique_lock lock(mutex_);
    if (missed) fail_team(different_numbers());
    led_->own = nullptr;
    led_->cancelled |= root.error != nullptr;
    carries_->ring();
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
  std::rethrow_exception(ends.error);  // it was cancelled for that one
}

std::shared_ptr<detail::team_node> driver::begin_team(const detail::wire_type& type,
                                                      detail::task& input, detail::task& root) {
  led_team asked;
  asked.type = type.id(), asked.own = &root;
  detail::byte_writer w(asked.input);
  type.put_input(input, w);
  std::unique_lock lock(mutex_);
  led_ = std::move(asked);
  carries_->ring();
  changed_.wait(lock, [this] { return led_->begun; });
  return team_;
}

// ---- the same, by the driver's thread

void driver::lead_team() {
  bool stops = false;
  {
    std::lock_guard lock(mutex_);
    if (!led_) return;
    if (!led_->begun) begin_led_team();
    look_for_absent();
    if (led_->own != nullptr && detail::stopped(led_->own)) led_->cancelled = true;
    if (led_->cancelled && !std::exchange(led_->told, true)) {
      stops = true;
      if (led_->own != nullptr) core_->cancel(*led_->own);
      for (const address who : led_->awaited)
        send(who, {self_.program, self_.process, 0, team_cancel{team_number_}});
    }
    if (led_->awaited.empty()) changed_.notify_all();
  }
  if (stops) team_->look_for_cancelled();
}

/// One that runs another program, or has ended, as far as is known.
bool driver::is_absent(address who) const {
  const auto known = protocol_->peers().find(who);
  return known != protocol_->peers().end() && (known->second.foreign || !known->second.reachable);
}

/// With the mutex.
void driver::look_for_absent() {
  const auto absent = std::erase_if(led_->awaited, [this](address who) { return is_absent(who); });
  if (absent != 0) led_->ends.lost_member = led_->cancelled = true;
}

/// With the mutex.
void driver::begin_led_team() {
  std::vector<address> members(1, carries_->self());
  for (const address who : carries_->peers())
    if (!is_absent(who)) members.push_back(who);
  make_team(team_number_ + 1, std::move(members), 0);
  core_->set_team(team_.get());
  const team_begin all{team_number_, members_, led_->type, std::move(led_->input), shared()};
  for (const address who : members_) {
    if (who == carries_->self()) continue;
    send(who, {self_.program, self_.process, 0, all});
    led_->awaited.insert(who);
  }
  led_->begun = true;
  changed_.notify_all();
}

/// With the mutex.
void driver::fail_team(std::exception_ptr error) {
  if (!led_ || !led_->begun) return;  // or it is of the last one
  led_->cancelled = true;
  if (!led_->ends.error) led_->ends.error = std::move(error);
}

void driver::end(address from, const team_end& m) {
  const bool is_of_this = m.team == team_number_ && m.how == ending::value;
  const bool missed = is_of_this && team_ != nullptr && team_->member_ended(m.ports);
  std::lock_guard lock(mutex_);
  if (!led_ || m.team != team_number_ || led_->awaited.erase(from) == 0) return;
  const auto error = take_in(m.shared, true);
  if (missed) fail_team(different_numbers());
  if (m.how == ending::value && error) fail_team(error);
  if (m.how != ending::error) return;
  try {
    detail::byte_reader r(m.error);
    fail_team(detail::get_exception(r));
  } catch (...) { fail_team(std::current_exception()); }
}

/// Also of one that has ended its part: what it sent last may not have arrived.
void driver::member_lost(address who) {
  std::lock_guard lock(mutex_);
  if (!led_ || !led_->begun || std::ranges::count(members_, who) == 0) return;
  led_->awaited.erase(who);
  led_->ends.lost_member = led_->cancelled = true;
}

// ---- every node

void driver::hear_of_teams(address from, message& m) {
  if (launched().comes_and_goes) return;  // there are none
  if (m.to != 0 && m.to != self_.process) return;
  if (const auto* begun = std::get_if<team_begin>(&m.body)) begin(from, *begun);
  if (const auto* ended = std::get_if<team_end>(&m.body)) end(from, *ended);
  const auto* ends = std::get_if<team_cancel>(&m.body);
  if (ends != nullptr && ends->team == team_number_) stop_team();
  auto* data = std::get_if<team_data>(&m.body);
  if (data == nullptr || data->team < team_number_) return;
  for (bytes& part : data->parts) {
    if (data->team > team_number_) early_[data->team].push_back(std::move(part));
    else hear_of_member(std::move(part));
  }
}

void driver::hear_of_member(bytes contents) {
  if (team_ == nullptr) return;
  try {
    if (!team_->receive(std::move(contents))) return;
    const std::lock_guard lock(mutex_);
    fail_team(different_numbers());
  } catch (const detail::malformed& e) { say(std::string("within a team: ") + e.what()); }
}

void driver::make_team(std::uint64_t number, std::vector<address> members, unsigned rank) {
  detail::team_carrier* const net = this;
  const std::lock_guard sending(sending_mutex_);
  team_number_ = number, members_ = std::move(members);
  team_ = std::make_shared<detail::team_node>(team_number_, rank,
                                              static_cast<unsigned>(members_.size()), net);
}

void driver::begin(address leader, const team_begin& m) {
  if (m.team <= team_number_) return;
  const auto self = std::find(m.members.begin(), m.members.end(), carries_->self());
  if (self == m.members.end()) return;
  merge(m.shared, false);
  make_team(m.team, m.members, static_cast<unsigned>(self - m.members.begin()));
  std::unique_ptr<detail::task> t;
  try {
    detail::byte_reader r(m.input);
    t = make_task(m.type, r);
  } catch (...) {
    return send(
        leader,
        {self_.program, self_.process, 0,
         team_end{
             m.team, ending::error, 0, detail::exception_bytes(std::current_exception()), {}}});
  }
  team_task_ = t.release();  // it is the pool's
  core_->begin(*team_task_, team_.get());
  const auto known = early_.extract(m.team);
  early_.clear();
  if (known.empty()) return;
  for (bytes& contents : known.mapped()) hear_of_member(std::move(contents));
}

/// False if it is another task.
bool driver::tell_end_of_team(const detail::task& t) {
  if (&t != team_task_) return false;
  team_task_ = nullptr;
  team_end ended{team_number_, ending::value, team_->ports_made(), {}, shared()};
  try {
    if (t.error) std::rethrow_exception(t.error);
  } catch (const detail::cancelled&) { ended.how = ending::refused; } catch (...) {
    ended.how = ending::error;
    ended.error = detail::exception_bytes(t.error);
  }
  send_to_members();
  send(members_.front(), {self_.program, self_.process, 0, std::move(ended)});
  return true;
}

void driver::stop_team() noexcept {
  if (team_task_ == nullptr) return;
  core_->cancel(*team_task_);
  team_->look_for_cancelled();
}

void driver::send_to_member(std::uint64_t team, unsigned rank, bytes message) {
  const std::lock_guard lock(members_mutex_);
  to_members_.push_back({team, rank, std::move(message)});
}

/// By whoever has something to send: the driver's thread may have to wait for a CPU.
void driver::flush_to_members() noexcept {
  if (!carries_->sends_from_any_thread()) return carries_->ring();
  send_to_members();
}

void driver::send_to_members() {
  // Who finds another one sending leaves it to that one, which looks again when it has ended.
  while (have_to_send()) {
    const std::unique_lock sending(sending_mutex_, std::try_to_lock);
    if (!sending) return;
    send_all_to_members();
  }
}

bool driver::have_to_send() {
  const std::lock_guard lock(members_mutex_);
  return !to_members_.empty();
}

/// With the mutex of sending.
void driver::send_all_to_members() {
  std::vector<to_member> all;
  {
    const std::lock_guard lock(members_mutex_);
    all.swap(to_members_);
  }
  // One message to each, as each costs its receiver a wake-up.
  std::map<unsigned, std::vector<bytes>> by_rank;
  for (auto& [team, rank, contents] : all)
    if (team == team_number_)
      by_rank[rank].push_back(std::move(contents));  // else members_ are others
  for (auto& [rank, parts] : by_rank)
    send(members_[rank],
         {self_.program, self_.process, 0, team_data{team_number_, std::move(parts)}});
  carries_->deliver();
}

}  // namespace cleave::net
