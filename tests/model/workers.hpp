#pragma once

#include "explore.hpp"
#include "platform.hpp"

#include <cleave/detail/task.hpp>

#include <array>
#include <string>
#include <utility>

/// Workers around the real mailbox and the real sequences of protocol.hpp, with tasks that only
/// count their executions. What is left to mirror of worker.cpp and runtime.cpp is short, and names
/// what it mirrors.
namespace model {

struct worker;

/// A task, with `parts` of its work to give away or to do itself.
struct task : scope {
  task() : scope(nullptr) {}

  task* part = nullptr;  // the first of its parts, the others behind it
  int parts = 0;
  int polls = 0;               // how often it polls before it does what was not given
  int needs_polls = 0;         // before that poll there is nothing to give
  bool patient = false;        // polls until all is given: it hangs if a request was lost
  bool learns = false;         // sets another cutoff after each poll
  bool generous = false;       // gives parts to all that ask at one poll
  int failures = 0;            // how many splits throw,
  int fails_at = 0;            // when so many parts were given
  task* ends_after = nullptr;  // computes until this one is done, without polling

  worker* runner = nullptr;
  worker* owner = nullptr;
  cleave::detail::completion<platform::atomic<std::uint32_t>> completed;
  int polled = 0, taken = 0, runs = 0;

  bool done() const { return completed.is_reached(); }
  void await_end() { completed.word().await(completed.ended); }
  void divides_into(task* first, int n) {
    part = first, parts = n;
    for (int i = 0; i < n; ++i) first[i].parent = this;
  }
};

struct pool {
  explicit pool(unsigned n) : size(n), meeting(n) {}

  unsigned size;
  unsigned most_askers = 0;  // 0: nobody waits for room
  unsigned spins = 0;        // how often an asker spins before it presses, and again after it
  unsigned patience = 0;     // how often it is patient
  bool quiet = false;        // it rings nobody before it presses
  worker* workers = nullptr;
  cleave::detail::exchange<platform> meeting;
  platform::atomic<std::uint32_t> stopping{0};
  platform::atomic<std::uint32_t> roots_waiting{0}, roots_unlocked{1};
  std::array<task*, 2> roots{};
  std::uint32_t first = 0, last = 0;

  bool has_root() const { return roots_waiting.load() != 0; }
  task* take_root();        // pool::roots.take
  void submit(task& root);  // pool::run up to its wait
  void run(task& root);     // pool::run
  void stop();              // ~pool
};

struct worker {
  worker(pool& p, unsigned number) : of(p), id(number) { p.meeting.boxes[number] = &box; }

  pool& of;
  unsigned id;
  platform::atomic<std::uint32_t> word{0};
  platform::cutoff cutoff{1};
  cleave::detail::mailbox<platform> box{word, cutoff};
  std::array<task*, 4> frames{};
  unsigned depth = 0;

  cleave::detail::member<platform> self() { return {of.meeting, box, id}; }

  /// beyond_cutoff(), which no poll gets past that is not asked to, rung_signals(), and
  /// worker::answer.
  [[gnu::noinline]] void poll(task& t) {
    if (t.patient && t.taken < t.parts) {
      cutoff.await(1);
      word.await(~0u);
    } else if (cutoff.load(std::memory_order_relaxed) == 0 ||
               word.load(std::memory_order_relaxed) == 0) {
      return;
    }
    respond();
  }
  [[gnu::noinline]] void respond() {  // worker::respond
    const std::uint32_t signals = box.take_signals();
    if ((signals & (asked | parked)) != 0) serve();
    box.set_cutoff(1);  // worker::set_cutoff
  }

  [[gnu::noinline]] void serve() {  // worker::serve
    using cleave::detail::search_end;
    task* from = nullptr;
    auto find = [&](const scope* wanted, std::uint32_t, bool) {
      bool mine = false;
      from = oldest(wanted, mine);
      if (!mine) return search_end::not_mine;
      return from == nullptr ? search_end::nothing : search_end::given;
    };
    auto make = [&](unsigned asker) -> request {
      if (from->failures > 0 && from->taken == from->fails_at) return --from->failures, 0;
      task& t = from->part[from->taken++];
      t.owner = this, t.runner = &of.workers[asker];
      return reinterpret_cast<request>(&t);
    };
    auto more = [&] { return from->generous && from->taken < from->parts; };
    cleave::detail::serve_askers(self(), find, make, more);
  }
  task* oldest(const scope* wanted, bool& mine) const {  // frame_list::oldest
    for (unsigned i = 0; i < depth; ++i) {
      for (const scope* s = frames[i]; wanted != nullptr && !mine && s != nullptr; s = s->parent) {
        mine = s == wanted;
      }
      mine = mine || wanted == nullptr;
      task& t = *frames[i];
      if (mine && t.taken < t.parts && t.polled >= t.needs_polls) return &t;
    }
    mine = mine || wanted == nullptr;
    return nullptr;
  }

