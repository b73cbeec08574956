#include <cleave/detail/set_while.hpp>
#include <cleave/detail/travel/gathered.hpp>
#include <cleave/detail/travel/types.hpp>

#include "travel/type_list.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

namespace cleave::detail {
namespace {

constinit type_list<gathered_type> all_gathered;

/// Nobody is there to be told of what an update throws that another node has made.
void complain_of_update() noexcept {
  static std::atomic<bool> said{false};
  if (said.exchange(true, std::memory_order_relaxed)) return;
  std::string why = "something that is no std::exception";
  try {
    throw;
  } catch (const std::exception& e) { why = e.what(); } catch (...) {
  }
  std::fprintf(stderr, "cleave: an update of a gathered variable has thrown: %s\n", why.c_str());
}

}  // namespace

gathered_type::gathered_type(const std::type_info& variable, std::uint64_t layout,
                             std::shared_ptr<gathered_base> (*make_replica)()) noexcept
    : mangled(variable.name()), make(make_replica), id_([&] {
        name_hash h;
        h.add(variable.name());
        h.add(layout);
        return h.value();
      }()) {
  all_gathered.enter(*this, next_);
}

const gathered_type* gathered_types() noexcept { return all_gathered.first(); }

// ---- one variable

void gathered_base::know_if_static(const gathered_type& type, const std::type_info& name,
                                   const char* file, int line) noexcept {
  replicas& node = replicas_of_process();
  const auto named = node.static_name(this, name, file, line);
  if (!named) return;
  gathered_table& table = node.gathered();
  const std::lock_guard lock(table.mutex_);
  name_ = *named;
  type_ = &type;
  table.all_[name_].value = this;
  enter(table);
}

void gathered_base::forget() noexcept {
  gathered_table* const table = this->table();
  if (table == nullptr) return;
  std::shared_ptr<void> users;
  {
    const std::lock_guard lock(table->mutex_);
    const auto at = table->all_.find(name_);
    if (at == table->all_.end() || at->second.value != this) return;
    users = std::move(at->second.users);
    table->all_.erase(at);
    table->noted_.erase(name_);
  }
  await_users(std::move(users), "a gathered variable");
}

bool gathered_base::travels() const noexcept {
  return table() != nullptr && table()->net() != nullptr;
}

void gathered_base::tell_node() const noexcept { table()->note(name_); }

/// Called with traffic_mutex_, as look_again() is.
bool gathered_base::is_behind() const noexcept {
  return (traffic_.absent && !traffic_.value) || traffic_.version < traffic_.at_least;
}

void gathered_base::look_again() noexcept {
  has_news_.store(is_behind() || traffic_.value || !traffic_.updates.empty(),
                  std::memory_order_relaxed);
}

void gathered_base::be_current(std::unique_lock<std::mutex>& lock) const {
  if (!has_news()) return;
  const auto is_here = [this] { return !is_behind(); };
  bool waits = false;
  {
    const std::lock_guard held(traffic_mutex_);
    waits = is_behind();
  }
  if (waits) await_traffic(lock, is_here);
  // What has come belongs to the value that everybody sees, also those who only read it.
  const_cast<gathered_base*>(this)->take_in();
}

void gathered_base::await_traffic(std::unique_lock<std::mutex>& lock,
                                  const std::function<bool()>& holds) const {
  gathered_table* const table = this->table();
  carrier* const net = table->net();
  bool gone = net == nullptr;
  if (is_travelling)
    throw std::logic_error(
        "cleave::gathered: a variable whose value is not on this node is used where a task or a "
        "result is read or written");
  if (!gone) {
    lock.unlock();
    table->waiting_.fetch_add(1, std::memory_order_seq_cst);
    try {
      net->await([&] {
        const std::lock_guard held(traffic_mutex_);
        gone = traffic_.gone || table->net() == nullptr;
        return gone || holds();
      });
    } catch (...) {
      table->waiting_.fetch_sub(1, std::memory_order_relaxed);
      lock.lock();
      throw;
    }
    table->waiting_.fetch_sub(1, std::memory_order_relaxed);
    lock.lock();
  }
  if (gone) throw std::runtime_error("cleave: a gathered variable of a node that is gone");
}

/// Called with mutex_.
void gathered_base::take_in() {
  std::optional<arrived_value> value;
  std::vector<arrived_update> updates;
  {
    const std::lock_guard held(traffic_mutex_);
    value = std::exchange(traffic_.value, std::nullopt);
    updates = std::exchange(traffic_.updates, {});
    if (value) traffic_.absent = false;
    look_again();
  }
  const auto take = [this](const std::vector<std::byte>& bytes, auto read) {
    try {
      byte_reader r(bytes, table()->node_);
      (this->*read)(r);
    } catch (...) { complain_of_update(); }
  };
  if (value) {
    take(value->value, &gathered_base::get);
    early_ = value->early;
    if (seen_at_once_) {
      for (const auto& own : value->own) take(own, &gathered_base::apply);
      const std::lock_guard held(traffic_mutex_);
      apply_untold();
    }
  }
  for (const arrived_update& u : updates) {
    const bool known = (seen_at_once_ && u.is_own) || (u.is_homes && u.number <= early_);
    if (!known) take(u.update, &gathered_base::apply);
  }
}

void gathered_base::settle(std::unique_lock<std::mutex>& lock) {
  if (!travels()) return;
  std::uint64_t made = 0;
  {
    const std::lock_guard held(traffic_mutex_);
    made = traffic_.taken + untold();
    if (traffic_.confirmed >= made) made = 0;
  }
  if (made != 0) {
    tell_node();
    await_traffic(lock, [this, made] { return traffic_.confirmed >= made; });
  }
  be_current(lock);
}

// ---- all of a node

gathered_table::~gathered_table() {
  for (auto& [name, entry] : all_) entry.value->table_.store(nullptr, std::memory_order_relaxed);
}

carrier* gathered_table::net() const noexcept { return node_.net(); }

void gathered_table::note(value_name name) noexcept {
  {
    const std::lock_guard lock(mutex_);
    noted_.insert(name);
  }
  if (carrier* const c = net()) c->updated();
}

void gathered_table::begin_job() {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, entry] : all_)
    if (name.maker == 0 && entry.value->changed_alone_.load(std::memory_order_relaxed))
      noted_.insert(name);
}

