#include <cleave/detail/graph/distribution.hpp>

#include <functional>
#include <utility>

#include "core/pool.hpp"
#include "core/worker.hpp"
#include "graph/replanning.hpp"
#include "graph/schedule.hpp"

// How a graph of a team is planned anew while it runs.
namespace cleave::detail {

void distribution::replan_every(unsigned steps) {
  made_.all.add(entry::replan), made_.all.add(steps);
  graph_.order_ready();  // what is farthest from where the next plan begins has precedence
  const machine_model on{size(), graph_.owner->of.size(), {{2, 2e-4}, {10, 1e-4}, {2, 2e-4}}};
  auto made = std::make_unique<replanning>(node_, on, steps, begin(kind::replanning));
  const std::lock_guard lock(node_.mutex);
  replanning_ = std::move(made);
  for (const auto& contents : std::exchange(planning_.early, {})) {
    byte_reader r(contents);
    replanning_->receive(r);
  }
}

/// Called with the team's mutex.
void distribution::receive_replanning(byte_reader& r) {
  if (replanning_ != nullptr) return replanning_->receive(r);
  const auto contents = r.raw(r.left());
  planning_.early.emplace_back(contents.begin(), contents.end());
}

/// Where the plan that is made while the graph runs has the next subtask run. Waits, and runs
/// subtasks meanwhile, if this node has made so much more than others that it may be told a new
/// plan first.
std::optional<unsigned> distribution::replanned(std::span<const datum_use> uses,
                                                std::optional<unsigned> asked) {
  try {
    if (replanning_->is_at_limit()) await_limit();
    return replanning_->next(uses, asked);
  } catch (...) {
    cancel();  // others may wait for what this node was to make
    throw;
  }
}

void distribution::await_limit() {
  const auto ends = [this] { return detail::stopped(&graph_); };
  const std::function<bool()> goes_on = [&] { return replanning_->may_go_on() || ends(); };
  if (!goes_on()) {
    detail::wait(graph_, goes_on);
    if (!goes_on()) replanning_->all_done();  // nothing is left to run here
    if (!goes_on()) node_.await(goes_on);
  }
  ends() ? replanning_->go_on_for_ever() : replanning_->go_on();
}

}  // namespace cleave::detail
