#pragma once

#include <cleave/detail/built_with.hpp>
#include <cleave/detail/completion.hpp>
#include <cleave/detail/frame.hpp>
#include <cleave/detail/pending.hpp>
#include <cleave/task.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace cleave::detail {

/// Thrown at a poll of a cancelled scope; caught by the scope and at the root of a task. Not a
/// std::exception, so that only `catch (...)` meets it, which has to rethrow.
struct cancelled {};

/// A node in the tree of who works for whom: a task, a task group or a cancellation scope.
/// A scope outlives all that is below it, because whoever opened it waits for that.
struct scope {
  explicit scope(scope* up) noexcept { put_below(up); }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

  /// Called only while nothing is below this scope.
  void put_below(scope* up) noexcept {
    if (parent != up) parent = up;  // others may read it
    if (up == nullptr) {
      depth = 0, leap = this;
      return;
    }
    const scope *one = up->leap, *two = one->leap;
    depth = up->depth + 1;
    leap = up->depth - one->depth == one->depth - two->depth ? two : up;
  }

  scope* parent = nullptr;
  /// Some scope above it, itself if none is: so that any above it is found in O(log depth) steps
  /// (E. W. Myers, An applicative random-access stack, 1983).
  const scope* leap;
  std::uint32_t depth;  // how many are above it
  std::atomic<bool> stopped{false};
  /// Whether a task was ever made below it. If not, only the thread that is in the scope works for
  /// it.
  std::atomic<bool> shared{false};

  /// Called before a task below the scope is given to others. Only a thread that works for the
  /// scope calls it.
  void share() noexcept {
    if (!shared.load(std::memory_order_relaxed)) [[unlikely]]
      share_up();
  }

protected:
  /// Called by the destructors: the scope is marked no more. A destructor that forgets this makes
  /// stopped() slow.
  void end() noexcept {
    if (stopped.load(std::memory_order_relaxed)) [[unlikely]]
      forget_mark();
  }

private:
  static void forget_mark() noexcept;
  void share_up() noexcept;
};

/// Whether s is the scope `wanted`, which has that depth, or below it. `wanted` may be gone.
inline bool is_within(const scope* s, const scope* wanted, std::uint32_t depth) noexcept {
  while (s->depth > depth) s = s->leap->depth >= depth ? s->leap : s->parent;
  return s == wanted && s->depth == depth;
}

/// True if s or anything above it was cancelled.
bool stopped(const scope* s) noexcept;

/// stopped(), for what the program is told. stop() marks first and rings later, so the thread that
/// was told rings itself: every later poll of this thread throws, while what it works for is
/// cancelled.
bool told_stopped(const scope* s) noexcept;

/// Whether the calling thread is a worker that checks (options::check).
bool is_checked() noexcept;

/// Marks a scope cancelled and tells all workers. Any thread.
void stop(scope& s) noexcept;

/// The mark of a scope that was cancelled by the thread that runs it, while nobody else worked for
/// it. Such a mark is this thread's alone, in a list, and costs no more than a few calls. It
/// becomes everybody's when something around or below it is given away.
struct own_mark {
  own_mark* before = nullptr;
  bool stands = false;
};
/// Marks a scope that the calling thread runs, and that is not shared.
void cancel_own(scope& s, own_mark& mark) noexcept;
/// Takes the mark back, if it still is this thread's alone. Called where the thread leaves the
/// scope.
void forget_own(scope& s, own_mark& mark) noexcept;

/// Makes the next poll of a thread that is no worker look whether its scope was cancelled. Any
/// thread, after stop().
void interrupt(local& thread) noexcept;

/// A scope's place in the list of frames: frames further in belong to it.
struct scope_frame : frame {
  scope* self;
  scope* previous;
  /// Seen frames of this scope before this index have nothing left to give: to a worker, and to
  /// another node.
  std::uint32_t cursors[2];

  explicit scope_frame(scope& s) noexcept;
  ~scope_frame() { here.innermost = outer, here.current = previous; }
  scope_frame(const scope_frame&) = delete;
  scope_frame& operator=(const scope_frame&) = delete;
};

/// A piece of work that was given away. The owner of the frame that it came from frees it, at the
/// join.
struct task : scope {
  static constexpr unsigned nobody = ~0u;
  /// Says who frees a task: the one that joins it, the task itself (in a group), or the one that
  /// speaks for other nodes.
  enum class kept : std::uint8_t { by_owner, by_itself, by_other_nodes };

