// Whose turn it is: round robin among the jobs that are not paused. Jobs that share no node run in
// the same turn.
#pragma once

#include <algorithm>
#include <deque>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace gang {

using job_id = std::string;
using node_set = std::set<std::string>;

//            next, or whoever ran has left
//      +-----------------------------------+
//      v                                   |
//   running ------- next ----------> waiting <--- place
//      |                               |  ^
//      +------ pause ---> paused <-----+  |
//                            +-- resume --+
enum class state { waiting, running, paused };

// Invariants:
// 1. At most one of the jobs that share a node runs. 2. Whoever waits shares a node with one that
// runs and stands before it. 3. Whoever has run stands behind all who have waited: everybody's turn
// comes. Who runs follows from the order alone, so nothing has to be kept in step with it. Owned by
// the daemon's only thread.
class round_robin {
public:
  // Jobs in one turn, which is told in one message.
  static constexpr std::size_t most_together = 64;

  // Places a new job last in the ring; one that is there keeps its place.
  void place(const job_id& job, node_set nodes) {
    for (auto* list : {&ring_, &paused_})
      for (entry& e : *list)
        if (e.job == job) {
          e.nodes = std::move(nodes);
          return;
        }
    ring_.push_back({job, std::move(nodes)});
  }
  void remove(const job_id& job) {
    const auto is = [&](const entry& e) { return e.job == job; };
    std::erase_if(ring_, is), std::erase_if(paused_, is);
  }

  // The slice is over: the jobs that ran go to the end.
  void next() {
    const auto ran = running();
    const auto is = [&](const entry& e) {
      return std::find(ran.begin(), ran.end(), e.job) != ran.end();
    };
    std::deque<entry> last;
    std::copy_if(ring_.begin(), ring_.end(), std::back_inserter(last), is);
    std::erase_if(ring_, is);
    ring_.insert(ring_.end(), last.begin(), last.end());
  }
  // Both return whether they changed anything: whether the job is there, and in the other state.
  bool pause(const job_id& job) { return move(job, ring_, paused_); }
  bool resume(const job_id& job) { return move(job, paused_, ring_); }

  // The jobs that run, in the ring's order.
  std::vector<job_id> running() const {
    std::vector<job_id> jobs;
    node_set taken;
    for (const entry& e : ring_) {
      if (jobs.size() == most_together) break;
      const auto is_taken = [&](const std::string& node) { return taken.count(node) != 0; };
      if (std::any_of(e.nodes.begin(), e.nodes.end(), is_taken)) continue;
      taken.insert(e.nodes.begin(), e.nodes.end());
      jobs.push_back(e.job);
    }
    return jobs;
  }
  // Whether the end of the slice would change anything.
  bool contended() const { return ring_.size() > running().size(); }
  // All jobs that are there, in no order.
  std::vector<job_id> jobs() const {
    std::vector<job_id> all;
    for (const auto* list : {&ring_, &paused_})
      for (const entry& e : *list) all.push_back(e.job);
    return all;
  }
  // The state of a job that is there.
  state of(const job_id& job) const {
    const auto is = [&](const entry& e) { return e.job == job; };
    if (std::any_of(paused_.begin(), paused_.end(), is)) return state::paused;
    const auto run = running();
    return std::find(run.begin(), run.end(), job) != run.end() ? state::running : state::waiting;
  }

private:
  struct entry {
    job_id job;
    node_set nodes;
  };
  static bool move(const job_id& job, std::deque<entry>& from, std::deque<entry>& to) {
    const auto at =
        std::find_if(from.begin(), from.end(), [&](const entry& e) { return e.job == job; });
    if (at == from.end()) return false;
    to.push_back(std::move(*at));
    from.erase(at);
    return true;
  }

  std::deque<entry> ring_, paused_;
};

}  // namespace gang
