// labels: once
// The deque of ready tasks, and a group that spawns into it and waits.
#include "core/deque.hpp"

#include "workers.hpp"

#include <algorithm>

namespace {

using namespace model;

// ---- the deque alone

/// The real deque runs on this.
struct deque_platform {
  static constexpr std::int64_t first_capacity = 1;

  template <class T>
  struct atomic : model::atomic<T> {
    using base = model::atomic<T>;
    using base::base;

    void store(T v, std::memory_order o = base::strongest) {
      if constexpr (std::is_same_v<T, std::int64_t>) {  // top or bottom, which take() lowers
        const bool lowers = v < base::peek();
        if (broken == (lowers ? fault::take_released : fault::push_released))
          o = std::memory_order_release;
        if ((base::peek() & cleave::detail::top_looked_at) != 0) {
          base::store(v, o);
          return base::wake();  // of pause()
        }
      }
      base::store(v, o);
    }
    bool compare_exchange_strong(T& expected, T v, std::memory_order a, std::memory_order b) {
      if (broken != fault::top_by_load) return base::compare_exchange_strong(expected, v, a, b);
      if (base::load() != expected) return false;
      base::store(v);
      return true;
    }
  };

  static void pause(atomic<std::int64_t>& top, std::int64_t seen) { top.block(seen); }

  /// Rings of 1, 2 and 4 entries, in place.
  template <class Entry>
  struct rings {
    cleave::detail::ring<Entry>& make(std::int64_t capacity) {
      auto& made = all[made_already];
      made.capacity = capacity;
      made.entries = &entries[(1u << made_already++) - 1];
      return made;
    }
    std::array<Entry, 7> entries{};
    std::array<cleave::detail::ring<Entry>, 3> all{};
    std::uint64_t made_already = 0;
  };
};
using deque = cleave::detail::deque<deque_platform>;

/// Real tasks have destructors, and bytes are all that a World may have: only the parent is used.
template <unsigned N>
class tasks_of {
public:
  using task = cleave::detail::task;
  task& operator[](unsigned i) { return *reinterpret_cast<task*>(&memory_[i * words]); }
  unsigned index(const task* t) const {
    const auto i =
        static_cast<std::size_t>(reinterpret_cast<const std::uint64_t*>(t) - memory_.data()) /
        words;
    require(i < N, "something was had that was not pushed");
    return static_cast<unsigned>(i);
  }

private:
  static constexpr std::size_t words = sizeof(task) / 8;
  std::array<std::uint64_t, N * words> memory_{};
};

/// The owner pushes `Tasks`, of two groups in turn, and takes what is left; thieves steal twice
/// each, of any group or of the second only: then they look at the scopes of a task that nobody
/// else may have while they do.
template <unsigned Thieves, unsigned Tasks, bool ByGroup = false>
struct stealing {
  static constexpr std::uint64_t owner = 0;
  deque ready;
  tasks_of<Tasks> tasks;
  std::array<std::uint64_t, Tasks> had{};
  std::array<cleave::detail::scope, 2> groups{cleave::detail::scope{nullptr},
                                              cleave::detail::scope{nullptr}};

  static constexpr unsigned threads() { return 1 + Thieves; }
  void run(unsigned i) {
    if (i != owner) {
      for (int k = 0; k < 2; ++k)
        get(ByGroup ? ready.steal_within(groups[1]) : ready.steal(), ByGroup);
      return;
    }
    for (unsigned t = 0; t < Tasks; ++t) {
      tasks[t].parent = &groups[t % 2];
      ready.reserve();
      ready.push(tasks[t]);
    }
    while (cleave::detail::task* t = ready.take()) get(t, false);
  }
  void check() const {
    for (const auto n : had) require(n == 1, "a task was lost");
  }
  std::string name(const void* p) const {
    const auto offset = static_cast<const char*>(p) - reinterpret_cast<const char*>(&ready);
    return "the deque's byte " + std::to_string(offset);
  }

private:
  void get(cleave::detail::task* t, bool second) {
    if (t == nullptr) return;
    const unsigned i = tasks.index(t);
    require(had[i]++ == 0, "a task was had twice");
    require(!second || i % 2 == 1, "a task of another group was had");
  }
};

TEST(deque, one_thief) { holds<stealing<1, 2>>(); }
TEST(deque, one_thief_while_it_grows) { holds<stealing<1, 3>>(); }
TEST(deque, two_thieves) { holds<stealing<2, 2>>(); }
TEST(deque, a_thief_by_group) { holds<stealing<1, 3, true>>(); }
TEST(deque, two_thieves_by_group) { holds<stealing<2, 2, true>>(); }

TEST(broken_deque, take_released) { finds<stealing<1, 2>>(fault::take_released); }
TEST(broken_deque, top_by_load) { finds<stealing<2, 2>>(fault::top_by_load); }

// ---- a group

enum class thieves { stay, leave };
using counts = cleave::detail::pending_tasks<platform::atomic<std::uint32_t>>;

/// Worker 0 spawns `Tasks` and waits for them; the other steals, or sleeps until it is rung. Those
/// that leave after their first task are rung no more, and the owner goes on until they have done
/// it.
template <unsigned Tasks, thieves Then>
struct spawning : crew<2> {
  static constexpr unsigned preemptions = Tasks == 1 ? explorer::unbounded : 3;
  using real_task = cleave::detail::task;
  deque ready;  // of worker 0
  tasks_of<Tasks> tasks;
  scope group{nullptr};
  counts pending{};
  std::array<model::atomic<std::uint32_t>, Tasks> results{};

