// Qthreads: a thread for each task, one shepherd, the "sherwood" scheduler. Stacks of 64 KiB. As in
// the paper through its task_group, and directly. The paper had to turn the spawn cache off: both
// builds are run where both are there.
#include <qthread/qthread.h>

#include <cstdlib>

#include "kernels/program.hpp"
#include "kernels/thread_forks.hpp"
#include "kernels/thread_group.hpp"

struct thread {
  using result = aligned_t;
  aligned_t done;  // the thread empties it when it is made, and fills it when it returns
  void start(result (*call)(void*), void* argument) { qthread_fork(call, argument, &done); }
  void join() { qthread_readFF(nullptr, &done); }
};

#ifdef THREADS_DIRECTLY
struct tasks : bench::thread_forks<thread> {
  static constexpr const char* name = "qthreads_direct";
};
#else
struct tasks {
#ifdef QTHREADS_SPAWN_CACHE
  static constexpr const char* name = "qthreads_cache";
#else
  static constexpr const char* name = "qthreads";
#endif
  using group = bench::thread_group<thread>;
};
#endif

struct qthreads : tasks {
  static std::string version() { return QTHREAD_VERSION; }
  explicit qthreads(int workers) {
    setenv("QTHREAD_NUM_SHEPHERDS", "1", 1);
    setenv("QTHREAD_NUM_WORKERS_PER_SHEPHERD", std::to_string(workers).c_str(), 1);
    setenv("QTHREAD_STACK_SIZE", "65536", 1);
    if (qthread_initialize() != 0) throw bench::kernel_error("cannot be started");
  }
  ~qthreads() { qthread_finalize(); }
  template <class F>
  void run(const F& f) {
    f();
  }
};

CLEAVE_STUDY_PROGRAM(qthreads)
