#include "node/driver.hpp"

#include <cleave/detail/travel/types.hpp>

#include <algorithm>
#include <utility>

#include "machine/random.hpp"

namespace cleave::net {
namespace {

/// The longest pause of a node that finds nothing for long: some tenths of a percent of a CPU go to
/// asking.
constexpr instant longest_pause{50'000};
/// How often others are shown what this node does.
constexpr instant show_every{250'000};

}  // namespace

// ---- its life

driver::parts::parts(driver& of, other_nodes& p, reporter of_this_node, bool records)
    : core(p),
      out(of.self_, *of.carries_),
      values(out),
      gathered(out, of),
      tasks(
          p, out, values, gathered, of.how_, [&of] { of.tell(); }, records),
      teams(p, out, values, tasks, of),
      inquiries(out, tasks, std::move(of_this_node)),
      sleep(*of.carries_, of) {}

std::unique_ptr<driver> driver::open(const transport_choice& choice, const preference& asks) {
  settings how;
  how.follow(asks);
  how.ask_again_at_most = how.nothing_for = longest_pause;
  return open([choice] { return open_transport(choice); }, how);
}

std::unique_ptr<driver> driver::open(opener make, const settings& how) {
  std::unique_ptr<driver> d(new driver(how));
  d->thread_ = std::thread([&d = *d, make = std::move(make)] { d.live(make); });
  std::unique_lock lock(d->mutex_);
  d->changed_.wait(lock, [&] { return d->life_.opened; });
  if (d->life_.failed) std::rethrow_exception(d->life_.failed);
  if (d->carries_ != nullptr) return d;
  lock.unlock();
  return nullptr;
}

driver::~driver() {
  {
    std::lock_guard lock(mutex_);
    life_.closing = true;
  }
  changed_.notify_all();
  thread_.join();
  if (parts_ != nullptr) detail::replicas_of_process().end_job();
}

void driver::stop() {
  stopping_ = true;
  tell();
  carries_->ring();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return life_.stopped; });
}

void driver::leave(std::chrono::milliseconds at_most) {
  leave_by_ = now() + at_most;
  carries_->ring();
}

void driver::live(const opener& make) {
  std::unique_lock lock(mutex_, std::defer_lock);
  try {
    auto opened = make();
    if (opened != nullptr) nodes_ = static_cast<unsigned>(opened->peers().size() + 1);
    if (opened != nullptr)
      self_ = {opened->self(), machine::random_bits() | 1, detail::program_hash()};
    lock.lock();
    carries_ = std::move(opened);
  } catch (...) {
    lock.lock();
    life_.failed = std::current_exception();
  }
  life_.opened = true;
  changed_.notify_all();
  if (carries_ == nullptr) return;
  changed_.wait(lock, [this] { return parts_ != nullptr || life_.closing; });
  if (parts_ != nullptr) {
    lock.unlock();
    loop();
    lock.lock();
    life_.stopped = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return life_.closing; });
  } else {  // its pool could not be made: nobody is to wait for it
    outlet out(self_, *carries_);
    for (const address peer : carries_->peers()) out.tell(peer, net::leave{true});
  }
  const auto closing = std::move(carries_);
  lock.unlock();
}

void driver::attach(other_nodes& p, reporter of_this_node, bool records) {
  std::lock_guard lock(mutex_);
  parts_ = std::make_unique<parts>(*this, p, std::move(of_this_node), records);
  parts_->values.carry(*this);
  changed_.notify_all();
}

detail::native::bell driver::bell() noexcept {
  return {[](void* d) noexcept { static_cast<driver*>(d)->carries_->ring(); }, this};
}

void driver::wait_until_over() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return life_.over; });
}

void driver::be_over() {
  std::lock_guard lock(mutex_);
  life_.over = true;
  changed_.notify_all();
}

node_counters driver::counted() const {
  std::lock_guard lock(mutex_);
  return counted_;
}

void driver::count() {
  const traffic carried = carries_->counted();
  std::lock_guard lock(mutex_);
  // A node that is gone has done its part, of which it does not tell any more.
  counted_.nodes = std::max(counted_.nodes, nodes_.load());
  counted_.carried = carried;
  counted_.tasks_out = parts_->tasks.tasks_out(), counted_.tasks_in = parts_->tasks.tasks_in();
}

void driver::loop() {
  node& protocol = parts_->tasks.protocol();
  for (const address peer : carries_->peers())
    protocol.peer_found(now(), peer, carries_->how_far(peer), carries_->site(peer));
  count();
  parts_->sleep.loop([this] { return is_over(); });
  tell_finished(now(), true);
  protocol.leave(now(), now());
  detail::replicas_of_process().install(nullptr);
  tell();  // a value is waited for in vain
  parts_->teams.stop();
  parts_->tasks.end();
}

// ---- a step of it

bool driver::step_and_fall_asleep() {
  step(now());
  return !parts_->tasks.was_restless() && parts_->core.fall_asleep();
}

instant driver::time_to_sleep(instant at) const {
  const courier& tasks = parts_->tasks;
  const instant until =
      std::min({tasks.protocol().next(), tasks.insists_at(), parts_->teams.looks_at()});
  return std::clamp(until - at, instant{0}, instant{1'000'000});
}

