// Taskflow's task groups, in an executor of as many workers as are wanted. The thread that starts
// the executor is none of its workers.
#include <taskflow/taskflow.hpp>

#include "kernels/program.hpp"

struct taskflow_system {
  static constexpr const char* name = "taskflow";
  static std::string version() { return tf::version(); }
  explicit taskflow_system(int workers) : workers_(static_cast<std::size_t>(workers)) {
    executor = &workers_;
  }
  template <class F>
  void run(const F& f) {
    workers_.async([&f] { f(); }).get();
  }
  struct group {
    tf::TaskGroup tasks = executor->task_group();
    template <class F>
    void spawn(const F& f) {
      tasks.silent_async(f);
    }
    void sync() { tasks.corun(); }
  };

private:
  inline static tf::Executor* executor;
  tf::Executor workers_;
};

CLEAVE_STUDY_PROGRAM(taskflow_system)
