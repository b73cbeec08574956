#include "net/driver.hpp"

#include <cleave/detail/wire.hpp>

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <utility>

namespace cleave::net {
namespace {

/// A request of another node waits so long for a worker in what it would run undivided.
constexpr instant patience{100};
/// Of a node that finds nothing for long: some tenths of a percent of a CPU go to asking.
constexpr instant longest_pause{50'000};
/// What this node does is shown to others so often.
constexpr instant show_every{250'000};

std::uint64_t random_number() {
  std::random_device device;
  return (std::uint64_t{device()} << 32 | device()) | 1;
}

detail::replicas& values() noexcept { return detail::replicas_of_process(); }

net::outcome failure(const std::exception_ptr& e) {
  auto written = [](const std::exception_ptr& thrown) {
    outcome end{ending::error, {}};
    detail::byte_writer w(end.result);
    detail::put_failure(thrown, w);
    return end;
  };
  try {
    return written(e);
  } catch (...) {
    return written(std::make_exception_ptr(
        std::runtime_error("cleave: an exception of another node, which cannot be written")));
  }
}

/// Of a task that ran here.
net::outcome outcome_of(detail::task& t) {
  try {
    outcome end{t.error ? ending::error : ending::value, {}};
    detail::byte_writer w(end.result);
    detail::put_outcome(t, *t.wire, w);
    return end;
  } catch (...) { return failure(std::current_exception()); }  // its result could not be written
}

/// One line, with what an exception says.
void complain(const std::string& line, const std::exception_ptr& thrown) {
  std::string why;
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const std::exception& e) { why = std::string(": ") + e.what(); } catch (...) {
    why = ": something that is no std::exception was thrown";
  }
  std::fprintf(stderr, "cleave: %s%s\n", line.c_str(), why.c_str());
}

/// The number of a node in the names of its values: 0 is no node's.
std::uint64_t maker_of(address node) noexcept { return node + 1; }
address node_of(std::uint64_t maker) noexcept { return maker - 1; }

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
  if (core_ != nullptr) values().end_job();
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
    if (opened != nullptr) self_ = {opened->self(), random_number(), detail::program_hash()};
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

void driver::attach(detail::proxy& p, reporter of_this_node, bool records) {
  std::lock_guard lock(mutex_);
  report_ = std::move(of_this_node);
  records_ = records;
  values().identify(maker_of(carries_->self()));
  values().install(this);
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
  core_port& core = *this;
  network_port& network = *this;
  protocol_ = std::make_unique<node<>>(self_, how_, core, network);
  for (const address peer : carries_->peers())
    protocol_->peer_found(now(), peer, carries_->how_far(peer));
  auto ending = [this] {
    std::lock_guard lock(mutex_);
    counted_.nodes = nodes_;
    counted_.carried = carries_->counted();
    counted_.tasks_out = last_out_, counted_.tasks_in = tasks_in_;
    return stopping_.load();
  };
  while (!ending()) {
    step(now());
    if (std::exchange(restless_, false) || !core_->fall_asleep()) continue;
    carries_->wait(time_to_sleep(now()));
  }
  protocol_->leave(now(), now());
  values().install(nullptr);
  // Duplicates, and what nobody waits for: nothing else can be left. Parts of it may be out.
  for (const auto& [id, t] : in_) core_->cancel(*t);
  while (!out_.empty()) end_here(out_.begin(), std::make_exception_ptr(detail::cancelled{}));
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
  tell_requests(at);
  tell_starving(at);
  protocol_->tick(at);
  if (protocol_->member() == membership::left) end_serving();
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
    message m;
    if (const char* wrong = decode(arrived->message, m)) {
      say("a message from " + name(arrived->from) + " is malformed: " + wrong);
      continue;
    }
    const auto* gone = std::get_if<net::leave>(&m.body);
    // Nodes of two programs have nothing to say to each other, not even that they go.
    const bool foreign = m.program != self_.program || m.version != wire_version;
    if (arrived->from == 0 && (foreign || (gone != nullptr && gone->gone))) end_serving();
    if (!foreign) hear_of_reports(arrived->from, m);
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
    if (*peer == 0) end_serving();
    protocol_->peer_lost(at, *peer);
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

// ---- from core to the protocol

traveller driver::describe(std::uint64_t id, detail::task& t) const {
  traveller who{id, t.wire->id(), t.generation, {}};
  detail::byte_writer w(who.input);
  w.put<std::uint64_t>(t.depth);
  w.put(records_);
  if (records_) {
    w.put<std::uint64_t>(t.ticks);
    w.put<std::uint32_t>(t.owner != nullptr ? t.owner->id : 0);
    w.put<std::uint32_t>(static_cast<std::uint32_t>(self_.self) + 1);
  }
  t.wire->put_input(t, w);
  return who;
}

bool driver::tell_given(instant at) {
  bool any = false;
  detail::proxy::gift g;
  while (core_->next_given(g)) {
    any = true;
    if (g.given == nullptr) {
      protocol_->unanswered(at, g.slot);
      continue;
    }
    const std::uint64_t id = ++last_out_;
    out_[id] = g.given;
    tell_answer(at, g.slot, {id, 0});
  }
  return any;
}

/// Answers the slot with a task that is out, and that nobody runs.
void driver::tell_answer(instant at, unsigned slot, returned what) {
  const auto entry = out_.find(what.id);
  if (entry == out_.end()) return protocol_->unanswered(at, slot);  // it was cancelled meanwhile
  traveller who;
  try {
    who = describe(what.id, *entry->second);
    who.losses = what.losses;
  } catch (...) {  // its input could not be written
    end_here(entry, std::current_exception());
    return protocol_->unanswered(at, slot);
  }
  protocol_->answered(at, slot, who);
}

/// Ends a task that is out without a result: its owner goes on, and then it may be gone.
void driver::end_here(std::map<std::uint64_t, detail::task*>::iterator entry,
                      std::exception_ptr error) {
  detail::task& t = *entry->second;
  std::erase(returned_, entry->first);
  out_.erase(entry);
  t.error = std::move(error);
  core_->complete(t);
}

void driver::tell_finished(instant at) {
  while (const auto t = core_->next_finished()) {
    const auto entry = std::find_if(in_.begin(), in_.end(),
                                    [&](const auto& one) { return one.second == t.get(); });
    assert(entry != in_.end());
    const std::uint64_t id = entry->first;
    in_.erase(entry);
    // Nobody can serve them any more; and another task may come to be where this one is.
    for (unsigned slot = 0; slot < slot_count; ++slot)
      if (core_->asks_for_part_of(slot, *t) && core_->withdraw(slot))
        protocol_->unanswered(at, slot);
    protocol_->finished(at, id, outcome_of(*t));
  }
}

/// Whoever gave it away is not kept waiting for the network to be allowed to unwind.
void driver::tell_cancelled(instant at) {
  for (auto entry = out_.begin(); entry != out_.end();) {
    if (!detail::proxy::is_cancelled(*entry->second)) {
      ++entry;
      continue;
    }
    protocol_->cancelled(at, entry->first);
    end_here(entry++, std::make_exception_ptr(detail::cancelled{}));
  }
}

/// A task that is out and that `who` waits for, itself or through others; 0: none. Looks only at
/// those that went out since it looked last. One that it found is still right while it is out, and
/// parts of another scope at the same place went out later.
std::uint64_t driver::part_of(const detail::proxy::starving& who) {
  const auto is_away = [this](std::uint64_t id) {
    return out_.count(id) != 0 &&
           std::find(returned_.begin(), returned_.end(), id) == returned_.end();
  };
  part_found& last = parts_found_[who.worker];
  if (last.seen != who.seen || (last.id != 0 && !is_away(last.id))) last = {who.seen, 0, 0};
  if (last.id != 0) return last.id;
  for (auto entry = out_.upper_bound(last.up_to); entry != out_.end(); ++entry) {
    if (!is_away(entry->first)) continue;
    for (const detail::scope* s = entry->second; s != nullptr; s = s->parent) {
      if (s == who.wanted) return last.id = entry->first;
    }
  }
  last.up_to = last_out_;
  return 0;
}

/// A task that nobody runs is run by whoever waits for it, or has nothing to do.
bool driver::give_back_here(const detail::proxy::starving& who) {
  for (const returned one : returned_) {
    const std::uint64_t id = one.id;
    detail::task& t = *out_.at(id);
    bool suits = who.wanted == nullptr || who.wanted == &t;
    for (const detail::scope* s = t.parent; s != nullptr && !suits; s = s->parent)
      suits = s == who.wanted;
    if (!suits) continue;
    // Once fed it can be done, and gone.
    std::erase(returned_, id);
    out_.erase(id);
    if (core_->feed(who, t)) return true;
    returned_.push_back(one);
    out_[id] = &t;
    return false;
  }
  return false;
}

void driver::tell_starving(instant at) {
  starving_ = core_->look_for_starving();
  std::map<unsigned, std::pair<detail::request, std::uint64_t>> now_told;
  for (const auto& who : starving_) {
    if (give_back_here(who)) continue;
    const std::uint64_t id = who.wanted == nullptr ? 0 : part_of(who);
    if (who.wanted != nullptr && id == 0) continue;  // what it waits for is computed here
    now_told[who.worker] = {who.seen, id};
  }
  for (const auto& [worker, what] : told_) {
    const auto still = now_told.find(worker);
    if (still == now_told.end() || still->second != what) protocol_->satisfied(at, worker);
  }
  const auto before = std::exchange(told_, std::move(now_told));
  for (const auto& [worker, what] : told_) {
    const auto known = before.find(worker);
    if (known == before.end() || known->second != what)
      protocol_->starving(at, worker, what.second);
  }
}

/// Data to be fetched, and shared values that have improved.
void driver::tell_requests(instant at) {
  std::vector<std::pair<address, std::uint64_t>> to_fetch;
  bool better = false;
  {
    std::lock_guard lock(mutex_);
    for (auto& [name, wait] : wanted_data_) {
      if (!std::exchange(wait->asked, true)) to_fetch.push_back(name);
    }
    better = std::exchange(improved_, false);
  }
  const std::vector<address> there = to_fetch.empty() ? std::vector<address>{} : carries_->peers();
  for (const auto& [publisher, id] : to_fetch) {
    const bool gone = std::find(there.begin(), there.end(), publisher) == there.end();
    gone ? fetched(publisher, id, std::nullopt) : protocol_->fetch_from(at, publisher, id);
  }
  if (!better) return;
  bytes newest;
  sent_version_ = improved_since(sent_version_, newest);
  protocol_->improved(at, std::move(newest));
}

// ---- from the protocol to core

/// Of those that nobody runs. What was lost too often is run here, by who waits for it or has
/// nothing to do, and others get parts of it.
std::deque<driver::returned>::const_iterator driver::first_to_give_again() const {
  return std::find_if(returned_.begin(), returned_.end(),
                      [](const returned& one) { return one.losses < losses_to_stay; });
}

void driver::ask(unsigned slot, std::uint64_t wanted) {
  const auto back = wanted == 0 ? first_to_give_again() : returned_.end();
  if (back != returned_.end()) {
    auto entry = out_.extract(back->id);
    const returned what{entry.key() = ++last_out_, back->losses};
    out_.insert(std::move(entry));
    returned_.erase(back);
    events_.push_back([this, slot, what](instant at) { tell_answer(at, slot, what); });
    return;
  }
  const auto within = in_.find(wanted);
  if (wanted != 0 && within == in_.end()) {
    events_.push_back([this, slot](instant at) { protocol_->unanswered(at, slot); });
    return;
  }
  core_->ask(slot, wanted == 0 ? nullptr : within->second);
  if (asked_at_ == instant::max()) asked_at_ = now();
}

bool driver::withdraw(unsigned slot) { return core_->is_asking(slot) && core_->withdraw(slot); }

bool driver::start(asker who, const traveller& arrived) {
  const auto starves = std::find_if(starving_.begin(), starving_.end(),
                                    [&](const auto& s) { return s.worker == who; });
  if (starves == starving_.end()) return false;
  std::unique_ptr<detail::task> t;
  try {
    const detail::wire_type* type = detail::find_wire_type(arrived.type);
    if (type == nullptr)
      throw detail::malformed("a task of a type that this program does not have");
    detail::byte_reader r(arrived.input);
    const auto depth = r.get<std::uint64_t>();
    const bool recorded = r.get<bool>();
    const std::uint64_t ticks = recorded ? r.get<std::uint64_t>() : 0;
    const std::uint32_t made_by = recorded ? r.get<std::uint32_t>() : 0;
    const std::uint32_t made_at = recorded ? r.get<std::uint32_t>() : 0;
    t = type->make(r);
    t->wire = type, t->depth = depth;
    t->ticks = ticks, t->made_by = made_by, t->made_at = made_at;
  } catch (...) {
    told_.erase(static_cast<unsigned>(who));  // it starves on, and is to be told again
    events_.push_back([this, id = arrived.id, end = failure(std::current_exception())](instant at) {
      protocol_->finished(at, id, end);
    });
    return true;
  }
  t->is_kept = detail::task::kept::by_proxy;
  t->generation = static_cast<std::uint32_t>(arrived.depth);
  in_[arrived.id] = t.get();
  if (!core_->feed(*starves, *t)) {
    in_.erase(arrived.id);
    return false;
  }
  static_cast<void>(t.release());  // it is the pool's
  ++tasks_in_;
  told_.erase(static_cast<unsigned>(who));
  starving_.erase(starves);
  return true;
}

void driver::complete(std::uint64_t id, const outcome& end) {
  const auto entry = out_.find(id);
  if (entry == out_.end()) return;  // it was cancelled meanwhile
  detail::task& t = *entry->second;
  out_.erase(entry);
  // Who waited for it may come to wait for another one in its place, before it is looked at again.
  std::erase_if(starving_, [&](const auto& who) { return who.wanted == &t; });
  try {
    detail::byte_reader r(end.result);
    detail::get_outcome(t, *t.wire, r);
  } catch (...) { t.error = std::current_exception(); }
  core_->complete(t);
}

void driver::again(std::uint64_t id, unsigned losses) {
  if (out_.count(id) == 0) return;
  returned_.push_back({id, losses});
  restless_ = true;
}

void driver::cancel(std::uint64_t id) {
  if (const auto entry = in_.find(id); entry != in_.end()) core_->cancel(*entry->second);
}

load driver::state() const {
  load l{core_->workers(), core_->computing(), 0};
  // There is something to have.
  if (first_to_give_again() != returned_.end()) l.busy = std::max(l.busy, 1u);
  if (carries_->self() == 0) return l;
  l.depth = ~0u;
  for (const auto& [id, t] : in_) l.depth = std::min(l.depth, t->generation);
  return l;
}

// ---- values on several nodes

bytes driver::shared() const {
  bytes all;
  improved_since(0, all);
  return all;
}

/// Appends them; returns the version that this is. What cannot be written is said, and stays here.
std::uint64_t driver::improved_since(std::uint64_t version, bytes& newest) const {
  try {
    detail::byte_writer w(newest);
    return values().put_improved(version, w);
  } catch (...) {
    complain("shared values cannot be written", std::current_exception());
    newest.clear();
    detail::byte_writer(newest).put_block([] {});
    return version;
  }
}

void driver::merge(std::span<const std::byte> from) {
  try {
    detail::byte_reader r(from);
    values().merge_improved(r);
  } catch (...) { complain("shared values cannot be read", std::current_exception()); }
}

std::optional<bytes> driver::publication(std::uint64_t id) const {
  bytes contents;
  try {
    if (values().put_published({maker_of(carries_->self()), id}, contents)) return contents;
  } catch (...) { complain("published data cannot be written", std::current_exception()); }
  return std::nullopt;
}

bytes driver::fetch(detail::value_name name) {
  auto wait = std::make_shared<wait_for_data>();
  {
    std::lock_guard lock(mutex_);
    auto& entry = wanted_data_[{node_of(name.maker), name.number}];
    if (entry == nullptr) entry = wait;
    wait = entry;
  }
  carries_->ring();
  await([&] { return wait->arrived || stopping_; });
  if (!wait->arrived || !wait->contents)
    throw std::runtime_error(
        "cleave: published data cannot be had: its node does not have it, or is gone");
  return *wait->contents;
}

void driver::await(const std::function<bool()>& holds) {
  if (!core_->await(holds)) carrier::await(holds);
}

void driver::tell() noexcept {
  carrier::tell();
  core_->tell();
}

void driver::fetched(address publisher, std::uint64_t id, std::optional<bytes> contents) {
  {
    std::lock_guard lock(mutex_);
    const auto entry = wanted_data_.find({publisher, id});
    if (entry == wanted_data_.end()) return;
    entry->second->contents = std::move(contents);
    entry->second->arrived = true;
    wanted_data_.erase(entry);
  }
  tell();
}

void driver::improved() noexcept {
  {
    std::lock_guard lock(mutex_);
    improved_ = true;
  }
  carries_->ring();
}

// ---- to the network

void driver::send(address to, message m) { carries_->send(to, encode(m)); }

void driver::say(const std::string& line) { complain(line, nullptr); }

}  // namespace cleave::net
