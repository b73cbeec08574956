// What a task system offers to the kernels, and the two forms in which they use it.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "clock.hpp"
#include "result.hpp"

namespace bench {

// S(P) starts P workers; run(f) calls f() on one of them and returns when it has returned.
template <class S>
concept starts_workers = requires(S s, void (*f)()) {
  S(1);
  s.run(f);
  { S::name } -> std::convertible_to<std::string_view>;
  { S::version() } -> std::convertible_to<std::string>;
};

// Within run: spawn(f) makes f() a task, sync() waits for all tasks of the group.
template <class S>
concept has_groups = requires(typename S::group g, void (*f)()) {
  g.spawn(f);
  g.sync();
};

// Systems whose tasks are a construct of the language, or that have no groups: fork(f, g) calls g()
// while f() may run elsewhere; for_each(n, f) calls f(0) to f(n - 1), which may run elsewhere. Both
// wait for all.
template <class S>
concept has_forks = requires(void (*f)(), void (*body)(int)) {
  S::fork(f, f);
  S::for_each(1, body);
};

template <class S>
concept task_system = starts_workers<S> &&(has_groups<S> || has_forks<S>);

// A system that tells where its workers' time went since it was made. A system is asked itself
// where clocks around its tasks would change what they measure.
template <class S>
concept has_shares = requires(S s) {
  { s.shares() } -> std::convertible_to<shares>;
};

// A system that tells work and span of all that it has run, one after the other, if it was made to
// measure them.
template <class S>
concept has_profile = requires(S s) {
  { s.profile() } -> std::convertible_to<work_span>;
};

// A spawn, a plain call and a sync.
template <task_system S, class F, class G>
void fork(const F& f, const G& g) {
  if constexpr (has_forks<S>) {
    S::fork(f, g);
  } else {
    typename S::group tasks;
    tasks.spawn(f);
    g();
    tasks.sync();
  }
}

// n spawns and a sync.
template <task_system S, class F>
void for_each(int n, const F& f) {
  if constexpr (has_forks<S>) {
    S::for_each(n, f);
  } else {
    typename S::group tasks;
    for (int i = 0; i < n; i++) tasks.spawn([f, i] { f(i); });
    tasks.sync();
  }
}

// Called in loops that wait for another task. A system whose workers poll has a poll().
template <task_system S>
void relax() {
  if constexpr (requires { S::poll(); }) S::poll();
  else pause();
}

// Waits for done(), in a task. False after a second: the other task does not run at the same time.
template <task_system S, class Done>
bool wait_until(const Done& done) {
  const double give_up = now() + 1;
  for (int i = 1; !done(); i++) {
    relax<S>();
    if (i % 1024 == 0 && now() > give_up) return false;
  }
  return true;
}

}  // namespace bench
