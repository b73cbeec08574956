#pragma once

#include "transport/launch.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>

namespace cleave::net {

/// What one process of this host was started as. Nothing is known of a job without a name.
struct started_rank {
  std::string job;  // PMIx's name space
  int host_rank = -1;
};
/// Reads what a process was started as from an environment as /proc has it: variables that end with
/// a NUL each.
started_rank read_started_rank(std::string_view environment);

/// Ranks of `own`'s job on this host that no process is any more, by their numbers on it. Empty
/// also where that cannot be known: the launcher says too little, or its processes are hidden.
std::set<int> ranks_gone(const started_rank& own, int host_ranks);

/// While it lives MPI is being started, which blocks until all ranks have come; where one of them
/// has died, for ever (Open MPI 5 with ULFM, which tells nobody before it is up). After a while one
/// rank of each host says what is waited for; from then on a job of which a rank is gone is ended.
class start_watch {
public:
  /// CLEAVE_START_PATIENCE, in seconds. Throws std::invalid_argument.
  static std::chrono::seconds patience();

  start_watch(const launch& mine, std::chrono::seconds patience);
  ~start_watch();
  start_watch(const start_watch&) = delete;
  start_watch& operator=(const start_watch&) = delete;

private:
  void watch(const launch& mine, std::chrono::seconds patience);

  std::mutex mutex_;
  std::condition_variable started_;
  bool is_started_ = false;  // with that mutex
  std::thread thread_;
};

}  // namespace cleave::net
