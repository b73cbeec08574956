#include <cleave/detail/set_while.hpp>
#include <cleave/detail/travel/gathered.hpp>
#include <cleave/detail/travel/replicas.hpp>
#include <cleave/detail/travel/types.hpp>

#include "machine/random.hpp"
#include "travel/type_list.hpp"

#include <link.h>

#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>

namespace cleave::detail {

void put_name(byte_writer& w, value_name name) {
  w.put(name.maker);
  w.put(name.number);
}

value_name get_name(byte_reader& r) {
  const auto maker = r.get<std::uint64_t>();
  return {maker, r.get<std::uint64_t>()};
}

namespace {

/// Whether an address is in what the program or one of its libraries was loaded to.
bool is_static(const void* address) noexcept {
  struct search {
    std::uintptr_t at;
    bool found;
  } s{reinterpret_cast<std::uintptr_t>(address), false};
  dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* argument) {
        auto& wanted = *static_cast<search*>(argument);
        for (int i = 0; i < module->dlpi_phnum && !wanted.found; i++) {
          const auto& part = module->dlpi_phdr[i];
          const auto first = static_cast<std::uintptr_t>(module->dlpi_addr + part.p_vaddr);
          wanted.found = part.p_type == PT_LOAD && wanted.at - first < part.p_memsz;
        }
        return wanted.found ? 1 : 0;
      },
      &s);
  return s.found;
}

/// A lost node is missed after ten seconds; then what it had here is cancelled.
constexpr std::chrono::seconds longest_unwinding{15};

}  // namespace

thread_local bool is_travelling = false;
thread_local bool is_reading_published = false;
thread_local bool takes_data_along = false;

replicas& replicas_of_process() noexcept {
  // The object outlives all that is static.
  static auto* const all = new replicas;  // NOLINT(bugprone-unhandled-exception-at-new)
  return *all;
}

const void* publication::fetch() {
  // acquire: partner of install().
  carrier* const c = node_->carrier_.load(std::memory_order_acquire);
  if (c == nullptr) throw std::runtime_error("cleave: a published datum of a node that is gone");
  if (is_travelling)
    throw std::logic_error(
        "cleave::published: a datum that is not on this node is used where a task or a result is "
        "read or written");
  // True if this thread is to fetch it; false: it is here.
  bool mine = false;
  c->await([&] {
    const std::lock_guard lock(mutex_);
    if (state_ == state::fetching) return false;
    mine = state_ == state::absent;
    if (mine) state_ = state::fetching;
    return true;
  });
  if (!mine) return keep_.get();
  std::shared_ptr<const void> arrived;
  auto end = [&](state how) {
    {
      const std::lock_guard lock(mutex_);
      keep_ = std::move(arrived);
      state_ = how;
      value_.store(keep_.get(), std::memory_order_release);  // partner: value()
    }
    c->tell();
  };
  try {
    const std::vector<std::byte> bytes = c->fetch(name_);
    byte_reader reader(bytes, *node_);
    const set_while now(is_reading_published);
    arrived = functions_->get(reader);
  } catch (...) {
    end(state::absent);
    throw;
  }
  end(state::arrived);
  return keep_.get();
}

/// Says so on standard error, where nobody is there to be told.
static void complain_of_unread() noexcept {
  std::fputs("cleave: a shared value that another node has improved cannot be read\n", stderr);
}

[[noreturn]] static void refuse_shared() {
  throw std::logic_error(
      "cleave::shared: a variable of static storage whose value or witness cannot be serialized "
      "has been improved on several nodes, or on another one");
}
const shared_type::functions shared_type::of_no_form{
    [](const shared_base&, byte_writer&) { refuse_shared(); },
    [](shared_base&, byte_reader&) -> bool { refuse_shared(); },
    [](byte_reader&) -> std::shared_ptr<shared_base> { refuse_shared(); }};

static constinit type_list<shared_type> all_shared;

shared_type::shared_type(const std::type_info& value, std::uint64_t layout,
                         const functions& f) noexcept
    : can(f), mangled(value.name()), id_([&] {
        name_hash h;
        h.add(value.name());
        h.add(layout);
        return h.value();
      }()) {
  all_shared.enter(*this, next_);
}

const shared_type* shared_types() noexcept { return all_shared.first(); }

/// `type` may be made later than this.
void shared_base::know_if_static(const shared_type& type, const std::type_info& name,
                                 const char* file, int line) noexcept {
  replicas& node = replicas_of_process();
  const auto named = node.static_name(this, name, file, line);
  if (!named) return;
  const std::lock_guard lock(node.mutex_);
  name_ = *named;
  type_ = &type;
  const replicas::known before =
      std::exchange(node.shared_[name_], replicas::known{this, nullptr, nullptr});
  node_.store(&node, std::memory_order_relaxed);
  if (before.keep != nullptr) node.pass_on(*before.keep, *this);
}