  void run(unsigned i) { i == 0 ? owner() : thief(i); }
  std::string name(const void* at) const {
    if (at == &pending) return "pending";
    if (at >= &results && at < &results + 1) return "a result";
    if (at >= &ready && at < &ready + 1) return "the deque";
    return crew::name(at);
  }

private:
  bool stopping() const { return of.stopping.load(std::memory_order_acquire) != 0; }

  void owner() {
    auto& me = workers[0];
    cleave::detail::begin_to_compute(me.self(), true);
    for (unsigned t = 0; t < Tasks; ++t) {  // worker::spawn
      tasks[t].parent = &group;
      ready.reserve();
      cleave::detail::count_and_push(pending, true, ready, tasks[t]);
      if (me.word.load(std::memory_order_seq_cst) != 0) respond(0);
    }
    if (Then == thieves::leave) results[0].await(1);
    auto finished = [this] { return pending.none(); };
    while (!finished()) {  // worker::wait
      real_task* t = ready.take();
      if (t == nullptr && broken != fault::own_count_kept) pending.tell();
      if (t == nullptr) t = obtain(0, &group, finished);
      if (t != nullptr) execute(0, *t);
    }
    for (auto& r : results) require(r.load() == 1, "the wait ended before a task had run");
    of.meeting.computing.clear(0);
    of.stop();
  }
  void thief(unsigned i) {  // worker::next_task
    while (!stopping()) {
      real_task* t = ready.steal();
      if (t == nullptr) t = obtain(i, nullptr, [this] { return stopping() || !ready.empty(); });
      if (t == nullptr) continue;
      execute(i, *t);
      if (Then == thieves::leave) return;
    }
  }
  [[gnu::noinline]] void execute(unsigned i, const real_task& t) {
    auto& me = workers[i];
    if (broken == fault::counted_off_first) count_off(i);
    cleave::detail::begin_to_compute(me.self(), i != 0);
    require(results[tasks.index(&t)].fetch_add(1) == 0, "a task was executed twice");
    if (i != 0) of.meeting.computing.clear(i);
    if (broken != fault::counted_off_first) count_off(i);
  }
  void count_off(unsigned i) {  // worker::finish
    if (i == 0) return pending.end_own();
    if (pending.end() && broken != fault::group_not_rung) workers[0].box.ring(news);
  }
  [[gnu::noinline]] void respond(unsigned i) {  // worker::answer
    using cleave::detail::search_end;
    if ((workers[i].box.take_signals() & (asked | parked)) == 0) return;
    auto find = [&](const scope* wanted, std::uint32_t, bool) {
      if (i == 0 && (wanted == nullptr ? !ready.empty() : ready.holds(wanted, 0)))
        return search_end::given;
      return wanted == nullptr ? search_end::nothing : search_end::not_mine;
    };
    auto make = [&](unsigned) { return reinterpret_cast<request>(ready.steal()); };
    cleave::detail::serve_askers(workers[i].self(), find, make, [] { return false; });
  }
  template <class Finished>
  real_task* obtain(unsigned i, const scope* wanted, Finished finished) {
    worker::persistence at_once{0, 0};
    cleave::detail::open_request<platform> asking(workers[i].self(), wanted, 1 - i, true);
    return reinterpret_cast<real_task*>(asking.wait(
        finished, [&] { respond(i); }, at_once));
  }
};

/// A task that a thief runs spawns another into its group; the owner steals that, and waits.
struct spawning_inside {
  deque ready;  // of the thief
  tasks_of<2> tasks;
  scope group{nullptr};
  counts pending{1};
  std::array<model::atomic<std::uint32_t>, 3> results{};

  static constexpr unsigned threads() { return 2; }
  void run(unsigned i) {
    if (i == 0) {
      execute(ready.steal(), 0);
      if (!pending.none()) return;  // it would go on waiting
      for (auto& r : results) require(r.load() == 1, "the wait ended before a task had run");
      return;
    }
    for (unsigned t = 0; t < 2; ++t) {
      tasks[t].parent = &group;
      ready.reserve();
      cleave::detail::count_and_push(pending, false, ready, tasks[t]);
    }
    results[2].store(1);
    pending.end();
    while (const cleave::detail::task* t = ready.take()) execute(t, 1);
  }
  void check() const {}
  std::string name(const void* at) const { return at == &pending ? "pending" : "another"; }

private:
  void execute(const cleave::detail::task* t, unsigned i) {
    if (t == nullptr) return;
    results[tasks.index(t)].store(1);
    i == 0 ? pending.end_own() : static_cast<void>(pending.end());
  }
};
TEST(group, a_task_spawned_inside_is_waited_for) { holds<spawning_inside>(500); }

TEST(group, spawned_tasks_run_once_and_are_waited_for) { holds<spawning<2, thieves::stay>>(); }
TEST(group, a_spawn_is_seen_by_who_goes_to_sleep) { holds<spawning<1, thieves::leave>>(); }

TEST(broken_group, push_released) { finds<spawning<1, thieves::leave>>(fault::push_released); }
TEST(broken_group, counted_off_first) {
  finds<spawning<2, thieves::stay>>(fault::counted_off_first);
}
TEST(broken_group, own_count_kept) { finds<spawning<1, thieves::leave>>(fault::own_count_kept); }
TEST(broken_group, group_not_rung) { finds<spawning<1, thieves::leave>>(fault::group_not_rung); }

}  // namespace
