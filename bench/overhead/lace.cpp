#ifdef CLEAVE_HAVE_LACE
#include <algorithm>

#include "../kernels/lace_macros.hpp"
#include "common/measure.hpp"
#include "fib/sequential.hpp"
#include "kernels.hpp"
#include "uts/tree.hpp"

namespace {

using apps::uts::node;
using apps::uts::tree;

TASK_1(long, fib_task, int, n) {
  if (n < 2) return n;
  SPAWN(fib_task, n - 1);
  long b = CALL(fib_task, n - 2);
  long a = SYNC(fib_task);
  return a + b;
}

TASK_2(long, uts_task, const tree*, t, node, parent) {
  const int children = t->children(parent);
  for (int i = 0; i < children; i++) SPAWN(uts_task, t, parent.child(i));
  long nodes = 1;
  for (int i = 0; i < children; i++) nodes += SYNC(uts_task);
  return nodes;
}

template <class F>
apps::outcome on_lace(int workers, long expected, F f) {
  lace_start(static_cast<unsigned>(workers), 0);
  auto [cost, found] = apps::timed(f);
  lace_stop();
  return {cost, apps::counted(static_cast<std::uint64_t>(found), "",
                              static_cast<std::uint64_t>(expected))};
}

}  // namespace

namespace overhead {

apps::outcome lace_fib(int workers) {
  return on_lace(workers, apps::fib::expected(40), [] { return RUN(fib_task, 40); });
}

apps::outcome lace_uts(std::string_view name, int workers) {
  using apps::uts::samples;
  const auto& chosen = *std::find_if(std::begin(samples), std::end(samples),
                                     [=](const auto& s) { return s.name == name; });
  const tree t(chosen.tree);
  return on_lace(workers, static_cast<long>(chosen.nodes),
                 [&] { return RUN(uts_task, &t, t.root()); });
}

}  // namespace overhead

#endif