void shared_base::note_improved() noexcept {
  replicas& node = *node_.load(std::memory_order_relaxed);
  {
    const std::lock_guard lock(node.mutex_);
    const auto it = node.shared_.find(name_);
    if (it != node.shared_.end() && it->second.value != this) {
      node.pass_on(*this, *it->second.value);
    } else {
      node.note(*this);
      improved_here_ = version_;
    }
  }
  // acquire: partner of install().
  if (carrier* const c = node.carrier_.load(std::memory_order_acquire)) c->improved();
}

void shared_base::leave_node() noexcept {
  replicas& node = *node_.load(std::memory_order_relaxed);
  std::shared_ptr<void> users;
  {
    const std::lock_guard lock(node.mutex_);
    const auto it = node.shared_.find(name_);
    if (it == node.shared_.end() || it->second.value != this) return;
    users = std::move(it->second.users);
    node.shared_.erase(it);
  }
  await_users(std::move(users), "a shared value");
}

void await_users(std::shared_ptr<void> users, const char* what) noexcept {
  const std::weak_ptr<void> others = std::exchange(users, nullptr);
  const auto end = std::chrono::steady_clock::now() + longest_unwinding;
  while (!others.expired()) {
    if (std::chrono::steady_clock::now() > end) {
      std::fprintf(stderr, "cleave: %s ends, and a task of another node still refers to it\n",
                   what);
      return;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  // acquire: what they did with the value. Partner: the release of the last reference.
  std::atomic_thread_fence(std::memory_order_acquire);
}

replicas::replicas()
    : node_(machine::random_bits()), gathered_(std::make_unique<gathered_table>(*this)) {}

replicas::~replicas() {
  for (auto& [name, entry] : shared_) entry.value->node_.store(nullptr, std::memory_order_relaxed);
}

void replicas::identify(std::uint64_t node, bool lasts) noexcept {
  const std::lock_guard lock(mutex_);
  node_ = node, lasts_ = lasts;
}

std::uint64_t replicas::number() const noexcept {
  const std::lock_guard lock(mutex_);
  return node_;
}

value_name replicas::new_name() {
  const std::lock_guard lock(mutex_);
  return {node_, ++last_};
}

std::optional<value_name> replicas::static_name(const void* variable, const std::type_info& type,
                                                const char* file, int line) {
  if (!is_static(variable)) return std::nullopt;
  const std::string_view path(file);
  name_hash place;
  place.add(type.name());
  place.add(path.substr(path.rfind('/') + 1));
  place.add(static_cast<std::uint64_t>(line));
  const std::lock_guard lock(mutex_);
  place.add(places_[place.value()]++);
  return value_name{0, place.value()};
}

void replicas::put_handle(const std::shared_ptr<publication>& p, const publication::functions& f,
                          byte_writer& w) {
  bool along = false;
  {
    const std::lock_guard lock(mutex_);
    const bool is_from_here = p->functions_ == nullptr || p->name_.maker == node_;
    along = takes_data_along && is_from_here && !lasts_;
  }
  w.put(along);
  if (along) w.put_block([&] { f.put(p->value(), w); });
  else put_name(w, publish(p, f));
}

std::shared_ptr<publication> replicas::get_handle(const publication::functions& f, byte_reader& r) {
  if (!r.get<bool>()) return published(get_name(r), f);
  byte_reader data = r.get_block();
  return std::make_shared<publication>(f.get(data));
}

value_name replicas::publish(const std::shared_ptr<publication>& p,
                             const publication::functions& f) {
  const std::lock_guard lock(mutex_);
  if (p->functions_ == nullptr) {
    p->name_ = {node_, ++last_};
    p->functions_ = &f;
    p->node_ = this;
  }
  published_.try_emplace(p->name_, p);
  return p->name_;
}

std::shared_ptr<publication> replicas::published(value_name name, const publication::functions& f) {
  const std::lock_guard lock(mutex_);
  auto& p = published_[name];
  if (p == nullptr) p = std::make_shared<publication>(name, f, *this);
  if (p->functions_ != &f) throw malformed("malformed bytes: a published datum of another type");
  return p;
}

bool replicas::put_published(value_name name, std::vector<std::byte>& out) {
  std::shared_ptr<publication> p;
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = published_.find(name); it != published_.end()) p = it->second;
  }
  // acquire: partner of the store in publication::fetch().
  const void* const value = p ? p->value_.load(std::memory_order_acquire) : nullptr;
  if (value == nullptr) return false;
  byte_writer w(out, *this);
  p->functions_->put(value, w);
  return true;
}

value_name replicas::know(shared_base& s, const shared_type& type) {
  const std::lock_guard lock(mutex_);
  if (s.node_.load(std::memory_order_relaxed) == nullptr) {
    s.name_ = {node_, ++last_};
    s.type_ = &type;
    shared_[s.name_] = {&s, nullptr, nullptr};
    s.node_.store(this, std::memory_order_relaxed);
  }
  return s.name_;
}