// A shared value may be written that holds a reference: so no function of node_ that locks is
// called with mutex_.

value_name gathered_table::know(gathered_base& g, const gathered_type& type) {
  if (g.table() != nullptr) return g.name_;
  const value_name name = node_.new_name();
  const std::lock_guard lock(mutex_);
  if (g.table() == nullptr) {
    g.name_ = name;
    g.type_ = &type;
    all_[name].value = &g;
    g.enter(*this);
  }
  return g.name_;
}

std::shared_ptr<gathered_base> gathered_table::meet(value_name name, const gathered_type& type) {
  const std::uint64_t this_node = node_.number();
  std::shared_ptr<gathered_base> met;
  {
    const std::lock_guard lock(mutex_);
    known& entry = all_[name];
    if (entry.value == nullptr) {
      if (name.maker == 0 || name.maker == this_node) {
        all_.erase(name);
        throw malformed(
            "malformed bytes: a gathered variable that is not in this process, as in a library "
            "that only others have loaded");
      }
      entry.keep = type.make();
      gathered_base& made = *(entry.value = entry.keep.get());
      made.name_ = name;
      made.type_ = &type;
      made.traffic_.absent = true;
      made.traffic_.at_least = unmet_[name];
      unmet_.erase(name);
      made.look_again();
      made.enter(*this);
      noted_.insert(name);
    } else if (entry.value->type_->id() != type.id()) {
      throw malformed("malformed bytes: a gathered variable of another type");
    }
    if (entry.keep) {
      met = entry.keep;
    } else if (name.maker == 0 || is_reading_published) {
      return {std::shared_ptr<void>(), entry.value};
    } else {
      if (entry.users == nullptr) entry.users = std::make_shared<char>();
      return {entry.users, entry.value};
    }
  }
  if (carrier* const c = net()) c->updated();
  return met;
}

void gathered_table::put_versions(byte_writer& w) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, entry] : all_) {
    const std::lock_guard held(entry.value->traffic_mutex_);
    const auto& t = entry.value->traffic_;
    const std::uint64_t version = std::max(t.version, t.at_least);
    if (version == 0) continue;
    put_name(w, name);
    w.put(version);
  }
}

void gathered_table::take_versions(byte_reader& r) {
  const std::uint64_t this_node = node_.number();
  bool any = false;
  while (r.left() > 0) {
    const value_name name = get_name(r);
    const auto version = r.get<std::uint64_t>();
    const std::lock_guard lock(mutex_);
    if (name.maker == this_node) continue;
    const auto at = all_.find(name);
    if (at == all_.end()) {
      unmet_[name] = std::max(unmet_[name], version);
      continue;
    }
    gathered_base& g = *at->second.value;
    const std::lock_guard held(g.traffic_mutex_);
    if (version <= std::max(g.traffic_.at_least, g.traffic_.version)) continue;
    g.traffic_.at_least = version;
    g.look_again();
    noted_.insert(name);
    any = true;
  }
  if (carrier* const c = any ? net() : nullptr) c->updated();
}