  struct persistence {  // worker::persistence; out of line, for fewer states
    [[gnu::noinline]] bool spins() { return spun < most_spins && ++spun != 0; }
    void restart() { spun = 0; }
    void blocks() const {}
    [[gnu::noinline]] bool patient() { return patience != 0 && patience-- != 0; }
    unsigned most_spins, patience, spun = 0;
  };
  template <class Finished>
  [[gnu::noinline]] bool waits_in_vain(Finished finished) {
    cleave::detail::wait_for_room(self(), of.most_askers, finished, [this] { respond(); });
    return finished();
  }
  template <class Finished>
  task* obtain(const scope* wanted, worker* likely, Finished finished) {  // worker::obtain
    if (wanted == nullptr && of.most_askers != 0 && waits_in_vain(finished)) return nullptr;
    persistence with{of.spins, of.patience};
    cleave::detail::open_request<platform> asking(
        self(), wanted, likely != nullptr ? likely->id : (id + 1) % of.size, of.patience == 0,
        of.quiet && wanted == nullptr);
    return reinterpret_cast<task*>(asking.wait(
        finished, [this] { respond(); }, with));
  }

  [[gnu::noinline]] void work() {  // worker::work
    auto stopping = [this] { return of.stopping.load(std::memory_order_acquire) != 0; };
    while (!stopping()) {
      task* t = of.take_root();
      if (t == nullptr) t = obtain(nullptr, nullptr, [&] { return stopping() || of.has_root(); });
      if (t != nullptr) execute(*t);
    }
  }

  [[gnu::noinline]] void execute(task& t) {  // worker::execute
    box.set_cutoff(1);
    cleave::detail::begin_to_compute(self(), depth == 0);
    run(t);
    if (depth == 0) of.meeting.computing.clear(id);
    worker* const owner = t.owner;
    const bool rings = t.completed.end();
    if (owner == nullptr) {
      t.completed.word().wake();
    } else if (rings && owner != this) {
      owner->box.ring(news);
    }
  }
  /// What a construct does: polls, then does its parts itself or joins those given.
  [[gnu::noinline]] void run(task& t) {
    require(t.runs++ == 0, "a task was executed twice");
    frames[depth++] = &t;
    while (t.polled < t.polls || (t.patient && t.taken < t.parts)) {
      ++t.polled;
      poll(t);
      if (t.learns) box.set_cutoff(1);  // worker::end_timing
    }
    if (t.ends_after != nullptr) t.ends_after->await_end();
    for (int i = 0; i < t.parts; ++i) {
      if (i < t.taken) {
        join(t.part[i]);
      } else {
        t.taken = i + 1;
        run(t.part[i]);
      }
    }
    --depth;
  }
  [[gnu::noinline]] void join(task& t) {  // worker::join
    if (t.runner->box.reclaim(reinterpret_cast<request>(&t))) return execute(t);
    while (t.completed.await()) {
      if (task* part = obtain(&t, t.runner, [&] { return t.done(); })) execute(*part);
    }
    require(t.runs == 1, "a join ended before its task");
  }
};

inline task* pool::take_root() {
  if (!has_root()) return nullptr;
  roots_unlocked.await(1, 1);
  task* const t = first == last ? nullptr : roots[first++];
  roots_waiting.store(last - first, std::memory_order_relaxed);
  roots_unlocked.store(1, std::memory_order_release);
  return t;
}
inline void pool::submit(task& root) {
  cleave::detail::announce(meeting, [&] {
    const bool weak = broken == fault::root_released;
    roots_unlocked.await(1, 1);
    roots[last++] = &root;
    roots_waiting.store(last - first, weak ? std::memory_order_release : std::memory_order_seq_cst);
    roots_unlocked.store(1, std::memory_order_release);
  });
}
inline void pool::run(task& root) {
  submit(root);
  while (!root.done()) root.completed.word().block(root.completed.open);
}
inline void pool::stop() {
  stopping.store(1, std::memory_order_release);
  for (unsigned i = 0; i < size; ++i) workers[i].box.ring(news);
}

/// What all scenarios share: `Size` workers and a few tasks.
template <unsigned Size>
struct crew {
  pool of{Size};
  std::array<worker, Size> workers;
  std::array<task, 3> tasks;
  int made = 0;  // how many of the tasks must have been executed in the end

  crew() : crew(std::make_integer_sequence<unsigned, Size>{}) {}
  template <unsigned... I>
  explicit crew(std::integer_sequence<unsigned, I...>) : workers{{worker{of, I}...}} {
    of.workers = workers.data();
    platform::crowd = &of.meeting.crowd;
  }
  static constexpr unsigned threads() { return Size; }
  void check() const {
    for (int i = 0; i < made; ++i) {
      require(tasks[static_cast<unsigned>(i)].runs == 1, "a task was not executed");
    }
  }
  /// Worker 0 computes the root from the start; the pool stops when it has done it.
  void run(unsigned i) {
    if (i != 0) return workers[i].work();
    workers[0].execute(tasks[0]);
    of.stop();
  }
  std::string name(const void* at) const {
    auto in = [at](const auto& object) {
      const auto* begin = reinterpret_cast<const char*>(&object);
      return at >= begin && at < begin + sizeof object;
    };
    for (unsigned i = 0; i < workers.size(); ++i) {
      const std::string number = std::to_string(i);
      if (in(workers[i].word)) return "word of " + number;
      if (in(workers[i].cutoff)) return "cutoff of " + number;
      if (in(workers[i].box)) return "request of " + number;
    }
    for (unsigned i = 0; i < tasks.size(); ++i) {
      if (in(tasks[i])) return "task " + std::to_string(i);
    }
    return in(of.meeting.askers)      ? "askers"
           : in(of.meeting.computing) ? "computing"
           : in(of.meeting.crowd)     ? "crowd"
           : in(of.stopping)          ? "stopping"
                                      : "roots";
  }
};

}  // namespace model