std::shared_ptr<shared_base> replicas::merge(value_name name, const shared_type& type,
                                             byte_reader& value) {
  const std::lock_guard lock(mutex_);
  known& entry = merge_one(name, type, value);
  if (entry.keep) return entry.keep;
  // What was published is kept until the job ends, and would be waited for so long.
  if (name.maker == 0 || is_reading_published) return {std::shared_ptr<void>(), entry.value};
  if (entry.users == nullptr) entry.users = std::make_shared<char>();
  return {entry.users, entry.value};
}

/// Called with the mutex.
replicas::known& replicas::merge_one(value_name name, const shared_type& type, byte_reader& value) {
  const auto [at, is_new] = shared_.try_emplace(name);
  known& entry = at->second;
  if (is_new) {
    try {
      entry.keep = type.can.make(value);
    } catch (...) {
      shared_.erase(at);
      throw;
    }
    entry.value = entry.keep.get();
    entry.value->name_ = name;
    entry.value->type_ = &type;
    entry.value->node_.store(this, std::memory_order_relaxed);
    note(*entry.value);
  } else if (entry.value->type_->id() != type.id()) {
    throw malformed("malformed bytes: a shared value of another type");
  } else if (entry.value->type_->can.merge(*entry.value, value)) {
    note(*entry.value);
  }
  return entry;
}

std::uint64_t replicas::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

std::uint64_t replicas::put_improved(std::uint64_t since, byte_writer& w,
                                     std::exception_ptr* failed) {
  const std::uint64_t is = put_shared(since, w, failed);
  w.put_block([&] { gathered_->put_versions(w); });
  return is;
}

std::uint64_t replicas::put_shared(std::uint64_t since, byte_writer& w,
                                   std::exception_ptr* failed) {
  const std::lock_guard lock(mutex_);
  w.put_block([&] {
    for (const auto& [name, entry] : shared_) {
      const shared_base& s = *entry.value;
      if ((since == 0 ? s.version_ : s.improved_here_) <= since) continue;
      std::vector<std::byte> value;
      try {
        byte_writer one(value, w.node());
        s.type_->can.put(s, one);
      } catch (...) {
        value.clear();
        if (failed != nullptr) *failed = std::current_exception();
      }
      put_name(w, name);
      w.put(s.type_->id());
      w.put_length(value.size());
      w.raw(value.data(), value.size());
    }
  });
  return version_;
}

void replicas::forget_unused() {
  gathered_->forget_unused();
  std::vector<std::shared_ptr<shared_base>> unused;  // ends after the lock
  const std::lock_guard lock(mutex_);
  for (auto it = shared_.begin(); it != shared_.end();) {
    const auto one = it++;
    known& entry = one->second;
    if (one->first.maker == 0 || entry.keep == nullptr || entry.keep.use_count() != 1) continue;
    entry.value->node_.store(nullptr, std::memory_order_relaxed);
    unused.push_back(std::move(entry.keep));
    shared_.erase(one);
  }
}

void replicas::merge_improved(byte_reader& r, bool passes_on) {
  byte_reader all = r.get_block();
  byte_reader versions = r.get_block();
  gathered_->take_versions(versions);
  std::exception_ptr failed;
  while (all.left() > 0) {
    const value_name name = get_name(all);
    const auto id = all.get<std::uint64_t>();
    const auto* const type = all_shared.find([id](const shared_type& t) { return t.id() == id; });
    byte_reader value = all.get_block();
    const std::lock_guard lock(mutex_);
    // A value made here that is not known has ended.
    const bool wanted = name.maker == 0 || (passes_on && name.maker != node_);
    if (!wanted && !shared_.contains(name)) continue;
    try {
      if (type == nullptr)
        throw malformed(
            "malformed bytes: a shared value of a type that is not in this process, as in a "
            "library that only others have loaded");
      merge_one(name, *type, value);
    } catch (...) { failed = std::current_exception(); }
  }
  if (failed) std::rethrow_exception(failed);
}

void replicas::end_job() noexcept {
  gathered_->end_job();
  std::map<value_name, std::shared_ptr<publication>> data;
  std::map<value_name, known> values;
  const std::lock_guard lock(mutex_);
  data.swap(published_);
  for (auto it = shared_.begin(); it != shared_.end();) {
    const auto entry = it++;
    if (entry->first.maker == 0 || entry->second.keep == nullptr) continue;
    entry->second.value->node_.store(nullptr, std::memory_order_relaxed);
    values.insert(shared_.extract(entry));
  }
}

/// Passes a value on from a replica to the variable of static storage that was made after it, and
/// that all others mean.
void replicas::pass_on(const shared_base& from, shared_base& to) noexcept {
  std::vector<std::byte> bytes;
  try {
    byte_writer w(bytes, *this);
    from.type_->can.put(from, w);
    byte_reader r(bytes, *this);
    if (!to.type_->can.merge(to, r)) return;
    note(to);
    to.improved_here_ = version_;
  } catch (...) { complain_of_unread(); }
}

void replicas::note(shared_base& s) noexcept { s.version_ = ++version_; }

}  // namespace cleave::detail
