#pragma once

#include <cleave/detail/travel/bytes.hpp>
#include <cleave/detail/travel/replicas.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <typeinfo>
#include <utility>
#include <vector>

/// Gathered variables: each node has a replica of one, and updates of all nodes are applied to all
/// replicas, in the order of the variable's home, the node that made it.
namespace cleave::detail {

class gathered_base;

/// What is to be known of a type of gathered variables. One object for each; it enters itself into
/// the list of the process before main. Immutable: any thread.
class gathered_type {
public:
  gathered_type(const std::type_info& variable, std::uint64_t layout,
                std::shared_ptr<gathered_base> (*make_replica)()) noexcept;
  gathered_type(const gathered_type&) = delete;
  gathered_type& operator=(const gathered_type&) = delete;

  std::uint64_t id() const noexcept { return id_; }
  const gathered_type* next() const noexcept { return next_; }

  const char* const mangled;
  /// Makes a replica, which has no value yet.
  std::shared_ptr<gathered_base> (*const make)();

private:
  const std::uint64_t id_;
  const gathered_type* next_ = nullptr;
};
/// The first of all types of this program, in no particular order. Any thread.
const gathered_type* gathered_types() noexcept;

/// An update that has come, in the home's order.
struct arrived_update {
  bool is_own = false;       ///< this node has made it
  bool is_homes = false;     ///< the home has made it
  std::uint64_t number = 0;  ///< which of that node's it is
  std::vector<std::byte> update;
};
/// The value that a home has sent.
struct arrived_value {
  std::vector<std::byte> value;
  std::uint64_t early = 0;  ///< updates of the home's own up to that number are in it
  std::uint64_t yours = 0;  ///< updates of this node up to that number are in it, in order
  std::vector<std::vector<std::byte>> own;  ///< later ones of this node, which are not in it
};

/// What all gathered variables have in common: how updates come and go.
///
/// Two mutexes: `mutex_` is held while the value is read or changed, maybe for long, and is locked
/// first; `traffic_mutex_` guards what has come and what is to go, and is never held for long. The
/// driver's thread locks only the second one, and the first one if nobody holds it.
class gathered_base {
public:
  gathered_base(const gathered_base&) = delete;
  gathered_base& operator=(const gathered_base&) = delete;
  virtual ~gathered_base() = default;

protected:
  explicit gathered_base(bool seen_at_once) noexcept : seen_at_once_(seen_at_once) {}

  /// A variable of static storage is known from the beginning, by its type and its place.
  void know_if_static(const gathered_type& type, const std::type_info& name, const char* file,
                      int line) noexcept;
  /// Called by the destructor of the variable itself, before anything is destroyed. Blocks while
  /// tasks that came from other nodes refer to it, but not for ever.
  void forget() noexcept;

  // These are called with mutex_. The lock may be given up meanwhile.

  /// Takes in what has come. Before that blocks until the replica has a value, and all that the
  /// running task's giver knew; serves requests meanwhile. Throws std::runtime_error if the home is
  /// gone.
  void be_current(std::unique_lock<std::mutex>& lock) const;
  /// Whether updates are to be told to other nodes.
  bool travels() const noexcept;
  /// `add()` adds an update to those that are to go; it is called with traffic_mutex_. `due`: how
  /// many updates are told together.
  template <class Add>
  void tell(Add add, std::size_t due) {
    bool now = false;
    {
      const std::lock_guard lock(traffic_mutex_);
      add(untold_.sealed);
      now = ++untold_.count >= due;
    }
    if (now) tell_node();
  }
  /// The value has changed, and no other node is told how.
  void note_change() noexcept { changed_alone_.store(true, std::memory_order_relaxed); }