  task() noexcept : scope(nullptr) {}
  virtual ~task() { end(); }
  virtual void execute() noexcept = 0;  // runs the work, keeps its result or its exception
  /// Called once the result or the exception is in the task, before whoever waits is told: by the
  /// worker that ran it, or by the thread that speaks for other nodes.
  virtual void ended() noexcept {}

  worker* owner = nullptr;   // the worker that waits; null: another thread, or nobody
  unsigned runner = nobody;  // the worker whose mailbox it was handed to
  task* before = nullptr;    // the part of the same frame given before this one; or a list's next
  kept is_kept = kept::by_owner;
  const wire_type* wire = nullptr;  // how it leaves the process; null: it does not
  std::uint32_t generation = 0;     // how often it was divided from the root
  std::size_t depth = 0;    // bytes of stack from the root's construct to where it was divided
  std::uint64_t ticks = 0;  // before it runs: when it was made; then: how long it ran, 0: not known
  /// The floating-point environment that the task computes in (machine/floating_point.hpp); 0: that
  /// of the worker that runs it.
  std::uint64_t floating = 0;
  std::uint32_t made_by = 0;   // for one from another node: the worker there
  std::uint32_t made_at = 0;   // the maker's node's address plus one; 0: this node
  const char* name = nullptr;  // in traces; null: none
  std::exception_ptr error;
  completion<std::atomic<std::uint32_t>> completed;

  bool done() const noexcept { return completed.is_reached(); }
};

/// How a worker that waits receives itself what other nodes send, in the place of a thread that
/// sleeps: begin, look as often as it likes, end.
class message_watch {
public:
  /// Begins to watch. Returns false if another worker watches, or watching is impossible.
  virtual bool begin_watch() noexcept = 0;
  /// Receives what has come. Returns whether there was something. Does not block.
  virtual bool look() noexcept = 0;
  /// Says that the worker will look again after something short. If that takes a millisecond or
  /// more, the thread that sleeps looks.
  virtual void keep_watch() noexcept = 0;
  virtual void end_watch() noexcept = 0;

  /// Microseconds for which it is worth to look before the worker sleeps, learnt of late. Relaxed:
  /// any value is right.
  std::atomic<std::uint32_t> patience{0};

protected:
  ~message_watch() = default;
};

/// A task group as others see it. Its tasks free themselves.
struct group_scope : scope {
  group_scope() noexcept : scope(here.current), owner(here.self) {}
  ~group_scope() { end(); }

  worker* const owner;                                // the worker that waits; null: another thread
  local* const thread = &here;                        // the thread that made the group
  pending_tasks<std::atomic<std::uint32_t>> pending;  // tasks spawned and not finished
  // Owner only: the place in its deque below which there are no tasks of this group.
  mutable std::int64_t lowest = (std::numeric_limits<std::int64_t>::max)();
  // Owner only: the group that had tasks in the deque before this one.
  group_scope* filled_before = nullptr;
  std::uint64_t path = 0;               // in a profile: where the longest of its tasks ends
  message_watch* from_nodes = nullptr;  // null unless other nodes' messages make its tasks ready
};

/// Memory for tasks: that of the calling worker, if there is one. Throws std::bad_alloc.
void* allocate_task(std::size_t bytes);
/// Any thread.
void free_task(void* memory) noexcept;

/// A base of tasks that are made in such memory, unless their alignment rules that out.
struct in_task_memory {
  static void* operator new(std::size_t bytes) { return allocate_task(bytes); }
  static void operator delete(void* memory) noexcept { free_task(memory); }
  static void* operator new(std::size_t bytes, std::align_val_t a) {
    return ::operator new(bytes, a);
  }
  static void operator delete(void* memory, std::align_val_t a) noexcept {
    ::operator delete(memory, a);
  }
};

/// A task of a group. The last thing its execution does is to count itself off.
struct group_task : task {
  explicit group_task(group_scope& g) noexcept {
    put_below(&g), is_kept = kept::by_itself, floating = here.floating;
    g.share();
  }
  /// Called when the task has run: nobody but the program may need it any more.
  virtual void dispose() noexcept { delete this; }
  /// What is said of it to nodes that ask in vain; null: nothing.
  virtual const staying_type* stays() const noexcept { return nullptr; }

  std::uint64_t path = 0;  // in a profile: the least position at which it begins
};

