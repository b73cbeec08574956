#pragma once

#include <cleave/detail/first_error.hpp>
#include <cleave/detail/task.hpp>
#include <cleave/detail/travel/bytes.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// Subtasks and what they depend on, without the types of their data.
namespace cleave::detail {

struct vertex;
class subtask;
class graph_memory;
class graph_scope;
class distribution;
class lending;
class replay;
struct replayed;
class team_node;

/// `to` comes after the vertex in whose list this is.
struct edge {
  vertex* to;
  edge* next;
};

/// A subtask as others know it. In front of the subtask, in one block of the graph's memory. When
/// the subtask is done the block may be used again, by the owner of the graph: then the vertex has
/// another number.
///
/// The invariant: `unmet` counts the subtasks that must come before it and are not done, and one
/// while it is being made. Whoever takes the last one away makes it ready, or drops it: once.
struct alignas(std::max_align_t) vertex {
  graph_memory* of = nullptr;
  std::uint64_t number = 0;                // the place in program order, which the owner writes
  std::atomic<edge*> successors{nullptr};  // done(): the subtask is done, and has told them
  std::atomic<std::uint64_t> path{0};      // in a profile: where the subtask ended
  std::atomic<std::uint32_t> unmet{1};
  std::uint32_t size_class = 0;
  std::uint64_t named_by = 0;  // the last link() that found it; the owner's

  static edge* done() noexcept;
  /// Has e.to come after this vertex. Returns false if this one is done; then nothing is kept of e.
  bool precede(edge& e) noexcept;
};

/// Names a subtask, which may be done. Only the owner of the graph uses it, while the graph lives.
struct vertex_ref {
  vertex* at = nullptr;      // null: no subtask, or one on another node
  std::uint64_t number = 0;  // 0: no subtask
  unsigned rank = 0;         // the node that runs the subtask
  /// The vertex; null if the subtask is done, unless this is a profile.
  vertex* get() const noexcept;
};

/// Blocks for subtasks. The owner takes them, anybody gives them back. All memory is kept until the
/// end, so a vertex can be looked at when its subtask is done.
class graph_memory {
public:
  graph_memory() noexcept = default;
  ~graph_memory();
  graph_memory(const graph_memory&) = delete;
  graph_memory& operator=(const graph_memory&) = delete;

  /// Owner only. Room for a subtask of this size, behind a new vertex. Throws std::bad_alloc.
  void* take(std::size_t size);
  static void give_back(void* subtask) noexcept;
  /// Owner only. How many blocks should be given back before the next one of the last size is
  /// taken, so that the thousand that there are already are enough.
  std::size_t missing() const noexcept;

private:
  struct free_block {
    free_block* next;
  };
  static constexpr std::size_t line = 64, classes = 16, at_a_time = 16, few = 64;

  free_block* more(std::size_t blocks, std::size_t lines, std::size_t k);

  std::array<free_block*, classes> free_{};  // the owner's
  std::array<std::atomic<free_block*>, classes> given_back_{};
  std::vector<void*> all_;
  std::size_t last_ = 0;  // the class that was taken from last
};

enum class access_mode : std::uint8_t { in, out, inout, add };

/// The subtasks, of those made so far, that read and write a datum. Only the owner of the graph
/// uses it.
///
///     writers write its newest value, and are several if they add; they come after `before`.
///     readers read that value; they come after the writers.
class datum_uses {
public:
  /// The lock that one subtask at a time holds while it adds. Whoever touches it holds the graph's
  /// `locks_mutex_`.
  struct adding_lock {
    bool taken = false;
    subtask *first = nullptr, *last = nullptr;  // a list of those that lack only this lock
  } lock;

  /// Makes room for one more use by this link(); forgets some uses that are done. Throws
  /// std::bad_alloc.
  void make_room(std::uint64_t link);
  /// Appends the subtasks that a new use must come after, that are not done, and that this link()
  /// has not appended yet. Throws std::bad_alloc.
  void collect(access_mode mode, std::uint64_t link, std::vector<vertex*>& before) const;
  /// Enters the new use. Called after make_room().
  void enter(access_mode mode, vertex_ref by) noexcept;

  using list = std::vector<vertex_ref>;
  /// What a new use must come after, if it is a long list that stays, so that further uses would
  /// have to come after all of it too. Else null. The caller may put a subtask in its place that
  /// comes after all of it.
  list* long_list(access_mode mode) noexcept;

private:
  /// A list of this length stays as it is: a subtask has room for as many edges.
  static constexpr std::size_t few = 4;
  const list& newest() const noexcept { return readers_.empty() ? writers_ : readers_; }
  bool goes_on_adding() const noexcept { return adding_ && readers_.empty(); }

