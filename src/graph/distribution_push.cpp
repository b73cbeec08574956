#include <cleave/detail/graph/distribution.hpp>

#include <algorithm>
#include <vector>

// What goes to another node before a subtask there reads it. All nodes know who has read what, so
// all push the same; in for_mine() they do not know it.
namespace cleave::detail {

void distribution::note_reading(datum_place& of, unsigned at) {
  if (mine_.is_on) return;
  if (of.holders.empty() || of.holders.front() == at) return;  // at its writer's, or all have it
  if (std::ranges::find(of.read_at, at) == of.read_at.end()) of.read_at.push_back(at);
}

void distribution::note_writing(const datum_use& u, unsigned at) {
  if (mine_.is_on) return;
  datum_place& its = u.of->place;
  // A value that others add to is not whole yet; what many read goes on from those that have it;
  // what is lent is not sent by who wrote it.
  const bool pushes =
      u.mode != access_mode::add && its.read_at.size() <= value_branches && graph_.lends == nullptr;
  for (const unsigned to : its.read_at) {
    if (!pushes || to == at) continue;
    if (std::ranges::find(its.read_before_at, to) == its.read_before_at.end()) continue;
    made_.to_push.push_back({to, u.of});
  }
  its.read_before_at.swap(its.read_at);
  its.read_at.clear();
}

void distribution::push(unsigned from) noexcept {
  auto& all = made_.to_push;
  if (all.empty()) return;
  try {
    std::vector<any_datum*> data;
    while (!all.empty()) {
      const unsigned to = all.front().to;
      data.clear();
      for (const auto& p : all)
        if (p.to == to) data.push_back(p.datum);
      std::erase_if(all, [to](const auto& p) { return p.to == to; });
      if (data.size() > 1) transfer(data, from, to, ++graph_.made_);
    }
    flush();
  } catch (...) {
    graph_.keep(graph_.made_, std::current_exception());
    cancel();  // others may wait for what this node was to send
  }
}

}  // namespace cleave::detail