/// Makes a task ready, for this worker or any other; runs it at once on a thread that is no worker.
void spawn(group_task& t);
/// Cancels the group. Any thread may call it while the one that made the group lives.
void cancel(group_scope& g) noexcept;
/// Has a worker run a task that is counted as pending already, in a group that a worker made. Any
/// thread may call it.
void make_ready(group_task& t) noexcept;
/// How far along the longest path of a profile the calling worker is; 0 in other runtimes.
std::uint64_t path_position() noexcept;
/// Helps with the group's tasks until none is left; with nothing else. Only for the thread that
/// made the group.
void wait(group_scope& g) noexcept;
/// If more than `if_more` tasks are ready on this worker, runs one of the group here. Whoever makes
/// many tasks calls it after each, so that they stay in its caches. Only for the thread that made
/// the group.
void help(group_scope& g, std::int64_t if_more) noexcept;
/// Runs a task of the group that is ready, on whichever worker. Returns false if there is none.
bool help(group_scope& g) noexcept;
/// How many workers run tasks of the group.
unsigned workers_of(const group_scope& g) noexcept;
/// Whether the calling thread made the group, and is not in a task of it.
bool is_mine(const group_scope& g) noexcept;

/// What a call contributes: a copy of what a reference refers to, `nothing` for nothing.
template <class R>
using value_of = std::conditional_t<std::is_void_v<R>, nothing, std::remove_cvref_t<R>>;

template <class F, class... A>
[[gnu::always_inline]] inline auto value(F&& f, A&&... a) {
  if constexpr (std::is_void_v<std::invoke_result_t<F, A...>>) {
    std::forward<F>(f)(std::forward<A>(a)...);
    return nothing{};
  } else {
    return std::forward<F>(f)(std::forward<A>(a)...);
  }
}

/// What work.run() contributes. It is no value() of a closure: that would count when GCC decides
/// how far to inline a recursion, and fib took a tenth longer.
template <class Work>
[[gnu::always_inline]] inline auto value_of_run(Work& work) {
  if constexpr (std::is_void_v<decltype(work.run())>) {
    work.run();
    return nothing{};
  } else {
    return work.run();
  }
}

/// A task with the user's struct and room for its result.
template <class Work>
struct task_of : task, in_task_memory {
  using result_type = value_of<std::remove_cvref_t<decltype(std::declval<Work&>().run())>>;

  /// Puts what make() returns into its place: nothing is moved that could be lost by an exception.
  template <class Make>
    requires std::is_invocable_r_v<Work, Make&>
  explicit task_of(Make&& make) : work(make()) {}
  explicit task_of(Work&& w) : work(std::move(w)) {}

  void execute() noexcept override {
    try {
      result.emplace(value_of_run(work));
    } catch (...) { error = std::current_exception(); }
  }

  Work work;
  std::optional<result_type> result;
};

/// A closure as a task: it can only be given within the process.
template <class F>
struct closure_task {
  F f;
  decltype(auto) run() { return f(); }
};

/// Waits until the task is done, helping with parts of it and nothing else; runs it here if nobody
/// has begun it. Does not throw what the task threw.
[[gnu::noinline, gnu::cold]] void join(task& t) noexcept;

/// A part that is taken off its frame's hands. It owns a task, and not a Task: compilers take
/// longer for one more type of std::unique_ptr than for all else here.
template <class Task>
class joined {
public:
  /// Waits for the part. Throws what it threw.
  explicit joined(task* t) : part_(t) {
    join(*t);
    if (t->error) std::rethrow_exception(t->error);
  }
  typename Task::result_type& result() noexcept { return *static_cast<Task&>(*part_).result; }

private:
  std::unique_ptr<task> part_;
};

/// Cancels a part and those given before it, waits for them and frees them.
[[gnu::noinline, gnu::cold]] void abandon(task* last) noexcept;

/// Whether a part of the frame was given away.
[[gnu::always_inline]] inline bool was_given(const frame& f) noexcept {
  return (f.tag & frame::given) != 0;
}

/// Takes a frame off the list that an exception leaves, and abandons what was given of it.
[[gnu::noinline, gnu::cold]] void abandon_frame(work_frame& f) noexcept;

/// Takes a frame off the list, whatever way it is left. A destructor rather than a catch: less code
/// at every construct, so that the compiler inlines deeper.
struct leave {
  work_frame& f;
  frame* outer;
  bool by_exception = true;

  [[gnu::always_inline]] ~leave() {
    if (by_exception) {
      abandon_frame(f);
    } else {
      here.innermost = outer;
    }
  }
};

}  // namespace cleave::detail