  list writers_, readers_, before_;
  std::uint64_t named_by_ = 0;  // the last link() that made room
  std::size_t uses_ = 0;        // the uses that it made room for
  bool adding_ = false;
};

/// Which nodes of a team have the newest value of a datum, and which runs what writes it. All nodes
/// keep the same. Only the owner of the graph uses it.
struct datum_place {
  std::uint32_t number = 0;  // from 0 on
  unsigned home = 0;
  std::vector<unsigned> holders;  // in the order in which they got it; none: all have it
  bool is_here = true;
  // Where else subtasks have read the newest value, and the one before it. See distribution::push.
  std::vector<unsigned> read_at, read_before_at;
  bool has(unsigned rank) const noexcept;
};

/// What a graph keeps of a datum, besides its value.
struct any_datum {
  virtual ~any_datum() = default;
  /// put() and get() carry the value from one node to another, in graphs of a team.
  virtual void put(byte_writer&) const {}
  virtual void get(byte_reader&) {}
  /// Another datum of the same type, for a value that comes from elsewhere; null: there is none.
  virtual std::unique_ptr<any_datum> make_other() const { return nullptr; }
  virtual bool can_make_other() const noexcept { return false; }
  const void* graph = nullptr;
  datum_uses uses;
  datum_place place;
};

/// How a subtask uses a datum.
struct datum_use {
  any_datum* of;
  access_mode mode;
};

/// The use whose datum has the home where a subtask runs, if nobody says otherwise: the first one
/// that writes, else the first one. Null if there is none.
template <class Use>
const Use* deciding(std::span<const Use> uses) noexcept {
  for (const Use& u : uses)
    if (u.mode != access_mode::in) return &u;
  return uses.empty() ? nullptr : &uses.front();
}

/// One call of the user's function. It is a task of the graph's group from when it is ready.
class subtask : public group_task {
public:
  explicit subtask(graph_scope& g) noexcept;
  subtask(const subtask&) = delete;
  subtask& operator=(const subtask&) = delete;
  /// Subtasks that come after this one need not wait any more. They are dropped, too, if it has not
  /// run.
  ~subtask() override;
  void execute() noexcept final;

  vertex& in_graph() noexcept { return *(reinterpret_cast<vertex*>(this) - 1); }
  static subtask& of(vertex& v) noexcept { return *reinterpret_cast<subtask*>(&v + 1); }

  static void* operator new(std::size_t size, graph_memory& from) { return from.take(size); }
  static void operator delete(void* at, graph_memory&) noexcept { graph_memory::give_back(at); }
  static void operator delete(void* at) noexcept { graph_memory::give_back(at); }

protected:
  /// What a subtask is, and who runs it when it is ready: any worker; who made it ready, at once;
  /// any worker, and it was pending before it was ready; nobody, as it only joins those before it.
  enum class kind : std::uint8_t { call, send, receive, join };
  subtask(graph_scope& g, kind k) noexcept : subtask(g) { kind_ = k; }

  virtual void call() = 0;
  /// Has call() use other data of the same types, which are given in the order of the uses.
  virtual void use_instead(std::span<any_datum* const>) noexcept {}
  /// Called instead of call() if a subtask before this one has thrown.
  virtual void skip() noexcept {}

private:
  friend class graph_scope;
  friend class distribution;
  friend class lending;
  friend class ready_order;
  friend class replay;
  class joining;
  graph_scope& graph() const noexcept;
  std::span<datum_uses* const> adds_to() const noexcept { return {adds_to_.get(), adds_}; }
  static constexpr std::size_t most_inside = 4;

  std::array<edge, most_inside> edges_{};
  std::unique_ptr<edge[]> more_edges_;  // for a subtask that comes after more than that
  std::unique_ptr<datum_uses*[]> adds_to_;
  std::uint32_t adds_ = 0;        // how many data it adds to
  std::uint32_t role_ = 0;        // in a graph that is planned anew: its role's number plus one
  subtask* next_ = nullptr;       // the next one that waits for the same datum
  replayed* replayed_ = nullptr;  // what it is in the rounds of repeat(); null: it runs once
  bool locked_ = false;           // the subtask has the locks of all that it adds to
  bool completed_ = false;        // the subtasks after it have been told
  bool in_turn_ = false;          // ready_order has given it to the workers
  kind kind_ = kind::call;
};

/// The ready subtasks of a graph whose earliest is to begin first. Only as many as there are
/// workers are in their deques, or run: they are in turn. Whoever ends one puts the earliest of the
/// others in its place.
///
/// The invariant: others wait only while `workers` are in turn. So something of the graph is
/// pending as long as any is ready.
class ready_order {
public:
  explicit ready_order(unsigned workers) noexcept : workers_(workers) {}
  /// Adds one that is ready. Returns the subtask that is in turn from now on, or null. Throws
  /// std::bad_alloc; then nothing has changed.
  subtask* add(subtask& s);
  /// One that was in turn has ended, or was dropped. Returns the one in its place, or null.
  subtask* take_next() noexcept;
  /// How many more could be in turn.
  unsigned room() noexcept;
  /// Whether that holds for those that wait. It is called with a mutex of this object.
  bool has(const std::function<bool(std::span<subtask* const>)>& holds);
  /// How many are ready and not in turn.
  std::size_t waiting() const noexcept { return count_.load(std::memory_order_relaxed); }
  /// Takes one of those that wait, which `choose` names by its place among them; null if it names
  /// none. `choose` is called with a mutex of this object.
  subtask* take(const std::function<std::optional<std::size_t>(std::span<subtask* const>)>& choose);

private:
  subtask* earliest() noexcept;

