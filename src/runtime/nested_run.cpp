#include "runtime/nested_run.hpp"

#include <map>
#include <mutex>
#include <stdexcept>

namespace cleave {
namespace {

std::mutex mutex;

/// Which worker waits for which root. Guarded by the mutex. It is never destroyed, as a task may
/// call exit().
std::map<const detail::scope*, detail::worker*>& waiting_for() {
  static auto* const all = new std::map<const detail::scope*, detail::worker*>;
  return *all;
}

}  // namespace

nested_run::nested_run(const detail::pool& called, const detail::task& root) : root_(&root) {
  std::lock_guard lock(mutex);
  unsigned blocked = 0;
  for (const detail::scope* s = root.parent; s != nullptr; s = s->parent) {
    const auto at = waiting_for().find(s);
    if (at != waiting_for().end() && &at->second->of == &called) ++blocked;
  }
  if (blocked == called.size()) {
    throw std::logic_error(
        "cleave::runtime::run: called by a task that all workers of this runtime wait for");
  }
  waiting_for()[&root] = detail::here.self;
}

nested_run::~nested_run() {
  std::lock_guard lock(mutex);
  waiting_for().erase(root_);
}

}  // namespace cleave
