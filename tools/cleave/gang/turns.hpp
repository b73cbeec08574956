// Whose turn it is: round robin among the jobs that are not paused.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

namespace gang {

using job_id = int;

//            next, or whoever ran has left
//      +-----------------------------------+
//      v                                   |
//   running ------- next ----------> waiting <--- add
//      |                               |  ^
//      +------ pause ---> paused <-----+  |
//                            +-- resume --+
enum class state { waiting, running, paused };

// Invariant: if any job is not paused, exactly one runs. It is the first of the ring by
// construction, so nothing has to be kept in step with it. Owned by the daemon's only thread.
class turns {
public:
  void add(job_id job) { ring_.push_back(job); }
  void remove(job_id job) { std::erase(ring_, job), std::erase(paused_, job); }

  // The slice is over.
  void next() {
    if (!ring_.empty()) std::rotate(ring_.begin(), ring_.begin() + 1, ring_.end());
  }
  // Both return whether it changed anything: the job is there, and in the other state.
  bool pause(job_id job) {
    if (std::erase(ring_, job) == 0) return false;
    paused_.push_back(job);
    return true;
  }
  bool resume(job_id job) {
    if (std::erase(paused_, job) == 0) return false;
    ring_.push_back(job);
    return true;
  }

  std::optional<job_id> running() const {
    return ring_.empty() ? std::nullopt : std::optional(ring_.front());
  }
  // Whether the end of the slice would change anything.
  bool contended() const { return ring_.size() > 1; }
  // Of a job that is there.
  state of(job_id job) const {
    if (running() == job) return state::running;
    return std::find(ring_.begin(), ring_.end(), job) != ring_.end() ? state::waiting
                                                                     : state::paused;
  }

private:
  std::deque<job_id> ring_;
  std::vector<job_id> paused_;
};

}  // namespace gang
