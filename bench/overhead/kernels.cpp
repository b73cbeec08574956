#include "kernels.hpp"

#include <memory>

namespace overhead {
namespace {

// One runtime for one worker and one for all, for each kernel, as in a program of its own: what they are not used for sleeps.
struct runtimes {
  cleave::runtime one, all;
  explicit runtimes(int workers) : one(with(1)), all(with(workers)) {}
  cleave::runtime* of(int workers) { return workers == 0 ? nullptr : workers == 1 ? &one : &all; }
  static cleave::options with(int workers) {
    cleave::options o;
    o.workers = workers;
    return o;
  }
};

}  // namespace

std::vector<kernel> all_kernels(int workers) {
  std::vector<kernel> kernels;
  // Input is made and workers are started when a kernel is first run.
  auto add = [&](const std::string& name, std::function<apps::trial()> make) {
    auto runtime = std::make_shared<std::unique_ptr<runtimes>>();
    auto once = std::make_shared<apps::trial>();
    kernels.push_back({name, "", [=](int n) {
                         if (!*runtime) *runtime = std::make_unique<runtimes>(workers);
                         if (!*once) *once = make();
                         return (*once)((*runtime)->of(n));
                       }});
  };
  add("fib", fib);
  add("queens", queens);
  add("pentomino", pentomino);
  add("compare", compare);
  add("lu", lu);
  add("gravity", gravity);
  add("uts-T1", [] { return uts("T1"); });
  add("uts-T3", [] { return uts("T3"); });
  add("clique", [] { return clique("random:200:80:1", 25); });
  add("matmul", matmul);
  add("sort", sort);
#ifdef CLEAVE_HAVE_LACE
  kernels.push_back({"lace-fib", "fib", lace_fib});
  kernels.push_back({"lace-uts-T1", "uts-T1", [](int n) { return lace_uts("T1", n); }});
  kernels.push_back({"lace-uts-T3", "uts-T3", [](int n) { return lace_uts("T3", n); }});
#endif
  return kernels;
}

}  // namespace overhead
