// No tasks: what the kernels cost by themselves.
#include "kernels/program.hpp"

struct serial {
  static constexpr const char* name = "serial";
  static std::string version() { return "plain calls"; }
  explicit serial(int workers) {
    if (workers != 1) throw bench::kernel_error("has one worker only");
  }
  template <class F>
  void run(const F& f) {
    f();
  }
  struct group {
    template <class F>
    void spawn(const F& f) {
      f();
    }
    void sync() {}
  };
};

CLEAVE_STUDY_PROGRAM(serial)
