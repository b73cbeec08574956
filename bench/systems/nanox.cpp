// Nanos++ through its C interface, which the Mercurium compiler's programs call. With the
// work-first scheduler, as in the paper, and with its default, breadth first. Stacks of 64 KiB.
extern "C" {
#include <nanos.h>
}
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "kernels/program.hpp"

static void limit_memory(rlim_t bytes) {
  rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = std::min(bytes, limit.rlim_max);
  setrlimit(RLIMIT_AS, &limit);
}

struct nanox {
#ifdef NANOX_BREADTH_FIRST
  static constexpr const char* name = "nanox_bf";
  static constexpr const char* schedule = "bf";
  static std::string version() { return "0.16a, breadth first"; }
#else
  static constexpr const char* name = "nanox";
  static constexpr const char* schedule = "wf";
  static std::string version() { return "0.16a, work first"; }
#endif
  explicit nanox(int) { std::set_new_handler(out_of_memory); }
  template <class F>
  void run(const F& f) {
    f();
  }
  template <class F>
  struct task {
    static void call(void* f) { (*static_cast<F*>(f))(); }
    struct definition {
      nanos_const_wd_definition_t base;
      nanos_device_t device[1];
    };
    static definition& of() {
      static nanos_smp_args_t argument = {&call};
      static definition d = [] {
        definition x;
        std::memset(&x, 0, sizeof x);
        x.base.props.mandatory_creation = true;
        x.base.props.tied = false;
        x.base.data_alignment = alignof(F);
        x.base.num_devices = 1;
        x.device[0].factory = nanos_smp_factory;
        x.device[0].arg = &argument;
        return x;
      }();
      return d;
    }
  };
  struct group {
    template <class F>
    void spawn(const F& f) {
      nanos_wd_t made = nullptr;
      void* closure = nullptr;
      nanos_wd_dyn_props_t properties;
      std::memset(&properties, 0, sizeof properties);
      if (nanos_create_wd_compact(&made, &task<F>::of().base, &properties, sizeof(F), &closure,
                                  nanos_current_wd(), nullptr, nullptr) != NANOS_OK)
        throw bench::kernel_error("cannot make a task");
      new (closure) F(f);
      nanos_submit(made, 0, nullptr, nullptr);
    }
    void sync() { nanos_wg_wait_completion(nanos_current_wd(), false); }
  };

private:
  // A task that has begun keeps its stack until it ends, and breadth first can begin all before one
  // ends.
  static void out_of_memory() {
    static std::mutex once;  // never unlocked: one worker says it
    once.lock();
    limit_memory(RLIM_INFINITY);
    bench::give_up(name, version(), "no memory for one more stack");
  }
};

// Runs before the libraries are initialized: Nanos++ starts its workers then, as the environment at
// exec said.
static void configure(int argc, char** argv, char** environment) {
  const char* workers = "1";
  for (int i = 1; i + 1 < argc; i++)
    if (std::strcmp(argv[i], "--workers") == 0) workers = argv[i + 1];
  std::vector<char*> all;
  for (char** e = environment; *e != nullptr; e++) {
    if (std::strncmp(*e, "NX_ARGS=", 8) == 0) return;
    all.push_back(*e);
  }
  limit_memory(rlim_t{8} << 30);  // 130,000 stacks, which is 1 GiB of real memory
  char text[120];
  std::snprintf(text, sizeof text,
                "NX_ARGS=--smp-workers=%.9s --schedule=%s --disable-binding --smp-stack-size=65536",
                workers, nanox::schedule);
  all.push_back(text);
  all.push_back(nullptr);
  execve("/proc/self/exe", argv, all.data());
}
[[gnu::section(".preinit_array"),
  gnu::used]] static void (*const before_libraries)(int, char**, char**) = configure;

CLEAVE_STUDY_PROGRAM(nanox)
