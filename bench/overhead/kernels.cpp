#include "kernels.hpp"

#include <algorithm>
#include <cleave/runtime.hpp>
#include <memory>
#include <sstream>

#include "clique/generators.hpp"
#include "clique/trial.hpp"
#include "compare/trial.hpp"
#include "connect4/parse.hpp"
#include "connect4/trial.hpp"
#include "fib/trial.hpp"
#include "gravity/trial.hpp"
#include "lu/trial.hpp"
#include "matmul/trial.hpp"
#include "pentomino/trial.hpp"
#include "queens/trial.hpp"
#include "sort/trial.hpp"
#include "sudoku/parse.hpp"
#include "sudoku/trial.hpp"
#include "uts/trial.hpp"

namespace overhead {
namespace {

apps::trial uts(std::string_view tree) {
  using apps::uts::samples;
  return apps::uts::trial_of(*std::find_if(std::begin(samples), std::end(samples),
                                           [=](const auto& s) { return s.name == tree; }));
}

// Starts from the optimum, so that all runs prove the same and visit comparable nodes.
apps::trial clique(std::string_view graph, int optimum) {
  return apps::clique::trial_of(apps::clique::generate(graph).value(), optimum, optimum);
}

// Without a table, so that both programs visit the same positions on one worker.
apps::trial connect4(std::string_view played, int depth) {
  using namespace apps::connect4;
  return trial_of(parse(played), {0, static_cast<int>(played.size()) + depth});
}

apps::trial sudoku(const std::string& puzzle, apps::sudoku::question asked) {
  std::istringstream in(puzzle);
  return apps::sudoku::trial_of(apps::sudoku::puzzle_parser(in, "puzzle").parse(), asked);
}

// Each kernel has one runtime for one worker and one for all, as in a program of its own: workers
// that are not used sleep.
struct runtimes {
  cleave::runtime one, all;
  explicit runtimes(int workers)
      : one(cleave::options{.workers = 1}), all(cleave::options{.workers = workers}) {}
  cleave::runtime* of(int workers) { return workers == 0 ? nullptr : workers == 1 ? &one : &all; }
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
  add("fib", [] { return apps::fib::trial_of(40); });
  add("queens", [] { return apps::queens::trial_of(14); });
  add("pentomino", apps::pentomino::default_trial);
  add("compare", [] { return apps::compare::trial_of(30'000); });
  add("lu", [] { return apps::lu::trial_of(2500); });
  add("gravity", [] { return apps::gravity::trial_of(270); });
  add("uts-T1", [] { return uts("T1"); });
  add("uts-T3", [] { return uts("T3"); });
  add("clique", [] { return clique("random:200:80:1", 25); });
  add("connect4", [] { return connect4("4445", 18); });
  // There is none, so that the search goes on to the end.
  add("sudoku-first", [] {
    return sudoku(
        "100000700006000000002000000903400000400930000000000070074000000000300000009000027",
        apps::sudoku::question::first);
  });
  add("sudoku-all", [] {
    return sudoku(
        "000000020006200090080000004700309200602000080000600000900078040000000000000000800",
        apps::sudoku::question::all);
  });
  add("matmul", [] { return apps::matmul::trial_of(1500); });
  add("sort", [] { return apps::sort::trial_of(10'000'000); });
#ifdef CLEAVE_HAVE_LACE
  kernels.push_back({"lace-fib", "fib", lace_fib});
  kernels.push_back({"lace-uts-T1", "uts-T1", [](int n) { return lace_uts("T1", n); }});
  kernels.push_back({"lace-uts-T3", "uts-T3", [](int n) { return lace_uts("T3", n); }});
#endif
  return kernels;
}

}  // namespace overhead
