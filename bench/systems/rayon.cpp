// Rayon, through the crate of rayon/: join for two calls, a parallel iterator for loops. A closure
// is passed by its address, and a call to Rust is never inlined.
#include "kernels/program.hpp"

extern "C" {
struct rayon_pool;
struct rayon_closure {
  void (*call)(const void*);
  const void* captured;
};
struct rayon_body {
  void (*call)(const void*, int);
  const void* captured;
};
rayon_pool* rayon_start(int workers);
void rayon_stop(rayon_pool*);
void rayon_run(const rayon_pool*, rayon_closure);
void rayon_join(rayon_closure spawned, rayon_closure here);
void rayon_for_each(int n, rayon_body);
const char* rayon_version();
}

struct rayon {
  static constexpr const char* name = "rayon";
  static std::string version() { return rayon_version(); }
  explicit rayon(int workers) : pool_(rayon_start(workers)) {
    if (pool_ == nullptr) throw bench::kernel_error("cannot be started");
  }
  ~rayon() { rayon_stop(pool_); }
  template <class F>
  void run(const F& f) {
    rayon_run(pool_, closure(f));
  }
  template <class F, class G>
  static void fork(const F& f, const G& g) {
    rayon_join(closure(f), closure(g));
  }
  template <class F>
  static void for_each(int n, const F& f) {
    rayon_for_each(n, {[](const void* p, int i) { (*static_cast<const F*>(p))(i); }, &f});
  }
  // There is no poll(): what a worker has spawned can be stolen at once, and Rayon's yield would
  // run another task within one that waits.

private:
  template <class F>
  static rayon_closure closure(const F& f) {
    return {[](const void* p) { (*static_cast<const F*>(p))(); }, &f};
  }
  rayon_pool* pool_;
};

CLEAVE_STUDY_PROGRAM(rayon)
