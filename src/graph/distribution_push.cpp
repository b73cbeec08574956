#include <cleave/detail/graph/distribution.hpp>

#include <algorithm>
#include <vector>

// What goes to another node before a subtask there reads it. All nodes know who has read what, so
// all push the same.
namespace cleave::detail {

void distribution::note_reading(datum_place& of, unsigned at) {
  if (of.holders.empty() || of.holders.front() == at) return;  // at its writer's, or all have it
  if (std::ranges::find(of.read_at, at) == of.read_at.end()) of.read_at.push_back(at);
}

void distribution::note_writing(any_datum& of, unsigned at) {
  datum_place& its = of.place;
  // A value that others add to is not whole yet; what many read goes on from those that have it;
  // what is lent is not sent by who wrote it; and in for_mine() nobody knows of all that read it.
  const bool pushes = at != nobody && its.read_at.size() <= value_branches &&
                      graph_.lends == nullptr && !mine_.is_on;
  for (const unsigned to : its.read_at) {
    if (!pushes || to == at) continue;
    if (std::ranges::find(its.read_before_at, to) == its.read_before_at.end()) continue;
    made_.to_push.push_back({to, &of});
  }
  its.read_before_at.swap(its.read_at);
  its.read_at.clear();
}

void distribution::push(unsigned from) noexcept {
  if (made_.to_push.empty()) return;
  try {
    const auto all = std::exchange(made_.to_push, {});
    std::vector<any_datum*> data;
    for (unsigned to = 0; to < size(); ++to) {
      data.clear();
      for (const auto& p : all)
        if (p.to == to && std::ranges::find(data, p.datum) == data.end()) data.push_back(p.datum);
      if (data.size() < 2) continue;
      ++graph_.made_;
      for (any_datum* const d : data) {
        log(d->place, graph_.made_, to, false);
        d->place.holders.push_back(to);
        if (to == rank()) d->place.is_here = true;
      }
      if (from == rank()) make_send(data, {}, to, graph_.made_);
      if (to == rank()) make_receive(data, from, graph_.made_);
    }
    flush();
  } catch (...) {
    graph_.keep(graph_.made_, std::current_exception());
    cancel();  // others may wait for what this node was to send
  }
}

}  // namespace cleave::detail