std::vector<gathered_table::news> gathered_table::take_news(bool all) {
  std::vector<news> told;
  const std::lock_guard lock(mutex_);
  const std::set<value_name> noted = std::exchange(noted_, {});
  for (const auto& [name, entry] : all_) {
    if (!all && noted.count(name) == 0) continue;
    gathered_base& g = *entry.value;
    const std::lock_guard held(g.traffic_mutex_);
    news n{name, {}, false, false, 0};
    if (name.maker == 0 && noted.count(name) != 0)
      n.changed_alone = g.changed_alone_.exchange(false, std::memory_order_relaxed);
    n.updates = g.take_untold();
    g.untold_ = {};
    g.traffic_.taken += n.updates.size();
    if (g.traffic_.value)
      g.traffic_.value->own.insert(g.traffic_.value->own.end(), n.updates.begin(), n.updates.end());
    if (g.is_behind()) n.absent = g.traffic_.absent, n.at_least = g.traffic_.at_least;
    if (!n.updates.empty() || n.changed_alone || n.absent || n.at_least != 0)
      told.push_back(std::move(n));
  }
  return told;
}

bool gathered_table::has(value_name name) const {
  const std::lock_guard lock(mutex_);
  return all_.count(name) != 0;
}

/// Changes what has come for a variable, if it is here.
template <class Change>
void gathered_table::change(value_name name, Change change_traffic) {
  const std::lock_guard lock(mutex_);
  const auto at = all_.find(name);
  if (at == all_.end()) return;
  const std::lock_guard held(at->second.value->traffic_mutex_);
  change_traffic(at->second.value->traffic_);
  at->second.value->look_again();
}

void gathered_table::arrived(value_name name, std::uint64_t version,
                             std::vector<arrived_update> updates) {
  change(name, [&](gathered_base::traffic& t) {
    for (arrived_update& u : updates) {
      if (u.is_own) t.confirmed = std::max(t.confirmed, u.number);
      t.updates.push_back(std::move(u));
    }
    t.version = version;
  });
}

std::optional<std::pair<std::vector<std::byte>, std::uint64_t>> gathered_table::value(
    value_name name) const {
  std::shared_ptr<void> users;  // keeps it here
  gathered_base* g = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto at = all_.find(name);
    if (at == all_.end()) return std::nullopt;
    // A reference is one more: it is not for long.
    auto& entry = const_cast<known&>(at->second);
    if (entry.users == nullptr) entry.users = std::make_shared<char>();
    users = entry.users;
    g = entry.value;
  }
  const std::unique_lock lock(g->mutex_, std::try_to_lock);
  if (!lock) return std::nullopt;
  g->take_in();
  std::pair<std::vector<std::byte>, std::uint64_t> state;
  byte_writer w(state.first, node_);
  const set_while outlives(takes_data_along);
  g->put(w);
  const std::lock_guard held(g->traffic_mutex_);
  g->untold_.sealed = g->untold();
  state.second = g->seen_at_once_ ? g->traffic_.taken + g->untold() : 0;
  return state;
}

void gathered_table::replaced(value_name name, std::uint64_t version, arrived_value value) {
  change(name, [&](gathered_base::traffic& t) {
    // A replica of before may have made updates, too.
    if (t.absent) t.taken = value.yours + value.own.size(), t.confirmed = value.yours;
    t.value = std::move(value);
    t.updates.clear();
    t.version = version;
  });
}

void gathered_table::taken(value_name name, std::uint64_t version, std::uint64_t number) {
  change(name, [&](gathered_base::traffic& t) {
    t.confirmed = std::max(t.confirmed, number);
    t.at_least = std::max(t.at_least, version);
  });
}

void gathered_table::gone(value_name name) {
  change(name, [](gathered_base::traffic& t) { t.gone = true; });
  std::shared_ptr<gathered_base> ended;  // after the lock
  const std::lock_guard lock(mutex_);
  const auto at = all_.find(name);
  if (at == all_.end() || at->second.keep == nullptr) return;
  ended = std::move(at->second.keep);  // another variable may get its name
  all_.erase(at);
}

void gathered_table::forget_unused() {
  std::vector<std::shared_ptr<gathered_base>> unused;  // ends after the lock
  const std::lock_guard lock(mutex_);
  unmet_.clear();
  for (auto it = all_.begin(); it != all_.end();) {
    const auto one = it++;
    known& entry = one->second;
    if (entry.keep == nullptr || entry.keep.use_count() != 1) continue;
    noted_.erase(one->first);
    unused.push_back(std::move(entry.keep));
    all_.erase(one);
  }
}

void gathered_table::end_job() noexcept {
  std::vector<std::shared_ptr<gathered_base>> replicas_here;
  const std::lock_guard lock(mutex_);
  unmet_.clear();
  noted_.clear();
  for (auto it = all_.begin(); it != all_.end();) {
    const auto one = it++;
    if (one->second.keep == nullptr) continue;
    replicas_here.push_back(std::move(one->second.keep));
    all_.erase(one);
  }
}

}  // namespace cleave::detail