  const unsigned workers_;
  std::mutex mutex_;
  std::vector<subtask*> waiting_;      // a heap, with that mutex
  unsigned in_turn_ = 0;               // with that mutex
  std::atomic<std::size_t> count_{0};  // of those that wait; changed with that mutex
};

/// What a graph is without the types of its data.
class graph_scope : public group_scope {
public:
  graph_scope() noexcept;
  ~graph_scope();
  graph_scope(const graph_scope&) = delete;
  graph_scope& operator=(const graph_scope&) = delete;

protected:
  /// Owner only. Runs a subtask when all that it must come after is done, which may be at once;
  /// `after` is a part of that. Throws std::bad_alloc, and what a poll does.
  vertex_ref enter(std::unique_ptr<subtask> s, std::span<const datum_use> uses,
                   std::span<const vertex_ref> after);
  /// Blocks until all is done, on all nodes. False if the graph was cancelled. Throws the first
  /// error.
  bool finish();
  /// Blocks until nothing of the graph is left here. Cancels the graph if it `unwinds`.
  void end(bool unwinds) noexcept;
  /// Cancels the graph, on all nodes if it has several. Any thread may call it.
  void cancel_all() noexcept;
  /// Owner only. From now on the earliest subtask that is ready begins first.
  void order_ready();

  // These serve a graph of a team; with one member they do nothing. Only the owner calls them.

  /// `plan` is a file, or empty. Throws std::logic_error if the caller is no worker, and what
  /// distribution::open_plan() does. `lends`: idle nodes are given subtasks of others.
  void distribute(team_node& of, const std::string& plan, bool lends = false);
  /// Throws std::invalid_argument if there are no steps, std::logic_error if called twice.
  void replan(unsigned steps);
  /// Decides which node runs the subtask that is made next, which is `of`. Returns whether it is
  /// this node.
  bool place(const char* name, std::span<const datum_use> uses, std::span<vertex_ref> after,
             std::optional<unsigned> rank, vertex_ref& of);
  /// Says that a subtask was placed here and could not be made: wait() throws why, on all nodes.
  /// Called in the handler.
  void not_made(std::span<const datum_use> uses, std::span<const vertex_ref> after) noexcept;
  /// Whether this node may run the subtask that was placed last on another one.
  bool keeps_functions() const noexcept;
  graph_memory& memory_of_functions() noexcept;
  void keep_function(std::unique_ptr<subtask> s);
  void give_home(any_datum& d);
  void home(any_datum& d, unsigned rank) const;
  void bring_to(any_datum& d, unsigned rank);
  void bring_to_all(any_datum& d);
  void begin_mine();
  void next_of_mine(std::uint64_t i, std::uint64_t n);
  void end_mine(std::uint64_t n);

  // repeat() calls these. Only the owner does.

  /// Waits for what was made before, and from here on keeps the subtasks that are made. Returns
  /// false if the rounds have to be made one by one. Throws std::logic_error within another one.
  bool begin_replay(std::uint64_t rounds);
  /// Runs what was kept, in all rounds. Blocks until that is done here, or will not be.
  void run_replay();
  /// Forgets what was kept.
  void drop_replay() noexcept;
  /// Throws std::logic_error between begin_replay() and what ends it.
  void refuse_in_replay(const char* what) const;

  graph_memory memory;
  first_error error;
  std::unique_ptr<lending> lends;       // null unless nodes give each other subtasks
  std::unique_ptr<distribution> nodes;  // null unless a team of several members shares the graph

private:
  friend class subtask;
  friend class distribution;
  friend class lending;
  friend class replay;
  /// Makes a subtask run when that is possible. `number` is its place in program order.
  vertex_ref link(std::unique_ptr<subtask> s, std::span<const datum_use> uses,
                  std::span<const vertex_ref> after, std::uint64_t number);
  void join(datum_uses::list& all, std::uint64_t number);
  std::uint32_t put_behind(subtask& s, std::uint64_t number);
  void are_met(subtask& s, std::uint32_t met);
  void keep(std::uint64_t number, std::exception_ptr e) noexcept;
  bool take_locks(subtask& s) noexcept;
  bool lock(subtask& s) noexcept;
  void start(subtask& s);
  void start_or_keep(subtask& s) noexcept;
  void unlock(subtask& s) noexcept;
  void complete(subtask& s) noexcept;
  void drop(edge* first) noexcept;
  void start_in_order(subtask& s);
  void end_turn() noexcept;

  std::uint64_t made_ = 0;       // the last number
  std::uint64_t links_ = 0;      // calls of link()
  std::vector<vertex*> before_;  // what the subtask that is being made must come after
  std::mutex locks_mutex_;       // guards the locks of data to which subtasks add
  bool is_planned_anew_ = false;
  std::unique_ptr<ready_order> order_;  // null: the newest subtask that is ready begins first
  std::unique_ptr<replay> replay_;      // null unless repeat() is called
};

}  // namespace cleave::detail
