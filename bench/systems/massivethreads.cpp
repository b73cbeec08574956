// MassiveThreads: a thread for each task, which runs at once (its parent can be stolen). Stacks of
// 64 KiB. As in the paper through its task_group, and directly.
#include <myth/myth.h>

#include "kernels/program.hpp"
#include "kernels/thread_forks.hpp"
#include "kernels/thread_group.hpp"

struct thread {
  using result = void*;
  myth_thread_t handle;
  void start(result (*call)(void*), void* argument) { handle = myth_create(call, argument); }
  void join() { myth_join(handle, nullptr); }
};

#ifdef THREADS_DIRECTLY
struct tasks : bench::thread_forks<thread> {
  static constexpr const char* name = "massivethreads_direct";
};
#else
struct tasks {
  static constexpr const char* name = "massivethreads";
  using group = bench::thread_group<thread>;
};
#endif

struct massivethreads : tasks {
  static std::string version() { return "1.02 and later"; }
  explicit massivethreads(int workers) {
    myth_globalattr_t how;
    myth_globalattr_init(&how);
    myth_globalattr_set_n_workers(&how, static_cast<std::size_t>(workers));
    myth_globalattr_set_bind_workers(&how, 0);
    myth_globalattr_set_stacksize(&how, 64 << 10);
    myth_init_ex(&how);
  }
  ~massivethreads() { myth_fini(); }
  template <class F>
  void run(const F& f) {
    f();
  }
};

CLEAVE_STUDY_PROGRAM(massivethreads)
