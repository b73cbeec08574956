#pragma once

#include "core/requests.hpp"
#include "node/nodes/loopback.hpp"

#include <cleave/cleave.hpp>

#include <chrono>
#include <map>
#include <mutex>
#include <ostream>
#include <string>
#include <vector>

/// Tasks that all nodes of a job run together, in one process.
namespace cleave::tests {

using namespace std::chrono_literals;

/// What copies of a task leave for the test: they cannot point to anything.
class notes {
public:
  void clear() {
    std::lock_guard lock(mutex_);
    by_rank_.clear();
  }
  void add(unsigned rank, const std::string& what) {
    std::lock_guard lock(mutex_);
    by_rank_[rank].push_back(what);
  }
  std::map<unsigned, std::vector<std::string>> all() {
    std::lock_guard lock(mutex_);
    return by_rank_;
  }

private:
  std::mutex mutex_;
  std::map<unsigned, std::vector<std::string>> by_rank_;
};
inline notes noted;

struct shape {
  unsigned nodes, workers;
  microseconds delay;
};
inline void PrintTo(const shape& s, std::ostream* to) {
  *to << s.nodes << " nodes, " << s.workers << " workers, " << s.delay.count() << " us";
}

class team_of : public testing::TestWithParam<shape> {
protected:
  void SetUp() override { noted.clear(); }
  static weather of(shape s) {
    weather w;
    w.delay = s.delay;
    w.workers_send = s.nodes != 3;
    return w;
  }
  job j{GetParam().nodes, GetParam().workers, of(GetParam())};
  const unsigned size = GetParam().nodes;
};

inline std::string shape_name(const testing::TestParamInfo<shape>& of) {
  return std::to_string(of.param.nodes) + "_nodes_of_" + std::to_string(of.param.workers) +
         "_within_" + std::to_string(of.param.delay.count()) + "_us";
}

}  // namespace cleave::tests
