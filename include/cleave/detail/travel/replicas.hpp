#pragma once

#include <cleave/detail/travel/bytes.hpp>

#include <atomic>
#include <compare>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <typeinfo>
#include <utility>
#include <vector>

/// Values that live on several nodes under one name: published data, which never change, and
/// shared values, which only improve.
namespace cleave::detail {

/// Names a value on all nodes: the node that made it, and which of that node's it is. Node 0: a
/// variable of static storage, which every node has.
struct value_name {
  std::uint64_t maker = 0;
  std::uint64_t number = 0;
  friend auto operator<=>(const value_name&, const value_name&) = default;
};
void put_name(byte_writer& w, value_name name);
value_name get_name(byte_reader& r);

/// What a node needs of the network for such values; net installs it.
class carrier {
public:
  virtual ~carrier() = default;
  /// The bytes of a published datum that another node made. Any thread; blocks. Throws if it
  /// cannot be had.
  virtual std::vector<std::byte> fetch(value_name name) = 0;
  /// Blocks until `holds` returns true. Any thread may call it. Net has workers serve requests
  /// meanwhile.
  virtual void await(const std::function<bool()>& holds) {
    std::unique_lock lock(mutex_);
    told_.wait(lock, holds);
  }
  /// Has the threads in await() look again. Any thread may call it.
  virtual void tell() noexcept {
    { std::lock_guard lock(mutex_); }  // whoever has looked waits by this time
    told_.notify_all();
  }
  /// A worker of this node has improved a shared value. Any thread; must not block.
  virtual void improved() noexcept = 0;
  /// Updates of gathered variables are to be told, or waited for. Any thread; must not block.
  virtual void updated() noexcept = 0;

private:
  std::mutex mutex_;
  std::condition_variable told_;
};

/// A published datum as one node has it.
///
///     absent ──fetch──► fetching ──bytes came──► arrived (made here: from the beginning)
///       ▲                   │
///       └───it failed───────┘
///
/// `value_` is null until it is here, and never changes afterwards. The thread that finds it absent
/// fetches it; others wait.
class publication {
public:
  struct functions {
    void (*put)(const void*, byte_writer&);
    std::shared_ptr<const void> (*get)(byte_reader&);
  };

  /// A datum that was made here.
  explicit publication(std::shared_ptr<const void> value) noexcept
      : keep_(std::move(value)), state_(state::arrived), value_(keep_.get()) {}
  /// A datum of another node, of which this one knows the name.
  publication(value_name name, const functions& f, replicas& node) noexcept
      : name_(name), functions_(&f), node_(&node) {}
  publication(const publication&) = delete;
  publication& operator=(const publication&) = delete;

  /// The datum. Blocks until it is here; throws what the fetching of it threw, or malformed.
  const void* value() {
    // acquire: partner of the store in fetch().
    const void* v = value_.load(std::memory_order_acquire);
    return v != nullptr ? v : fetch();
  }

private:
  friend class replicas;
  enum class state : std::uint8_t { absent, fetching, arrived };
  const void* fetch();

  value_name name_;
  const functions* functions_ = nullptr;
  replicas* node_ = nullptr;
  std::mutex mutex_;
  std::shared_ptr<const void> keep_;
  state state_ = state::absent;
  std::atomic<const void*> value_{nullptr};
};

/// This thread reads or writes a task or a result, maybe for all of the node: it awaits nothing
/// that comes from others.
extern thread_local bool is_travelling;

/// This thread reads what was published.
extern thread_local bool is_reading_published;

/// Gives up a reference to what other tasks of this node may refer to, and blocks until they do not
/// any more, or for so long that they must be lost: then it says so of `what`.
void await_users(std::shared_ptr<void> users, const char* what) noexcept;

class shared_base;
class gathered_table;

/// What can be done with a shared value without knowing its type. One object for each type; it
/// enters itself into the list of the process before main. Immutable: any thread.
class shared_type {
public:
  struct functions {
    void (*put)(const shared_base&, byte_writer&);       // the value with its witness
    bool (*merge)(shared_base&, byte_reader&);           // returns true if that improved the value
    std::shared_ptr<shared_base> (*make)(byte_reader&);  // a replica
  };
  /// The functions of a type that cannot be serialized: a task that has improved such a value has
  /// no result for another node.
  static const functions of_no_form;

  /// `layout` is a hash of what the type is made of.
  shared_type(const std::type_info& value, std::uint64_t layout, const functions& f) noexcept;
  shared_type(const shared_type&) = delete;
  shared_type& operator=(const shared_type&) = delete;

  /// A number that is the same in each build of the same source, as wire_type's is.
  std::uint64_t id() const noexcept { return id_; }
  const shared_type* next() const noexcept { return next_; }

  const functions can;
  const char* const mangled;

private:
  const std::uint64_t id_;
  const shared_type* next_ = nullptr;
};

/// The first of all types of this program, in no particular order. Any thread.
const shared_type* shared_types() noexcept;

/// What this thread writes outlives the node: data that were published here travel along.
extern thread_local bool takes_data_along;

/// What all shared values have in common. While a node knows it by name, `node_` is that node.
class shared_base {
public:
  shared_base(const shared_base&) = delete;
  shared_base& operator=(const shared_base&) = delete;

protected:
  shared_base() noexcept = default;
  ~shared_base() = default;

