#include "node/driver.hpp"

#include <cleave/detail/travel/types.hpp>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "machine/random.hpp"

namespace cleave::net {
namespace {

/// A request of another node waits so long for a worker in what it would run undivided.
constexpr instant patience{100};
/// Of a node that finds nothing for long: some tenths of a percent of a CPU go to asking.
constexpr instant longest_pause{50'000};
/// If a worker that watches does not look, the thread does.
constexpr instant longest_without_look{1'000};
/// What this node does is shown to others so often.
constexpr instant show_every{250'000};

}  // namespace

instant driver::now() noexcept {
  return std::chrono::duration_cast<instant>(std::chrono::steady_clock::now().time_since_epoch());
}

// ---- its life

std::unique_ptr<driver> driver::open(const transport_choice& choice) {
  settings how;
  how.ask_again_at_most = how.nothing_for = longest_pause;
  return open([choice] { return open_transport(choice); }, how);
}

std::unique_ptr<driver> driver::open(opener make, const settings& how) {
  std::unique_ptr<driver> d(new driver(how));
  d->thread_ = std::thread([&d = *d, make = std::move(make)] { d.live(make); });
  std::unique_lock lock(d->mutex_);
  d->changed_.wait(lock, [&] { return d->opened_; });
  if (d->failed_) std::rethrow_exception(d->failed_);
  if (d->carries_ != nullptr) return d;
  lock.unlock();
  return nullptr;
}

driver::~driver() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
  if (core_ != nullptr) detail::replicas_of_process().end_job();
}

void driver::stop() {
  stopping_ = true;
  tell();
  carries_->ring();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopped_; });
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
    failed_ = std::current_exception();
  }
  opened_ = true;
  changed_.notify_all();
  if (carries_ == nullptr) return;
  changed_.wait(lock, [this] { return core_ != nullptr || closing_; });
  if (core_ != nullptr) {
    lock.unlock();
    loop();
    lock.lock();
    stopped_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return closing_; });
  } else {  // its pool could not be made: nobody is to wait for it
    for (const address peer : carries_->peers())
      carries_->send(peer, encode({self_.program, self_.process, 0, net::leave{true}}));
  }
  const auto closing = std::move(carries_);
  lock.unlock();
}

void driver::attach(proxy& p, reporter of_this_node, bool records) {
  std::lock_guard lock(mutex_);
  report_ = std::move(of_this_node);
  records_ = records;
  carry_values();
  core_ = &p;
  changed_.notify_all();
}

detail::native::bell driver::bell() noexcept {
  return {[](void* d) noexcept { static_cast<driver*>(d)->carries_->ring(); }, this};
}

void driver::serve() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return over_; });
}

void driver::end_serving() {
  std::lock_guard lock(mutex_);
  over_ = true;
  changed_.notify_all();
}

node_counters driver::counted() const {
  std::lock_guard lock(mutex_);
  return counted_;
}

void driver::loop() {
  std::unique_lock stepping(stepping_);
  core_port& core = *this;
  network_port& network = *this;
  protocol_ = std::make_unique<node<>>(self_, how_, core, network);
  for (const address peer : carries_->peers())
    protocol_->peer_found(now(), peer, carries_->how_far(peer));
  auto ending = [this] {
    std::lock_guard lock(mutex_);
    // Who is gone has done its part, of which it does not tell any more.
    counted_.nodes = std::max(counted_.nodes, nodes_.load());
    counted_.carried = carries_->counted();
    counted_.tasks_out = last_out_, counted_.tasks_in = tasks_in_;
    return stopping_.load();
  };
  is_going_ = true;
  while (!ending()) {
    if (!step_and_fall_asleep()) continue;
    auto at_most = time_to_sleep(now());
    naps_.store(false, std::memory_order_seq_cst);  // before the look at kept_: see keep_watch
    if (kept_.load(std::memory_order_seq_cst)) {
      at_most = std::min(at_most, longest_without_look);
      naps_.store(true, std::memory_order_relaxed);
    }
    sleeps_until_ = now() + at_most;
    stepping.unlock();
    carries_->wait(at_most);
    stepping.lock();
  }
  is_going_ = false;
  protocol_->leave(now(), now());
  detail::replicas_of_process().install(nullptr);
  // Duplicates, and what nobody waits for: nothing else can be left. Parts of it may be out.
  for (const auto& [id, t] : in_) core_->cancel(*t);
  stop_team();
  while (!out_.empty()) end_here(out_.begin(), std::make_exception_ptr(detail::cancelled{}));
}

bool driver::step_and_fall_asleep() {
  step(now());
  return !std::exchange(restless_, false) && core_->fall_asleep();
}

// ---- a worker in place of the thread