  /// Something has come that was not taken in yet, or is waited for. Any thread.
  bool has_news() const noexcept {
    return has_news_.load(std::memory_order_relaxed);  // the mutexes order what it tells of
  }
  /// Blocks until the home has taken all updates that were made here, and they are applied here.
  void settle(std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex_;

private:
  friend class gathered_table;
  friend class replicas;

  // What the variable's type knows. With mutex_, but for the last two: with traffic_mutex_.
  virtual void apply(byte_reader& update) = 0;
  virtual void put(byte_writer& w) const = 0;
  virtual void get(byte_reader& r) = 0;
  virtual void apply_untold() = 0;
  virtual std::size_t untold() const noexcept = 0;
  virtual std::vector<std::vector<std::byte>> take_untold() = 0;

  struct traffic {
    std::optional<arrived_value> value;   // replaces the value, before the updates
    std::vector<arrived_update> updates;  // in order
    std::uint64_t version = 0;            // of the value, when all that is taken in
    std::uint64_t at_least = 0;           // the version that readers wait for
    std::uint64_t taken = 0;              // updates of this node that were taken from here
    std::uint64_t confirmed = 0;          // and of these, that the home has put in order
    bool absent = false;
    bool gone = false;  // the home
  };
  struct to_tell {
    std::size_t sealed = 0;  // so many of them must stay as they are
    std::size_t count = 0;   // calls of update()
  };

  /// The node's table, once the variable has a name.
  gathered_table* table() const noexcept {
    return table_.load(std::memory_order_acquire);  // partner: enter()
  }
  void enter(gathered_table& t) noexcept {
    table_.store(&t, std::memory_order_release);  // partner: table()
  }
  void tell_node() const noexcept;
  void take_in();
  bool is_behind() const noexcept;
  void look_again() noexcept;
  /// Blocks until `holds` returns true, which is called with traffic_mutex_, or the home is gone.
  /// Throws then.
  void await_traffic(std::unique_lock<std::mutex>& lock, const std::function<bool()>& holds) const;

  const bool seen_at_once_;  // an update that was made here is applied before it is in order
  std::atomic<bool> changed_alone_{false};
  std::uint64_t early_ = 0;  // updates of the home's own up to that number are in the value
  std::atomic<gathered_table*> table_{nullptr};
  value_name name_;
  const gathered_type* type_ = nullptr;
  std::atomic<bool> has_news_{false};  // traffic_ is to be looked at
  mutable std::mutex traffic_mutex_;
  traffic traffic_;
  to_tell untold_;
};

/// The gathered variables of one node. Any thread.
///
/// Invariant: a name means one variable here, from when it is given or a reference comes until the
/// variable is destroyed, or nobody refers to its replica any more.
class gathered_table {
public:
  explicit gathered_table(replicas& node) noexcept : node_(node) {}
  ~gathered_table();
  gathered_table(const gathered_table&) = delete;
  gathered_table& operator=(const gathered_table&) = delete;

  value_name know(gathered_base& g, const gathered_type& type);
  /// The variable of that name; a replica without a value is made if there is none.
  std::shared_ptr<gathered_base> meet(value_name name, const gathered_type& type);

  /// Appends the versions that are known here: whoever gets them reads nothing older.
  void put_versions(byte_writer& w) const;
  void take_versions(byte_reader& r);

  // The driver calls these.

  struct news {
    value_name name;
    std::vector<std::vector<std::byte>> updates;  // made here
    bool changed_alone = false;
    bool absent = false;
    std::uint64_t at_least = 0;
  };
  /// What the home of each variable is to be told or asked; `all`: also what is not due.
  std::vector<news> take_news(bool all);
  bool has(value_name name) const;
  void arrived(value_name name, std::uint64_t version, std::vector<arrived_update> updates);
  /// The value with all that has come, and which of this node's updates are in it. Nothing if
  /// somebody holds the value.
  std::optional<std::pair<std::vector<std::byte>, std::uint64_t>> value(value_name name) const;
  void replaced(value_name name, std::uint64_t version, arrived_value value);
  /// The home has put this node's updates in order, up to that number.
  void taken(value_name name, std::uint64_t version, std::uint64_t number);
  void gone(value_name name);
  /// Ends the replicas that nothing here refers to. Only while no task of another node is here.
  void forget_unused();
  void end_job() noexcept;
  /// Whether a thread waits for what the functions above tell of.
  bool is_awaited() const noexcept { return waiting_.load(std::memory_order_seq_cst) != 0; }
  /// From now on other nodes are told of updates. Called while nothing runs.
  void begin_job();

private:
  friend class gathered_base;
  struct known {
    gathered_base* value = nullptr;
    std::shared_ptr<gathered_base> keep;  // a replica
    std::shared_ptr<void> users;          // for one made here: references that came from elsewhere
  };
  template <class Change>
  void change(value_name name, Change change_traffic);
  void note(value_name name) noexcept;
  carrier* net() const noexcept;

  replicas& node_;
  mutable std::mutex mutex_;
  std::map<value_name, known> all_;
  std::set<value_name> noted_;                 // those that take_news() is to look at
  std::map<value_name, std::uint64_t> unmet_;  // versions of those that are not here yet
  std::atomic<unsigned> waiting_{0};
};

}  // namespace cleave::detail