void driver::step(instant at) {
  courier& tasks = parts_->tasks;
  const std::uint32_t signals = parts_->core.wake_up();
  const bool cancels = (signals & detail::attention) != 0;
  hear(at);
  // What is given away knows of all updates that were made here before.
  const bool given =
      tasks.tell_given(at, [&] { parts_->gathered.tell(at, tasks.protocol(), true); });
  tell_finished(at, false);
  if (given || cancels) tasks.tell_cancelled(at);
  if (cancels) parts_->teams.look_for_cancelled();
  parts_->values.tell(at, tasks.protocol());
  tasks.tell_starving(at);
  tasks.protocol().tick(at);
  if (tasks.protocol().member() == membership::left) be_over();
  count();  // before lead(): whoever has run a team then reads what that has sent
  parts_->teams.lead();
  parts_->teams.look_again(at);
  parts_->teams.mail().send();
  parts_->inquiries.send();
  show(at);
  tasks.tell_events(at);
  tasks.insist(at);
}

std::optional<incoming> driver::receive() {
  auto& found = parts_->found;
  if (found.empty()) return carries_->receive();
  incoming first = std::move(found.front());
  found.erase(found.begin());
  return first;
}

/// Peers' heartbeats tell that they live; what members say need not.
bool driver::hear_members() {
  auto& found = parts_->found;
  carries_->found_by_look(found);
  auto next = found.begin();
  while (next != found.end() && hear_member(*next)) ++next;
  found.erase(found.begin(), next);
  return found.empty();
}

/// Takes in what a member of a team says; returns false if that is something else.
bool driver::hear_member(incoming& arrived) {
  if (!is_team_data(arrived.message, self_.program)) return false;
  team_parts said(std::move(arrived.message));
  parts_->teams.hear(said);
  if (const char* const wrong = said.wrong()) say_malformed(arrived.from, wrong);
  return true;
}

void driver::say_malformed(address from, const char* wrong) {
  parts_->out.say("a message from " + parts_->out.name(from) + " is malformed: " + wrong);
}

/// Returns false, and says so, if what has arrived is no message.
bool driver::read(incoming& arrived, message& m) {
  const char* const wrong = decode(std::move(arrived.message), m);
  if (wrong != nullptr) say_malformed(arrived.from, wrong);
  return wrong == nullptr;
}

void driver::hear(instant at) {
  node& protocol = parts_->tasks.protocol();
  while (auto arrived = receive()) {
    if (arrived->message.empty() || hear_member(*arrived)) {
      protocol.alive(at, arrived->from);
      continue;
    }
    message m;
    if (!read(*arrived, m)) continue;
    const auto* gone = std::get_if<net::leave>(&m.body);
    // Nodes of two programs have nothing to say to each other, not even that they go.
    const bool foreign = m.program != self_.program || m.version != wire_version;
    if (arrived->from == 0 && (foreign || (gone != nullptr && gone->gone))) be_over();
    if (!foreign) {
      parts_->inquiries.hear(arrived->from, m);
      parts_->teams.hear(arrived->from, m);
    }
    protocol.receive(at, arrived->from, m);
  }
  hear_of_peers(at);
  if (leave_by_.load() != instant::max()) protocol.leave(at, leave_by_);
}

/// A peer that was lost and is back is on both lists.
void driver::hear_of_peers(instant at) {
  node& protocol = parts_->tasks.protocol();
  bool changed = false;
  while (const auto peer = carries_->lost()) {
    changed = true;
    // What happens here from now on is to reach nobody: the node that gave a task gives it again.
    if (*peer == 0) be_over(), protocol.leave(at, at);
    protocol.peer_lost(at, *peer);
    parts_->teams.member_lost(*peer);
  }
  while (const auto peer = carries_->found()) {
    changed = true;
    protocol.peer_found(at, *peer, carries_->how_far(*peer), carries_->site(*peer));
  }
  if (changed) nodes_ = static_cast<unsigned>(carries_->peers().size() + 1);
}

/// Tells of tasks of other nodes that have ended here, and whose updates are in order; `all`: also
/// of the others.
void driver::tell_finished(instant at, bool all) {
  courier& tasks = parts_->tasks;
  while (auto t = parts_->core.next_finished()) parts_->gathered.ended(std::move(t));
  parts_->gathered.tell(at, tasks.protocol(), false);
  while (const auto t = parts_->gathered.next_ended(tasks.protocol(), all))
    if (!parts_->teams.tell_end(*t)) tasks.tell_finished(at, *t);
  if (!tasks.has_run_dry() || parts_->teams.is_on()) return;
  value_exchange::forget();
  tasks.protocol().forget_unused();
}

void driver::show(instant at) {
  if (at < parts_->show_at) return;
  parts_->show_at = at + show_every;
  const courier& tasks = parts_->tasks;
  carries_->show(
      {parts_->core.workers(), parts_->core.computing(), tasks.tasks_in(), tasks.tasks_out()});
}

// ---- for other threads

std::vector<driver::answer> driver::inquire(bool trace, std::chrono::milliseconds at_most) {
  if (stopping_) return {};
  return parts_->inquiries.ask(trace, at_most);
}

std::vector<trace::node_trace> driver::traces() {
  if (stopping_) return {};
  return parts_->inquiries.traces();
}

bool driver::run_team(const detail::wire_type& type, detail::task& input, detail::task& root,
                      const std::function<void()>& run) {
  return parts_->teams.run(type, input, root, run);
}

bytes driver::fetch(detail::value_name name) {
  return parts_->values.fetch(name, *this, stopping_);
}

void driver::await(const std::function<bool()>& holds) {
  if (!parts_->core.await(holds, *this)) carrier::await(holds);
}

void driver::tell() noexcept {
  carrier::tell();
  parts_->core.tell();
}

void driver::send_to_member(std::uint64_t team, unsigned rank, std::span<const std::byte> message) {
  parts_->teams.mail().put(team, rank, message);
}

}  // namespace cleave::net
