// Lace: tasks of a work-stealing deque in fixed memory, as macros in C; a closure is passed by its
// address. The macros hand a worker and the head of its deque from call to call; closures cannot,
// and take them from thread-local variables (LACE_VARS would search the deque).
#include "kernels/lace_macros.hpp"
#include "kernels/program.hpp"

namespace {

thread_local WorkerP* this_worker;
thread_local Task* deque_head;

using caller = void (*)(const void*);
VOID_TASK_2(call_closure, caller, call, const void*, closure) {
  this_worker = __lace_worker;
  deque_head = __lace_dq_head;
  call(closure);
}

template <class F>
void call(const void* f) {
  (*static_cast<const F*>(f))();
}

struct lace_system {
  static constexpr const char* name = "lace";
  static std::string version() { return "1.4"; }
  explicit lace_system(int workers) { lace_start(static_cast<unsigned>(workers), 1 << 20); }
  ~lace_system() { lace_stop(); }
  template <class F>
  void run(const F& f) {
    RUN(call_closure, &call<F>, &f);
  }
  // Tasks are joined in the reverse order of their spawning, by the worker that spawned them.
  template <class F, class G>
  static void fork(const F& f, const G& g) {
    WorkerP* const __lace_worker = this_worker;
    Task* __lace_dq_head = deque_head;
    SPAWN(call_closure, &call<F>, &f);
    deque_head = __lace_dq_head;
    g();
    SYNC(call_closure);
    deque_head = __lace_dq_head;
  }
  template <class F>
  static void for_each(int n, const F& f) {
    struct iteration {
      const F* f;
      int i;
      void operator()() const { (*f)(i); }
    };
    std::array<iteration, 64> few;
    std::vector<iteration> many(n > 64 ? static_cast<std::size_t>(n) : 0);
    iteration* const all = n > 64 ? many.data() : few.data();
    WorkerP* const __lace_worker = this_worker;
    Task* __lace_dq_head = deque_head;
    for (int i = 0; i < n; i++) {
      all[i] = {&f, i};
      SPAWN(call_closure, &call<iteration>, &all[i]);
    }
    for (int i = 0; i < n; i++) SYNC(call_closure);
    deque_head = __lace_dq_head;
  }
  // Tasks are shown to thieves when their owner spawns or syncs next.
  static void poll() {
    fork([] {}, [] {});
  }
};

}  // namespace

CLEAVE_STUDY_PROGRAM(lace_system)
