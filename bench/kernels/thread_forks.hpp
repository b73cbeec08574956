// A library of threads without the paper's task_group: a thread for each task, started with the
// address of a closure on its parent's stack. Nothing is copied, nothing allocated for a few.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace bench {

// A Thread is as in thread_group. After a spawn or a join the parent may be on another worker:
// nothing here is thread-local.
template <class Thread>
struct thread_forks {
  template <class F, class G>
  static void fork(const F& f, const G& g) {
    Thread child;
    start(child, f);
    g();
    child.join();
  }
  template <class F>
  static void for_each(int n, const F& f) {
    constexpr int few = 64;
    if (n <= few) {
      std::array<iteration<F>, few> all;
      start_and_join(all.data(), n, f);
    } else {
      std::vector<iteration<F>> all(static_cast<std::size_t>(n));
      start_and_join(all.data(), n, f);
    }
  }

private:
  template <class F>
  struct iteration {
    const F* f;
    int i;
    Thread thread;
    void operator()() const { (*f)(i); }
  };
  template <class F>
  static void start(Thread& thread, const F& f) {
    thread.start(
        [](void* p) -> typename Thread::result {
          (*static_cast<const F*>(p))();
          return {};
        },
        const_cast<F*>(&f));
  }
  template <class F>
  static void start_and_join(iteration<F>* all, int n, const F& f) {
    for (int i = 0; i < n; i++) {
      all[i].f = &f, all[i].i = i;
      start(all[i].thread, all[i]);
    }
    for (int i = 0; i < n; i++) all[i].thread.join();
  }
};

}  // namespace bench
