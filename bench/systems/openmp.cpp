// OpenMP's task and taskwait; built with GCC for libgomp, with Clang for libomp.
#include <omp.h>

#include "kernels/program.hpp"

struct openmp {
#ifdef __clang__
  static constexpr const char* name = "libomp";
  static std::string version() { return "LLVM " + std::to_string(__clang_major__); }
#else
  static constexpr const char* name = "libgomp";
  static std::string version() { return "GCC " + std::to_string(__GNUC__); }
#endif
  explicit openmp(int workers) : workers_(workers) {
    omp_set_dynamic(0);
    omp_set_max_active_levels(1);
  }
  template <class F>
  void run(const F& f) {
#pragma omp parallel num_threads(workers_)
#pragma omp single
    f();
  }
  struct group {
    template <class F>
    void spawn(const F& f) {
#pragma omp task firstprivate(f)
      f();
    }
    void sync() {
#pragma omp taskwait
    }
  };

private:
  int workers_;
};

CLEAVE_STUDY_PROGRAM(openmp)
