// The paper's task_group (section 2.2): a group over a library of threads, each of which is started
// with a function and its argument. The closures are kept until they are joined.
#pragma once

#include <deque>
#include <functional>

namespace bench {

// A Thread has start(result (*call)(void*), void* argument) and join(), and stays where it is in
// between.
template <class Thread>
class thread_group {
public:
  template <class F>
  void spawn(const F& f) {
    task& t = tasks_.emplace_back(f);
    t.thread.start(
        [](void* p) -> typename Thread::result {
          static_cast<task*>(p)->f();
          return {};
        },
        &t);
  }
  void sync() {
    for (task& t : tasks_) t.thread.join();
    tasks_.clear();
  }

private:
  struct task {
    std::function<void()> f;
    Thread thread;
    template <class F>
    explicit task(const F& g) : f(g) {}
  };
  std::deque<task> tasks_;
};

}  // namespace bench
