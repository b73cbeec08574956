// oneTBB's task_group, in an arena of as many workers as are wanted.
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tbb/version.h>

#include "kernels/program.hpp"

struct onetbb {
  static constexpr const char* name = "onetbb";
  static std::string version() {
    return std::to_string(TBB_VERSION_MAJOR) + "." + std::to_string(TBB_VERSION_MINOR);
  }
  explicit onetbb(int workers)
      : limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers)),
        arena_(workers) {}
  template <class F>
  void run(const F& f) {
    arena_.execute([&f] { f(); });
  }
  struct group {
    template <class F>
    void spawn(const F& f) {
      tasks.run(f);
    }
    void sync() { tasks.wait(); }
    tbb::task_group tasks;
  };

private:
  tbb::global_control limit_;
  tbb::task_arena arena_;
};

CLEAVE_STUDY_PROGRAM(onetbb)
