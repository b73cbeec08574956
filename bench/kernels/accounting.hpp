// Where the time of the workers goes: a task system with clocks around every task, for the paper's
// deviations (section 3.2).
//
//   work    in the bodies of tasks, outside the system's calls
//   api     in calls that make tasks; and while something was ready on a worker that had just left
//           a task: from the moment when it was ready to its beginning, if that worker had made it
//           or brought it to its end
//   stolen  the same where another worker had: a task was ready, and this worker had nothing
//   rest    of P times the elapsed time: what is none of these. With one worker, the system's own;
//           with more, idle too
//
// Begins:  what is ready            since
//          a spawned task           its spawn began
//          the parent, after spawn  the spawn began, or the child that ran first ended
//          the parent, after sync   the sync began, or the last child ended
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <deque>
#include <limits>
#include <mutex>
#include <utility>

#include "result.hpp"
#include "system.hpp"

namespace bench {

enum class doing { work, spawn, other };

// The clocks of one thread of the operating system, the only one that writes them.
struct alignas(64) ledger {
  doing what = doing::other;
  std::uint64_t since = 0;
  std::uint64_t work = 0, api = 0, stolen = 0;  // clocks
};

struct all_ledgers {
  std::mutex adding;
  std::deque<ledger> of_threads;  // threads that have ended keep theirs
};
inline all_ledgers ledgers;

// Where tasks are threads of a library, a task goes on on any worker after a spawn or sync, and
// compilers keep the address of what is thread-local across them: only functions that are not
// inlined may call this.
inline ledger& own_ledger() {
  thread_local ledger* own = nullptr;
  if (own == nullptr) {
    const std::lock_guard lock(ledgers.adding);
    own = &ledgers.of_threads.emplace_back();
  }
  return *own;
}

// When something was ready, and who made it. Null: whoever was the last that had to do with it.
struct readiness {
  std::uint64_t at;
  const ledger* by;
};

// The body of a task ends, or is left for a call of the system.
[[gnu::noinline]] inline readiness leave(doing next) {
  ledger& own = own_ledger();
  const std::uint64_t now = cycles();
  if (own.what == doing::work) own.work += now - own.since;
  own.what = next, own.since = now;
  return {now, &own};
}

// The body of a task begins, or goes on.
[[gnu::noinline]] inline void enter(readiness ready) {
  ledger& own = own_ledger();
  const std::uint64_t now = cycles(), from = std::max(own.since, ready.at);
  if (own.what == doing::work) {
    own.work += now - own.since;
  } else if (own.what == doing::spawn) {
    own.api += now - own.since;
  } else if (now > from) {
    const bool mine = ready.by != nullptr ? ready.by == &own : own.since >= ready.at;
    (mine ? own.api : own.stolen) += now - from;
  }
  own.what = doing::work, own.since = now;
}

template <class F>
auto clocked(const F& f, readiness made, std::atomic<std::uint64_t>& ended) {
  return [ f, made, &ended ](auto... i) requires std::invocable<const F&, decltype(i)...> {
    enter(made);
    f(i...);
    // The last of several children to write may not be the last to end: that is a matter of a few
    // clocks.
    ended.store(leave(doing::other).at, std::memory_order_relaxed);
  };
}

template <class S>
struct clocked_groups {};
template <has_groups S>
struct clocked_groups<S> {
  struct group {
    template <class F>
    void spawn(const F& f) {
      const readiness made = leave(doing::spawn);
      tasks.spawn(clocked(f, made, ended));
      enter(made);
    }
    void sync() {
      const std::uint64_t called = leave(doing::other).at;
      tasks.sync();
      enter({std::max(called, ended.load(std::memory_order_relaxed)), nullptr});
    }
    std::atomic<std::uint64_t> ended{0};
    typename S::group tasks;
  };
};

template <task_system S>
class accounted : public clocked_groups<S> {
public:
  static constexpr const char* name = S::name;
  static std::string version() { return S::version(); }
  explicit accounted(int workers) : system_(workers) {}

  template <class F>
  void run(const F& f) {
    const double begin = now();
    const std::uint64_t clocks = cycles();
    system_.run([&f] {
      enter({std::numeric_limits<std::uint64_t>::max(), nullptr});  // nobody waited for it
      f();
      leave(doing::other);
    });
    clocks_ += cycles() - clocks;
    elapsed_ += now() - begin;
  }
  template <class F, class G>
  static void fork(const F& f, const G& g) requires has_forks<S> {
    std::atomic<std::uint64_t> ended{0};
    const readiness made = leave(doing::spawn);
    S::fork(clocked(f, made, ended), clocked(g, made, ended));
    enter({ended, nullptr});
  }
  template <class F>
  static void for_each(int n, const F& f) requires has_forks<S> {
    std::atomic<std::uint64_t> ended{0};
    const readiness made = leave(doing::spawn);
    S::for_each(n, clocked(f, made, ended));
    enter({ended, nullptr});
  }
  static void poll() requires requires { S::poll(); }
  { S::poll(); }

  // The shares since the system was made. Not to be called while it runs.
  bench::shares shares() const {
    const ledger now = sum();
    const double second = elapsed_ > 0 ? static_cast<double>(clocks_) / elapsed_ : 1;
    auto seconds = [second](std::uint64_t clocks) { return static_cast<double>(clocks) / second; };
    return {elapsed_, seconds(now.work - before_.work), seconds(now.api - before_.api),
            seconds(now.stolen - before_.stolen)};
  }

private:
  static ledger sum() {
    const std::lock_guard lock(ledgers.adding);
    ledger all;
    for (const ledger& l : ledgers.of_threads)
      all.work += l.work, all.api += l.api, all.stolen += l.stolen;
    return all;
  }

  const ledger before_ = sum();
  std::uint64_t clocks_ = 0;
  double elapsed_ = 0;
  S system_;
};

}  // namespace bench