  /// A variable of static storage is known from the beginning, by its type and its place in the
  /// source.
  void know_if_static(const shared_type& type, const std::type_info& name, const char* file,
                      int line) noexcept;
  /// To be called when the value improved, and no lock is held.
  void improved() noexcept {
    if (node_.load(std::memory_order_relaxed) != nullptr) note_improved();
  }
  /// Called by the destructor, before anything is destroyed. Blocks while tasks that came from
  /// other nodes refer to the value, as what was cancelled elsewhere may still unwind here; but not
  /// for ever.
  void forget() noexcept {
    if (node_.load(std::memory_order_relaxed) != nullptr) leave_node();
  }

private:
  friend class replicas;
  void note_improved() noexcept;
  void leave_node() noexcept;

  std::atomic<replicas*> node_{nullptr};
  value_name name_;
  const shared_type* type_ = nullptr;
  std::uint64_t version_ = 0;        // the node's version at the last improvement; 0: none
  std::uint64_t improved_here_ = 0;  // the node's version when a worker here improved it last
};

/// What one node holds of published data and shared values. All functions may be called by any
/// thread, except where said.
///
/// Invariant: a name means one value; what was given a name is kept or known until end_job(), until
/// a shared value is destroyed, or until nobody refers to its replica any more.
class replicas {
public:
  replicas();
  ~replicas();
  replicas(const replicas&) = delete;
  replicas& operator=(const replicas&) = delete;

  /// Says which node this is, by a number that no other has. Called before anything travels;
  /// without it the number is random. `lasts`: nothing outlives the node.
  void identify(std::uint64_t node, bool lasts) noexcept;
  /// Installs a carrier, or none if `c` is null. Called while nothing runs.
  void install(carrier* c) noexcept { carrier_.store(c, std::memory_order_release); }

  /// Gives a datum its name, and keeps it until end_job().
  value_name publish(const std::shared_ptr<publication>& p, const publication::functions& f);
  /// The datum of that name, which may still be elsewhere. Throws malformed if it is of another
  /// type.
  std::shared_ptr<publication> published(value_name name, const publication::functions& f);
  /// Appends a handle of published data: their name, or the data themselves.
  void put_handle(const std::shared_ptr<publication>& p, const publication::functions& f,
                  byte_writer& w);
  std::shared_ptr<publication> get_handle(const publication::functions& f, byte_reader& r);
  /// Appends to `out` what a node that asks for the datum is sent. Returns false if the datum is
  /// not here.
  bool put_published(value_name name, std::vector<std::byte>& out);

  /// Gives a shared value its name.
  value_name know(shared_base& s, const shared_type& type);
  /// Merges a value, as shared_type's functions put it, into that of this name; there is one
  /// afterwards. Throws malformed.
  std::shared_ptr<shared_base> merge(value_name name, const shared_type& type, byte_reader& value);

  /// Counts improvements.
  std::uint64_t version() const;
  /// Appends all shared values that this node's workers improved after `since`, each with its name
  /// and type; 0: all that improved at all. Returns the version that this is. For a value that
  /// cannot be written there is nothing behind the name, which merge_improved() refuses; `failed`
  /// is why. Behind them are the versions of gathered variables that are known here.
  std::uint64_t put_improved(std::uint64_t since, byte_writer& w,
                             std::exception_ptr* failed = nullptr);
  /// Merges what put_improved() appended on another node. Makes a replica of a variable of static
  /// storage that is not made here yet and, if this node `passes_on` what it hears with results of
  /// its own, of every value that it does not know. Throws malformed, and what reading throws, when
  /// all others are merged.
  void merge_improved(byte_reader& r, bool passes_on = true);

  /// Ends the replicas that nothing here refers to, but for those of variables. Only while no task
  /// of another node is here: all that improved them has been told with a result then.
  void forget_unused();

  /// Names a value that this node has made.
  value_name new_name();
  /// Names a variable by its type and its place in the source; nothing if it is not of static
  /// storage.
  std::optional<value_name> static_name(const void* variable, const std::type_info& type,
                                        const char* file, int line);
  gathered_table& gathered() noexcept { return *gathered_; }
  /// Null if there are no other nodes.
  carrier* net() const noexcept {
    return carrier_.load(std::memory_order_acquire);  // partner: install()
  }
  std::uint64_t number() const noexcept;

  /// Frees the data and forgets the names. While nothing runs, and nothing is under way to this
  /// node.
  void end_job() noexcept;

private:
  friend class publication;
  friend class shared_base;
  struct known {
    shared_base* value;
    std::shared_ptr<shared_base> keep;  // a replica
    std::shared_ptr<void> users;        // for one made here: references that came from elsewhere
  };

  void note(shared_base& s) noexcept;
  std::uint64_t put_shared(std::uint64_t since, byte_writer& w, std::exception_ptr* failed);
  known& merge_one(value_name name, const shared_type& type, byte_reader& value);
  void pass_on(const shared_base& from, shared_base& to) noexcept;

  // A value may hold others, so that it is put and got within another one's.
  mutable std::recursive_mutex mutex_;
  std::uint64_t node_;
  bool lasts_ = false;
  std::uint64_t last_ = 0;  // number given to a value made here
  std::uint64_t version_ = 0;
  std::map<value_name, std::shared_ptr<publication>> published_;
  std::map<value_name, known> shared_;
  std::map<std::uint64_t, std::uint64_t> places_;  // static variables: how many have the same place
  std::atomic<carrier*> carrier_{nullptr};
  std::unique_ptr<gathered_table> gathered_;
};

}  // namespace cleave::detail