bool driver::begin_watch() noexcept {
  // Acquire, release: the transport's part of it goes from one to the next.
  if (watched_.exchange(true, std::memory_order_acquire)) return false;
  if (carries_->begin_watch()) return true;
  watched_.store(false, std::memory_order_release);
  return false;
}

bool driver::look() noexcept {
  if (!carries_->look()) return false;
  if (stopping_) return wake_thread(), false;  // which ends
  const std::unique_lock stepping(stepping_, std::try_to_lock);
  if (!stepping || !is_going_) return false;  // the thread is awake
  constexpr int often = 4;
  for (int i = 0; i < often; ++i) {
    if (!step_and_fall_asleep()) continue;
    if (now() + time_to_sleep(now()) >= sleeps_until_) return true;
    break;
  }
  wake_thread();  // it sleeps too long, or there is more to do
  return true;
}

/// By who watches: rings do not, until it looks again.
void driver::wake_thread() noexcept {
  carries_->end_watch();
  carries_->ring();
}

void driver::keep_watch() noexcept {
  if (kept_.load(std::memory_order_relaxed)) return;
  // The thread sees the one, or this one sees the other. Partner: loop.
  kept_.store(true, std::memory_order_seq_cst);
  if (!naps_.load(std::memory_order_seq_cst)) wake_thread();
}

void driver::end_watch() noexcept {
  kept_.store(false, std::memory_order_relaxed);
  carries_->end_watch();
  watched_.store(false, std::memory_order_release);
}

std::chrono::microseconds driver::time_to_sleep(instant at) const {
  instant until = protocol_->next();
  if (asked_at_ != instant::max()) until = std::min(until, asked_at_ + patience);
  return std::clamp(until - at, instant{0}, instant{1'000'000});
}

void driver::step(instant at) {
  const std::uint32_t signals = core_->wake_up();
  hear(at);
  const bool given = tell_given(at);
  tell_finished(at);
  if (given || (signals & detail::attention) != 0) tell_cancelled(at);
  if (team_ != nullptr && (signals & detail::attention) != 0) team_->look_for_cancelled();
  tell_requests(at);
  tell_starving(at);
  protocol_->tick(at);
  if (protocol_->member() == membership::left) end_serving();
  lead_team();
  send_to_members();
  send_inquiries();
  show(at);
  while (!events_.empty()) {
    for (auto& event : std::exchange(events_, {})) event(at);
  }
  if (at - asked_at_ >= patience && asked_at_ != instant::max()) {
    asked_at_ = instant::max();
    core_->insist();
  }
}

void driver::hear(instant at) {
  while (auto arrived = carries_->receive()) {
    if (arrived->message.empty()) {
      protocol_->alive(at, arrived->from);
      continue;
    }
    message m;
    if (const char* wrong = decode(arrived->message, m)) {
      say("a message from " + name(arrived->from) + " is malformed: " + wrong);
      continue;
    }
    const auto* gone = std::get_if<net::leave>(&m.body);
    // Nodes of two programs have nothing to say to each other, not even that they go.
    const bool foreign = m.program != self_.program || m.version != wire_version;
    if (arrived->from == 0 && (foreign || (gone != nullptr && gone->gone))) end_serving();
    if (!foreign) hear_of_reports(arrived->from, m), hear_of_teams(arrived->from, m);
    protocol_->receive(at, arrived->from, m);
  }
  hear_of_peers(at);
  if (leave_by_.load() != instant::max()) protocol_->leave(at, leave_by_);
}

/// One that was lost and is back is on both lists.
void driver::hear_of_peers(instant at) {
  bool changed = false;
  while (const auto peer = carries_->lost()) {
    changed = true;
    // What happens here from now on is to reach nobody: who gave a task gives it again.
    if (*peer == 0) end_serving(), protocol_->leave(at, at);
    protocol_->peer_lost(at, *peer);
    member_lost(*peer);
  }
  while (const auto peer = carries_->found()) {
    changed = true;
    protocol_->peer_found(at, *peer, carries_->how_far(*peer));
  }
  if (changed) nodes_ = static_cast<unsigned>(carries_->peers().size() + 1);
}

void driver::show(instant at) {
  if (at < show_at_) return;
  show_at_ = at + show_every;
  carries_->show({core_->workers(), core_->computing(), tasks_in_, last_out_});
}

// ---- to the network

void driver::send(address to, message m) {
  bytes encoded = encode(m);
  if (encoded.size() > carries_->longest_message()) {
    leave_shared_out(m);
    encoded = encode(m);
  }
  // A rack only keeps a result from being sent again, later.
  std::holds_alternative<rack>(m.body) ? carries_->send_without_waking(to, std::move(encoded))
                                       : carries_->send(to, std::move(encoded));
}

void driver::say(const std::string& line) { std::fprintf(stderr, "cleave: %s\n", line.c_str()); }

}  // namespace cleave::net
