#pragma once

#include "core/worker.hpp"
#include "machine/thread.hpp"
#include "trace/session.hpp"

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace cleave::detail {

class proxy;

/// The workers of one runtime and what they share.
class pool {
public:
  struct plan {
    unsigned workers = 1;
    std::size_t stack_bytes = 0;
    bool check = false;   // CLEAVE_CHECK
    bool cutoff = true;   // CLEAVE_CUTOFF
    native::bell others;  // wakes who speaks for other nodes; none: this process is alone
    unsigned cpus = 1;    // that this process may use
  };
  /// `recording` may be null. Throws std::system_error.
  pool(const plan& p, std::unique_ptr<trace::session> recording);
  ~pool();
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// Hands a root task to a worker and blocks until it is done.
  void run(task& root);
  task* take_root() noexcept;
  bool has_root() const noexcept { return roots_waiting.load(std::memory_order_seq_cst) != 0; }
  /// Tells every worker of every pool that some scope was stopped.
  static void interrupt_all() noexcept;

  /// Null if this process is alone.
  proxy* outside() const noexcept { return outside_.get(); }

  worker& at(unsigned i) noexcept { return *workers[i]; }
  unsigned size() const noexcept { return static_cast<unsigned>(workers.size()); }

  const std::unique_ptr<trace::session> recording;
  exchange<native> meeting;
  std::atomic<bool> stopping{false};
  const bool check;                         // CLEAVE_CHECK
  const bool cutoff;                        // CLEAVE_CUTOFF
  std::atomic<unsigned> check_pauses{0};    // undivided runs under way
  const bool oversubscribed;                // there are more workers than CPUs
  const std::chrono::milliseconds off_cpu;  // how long workers that share CPUs may be off them
  const unsigned most_askers;               // workers that may ask at once

private:
  static constexpr unsigned failed = ~0u;  // `started` of a pool whose threads could not be had
  static void begin(void* self);

  std::vector<std::unique_ptr<worker>> workers;
  std::unique_ptr<proxy> outside_;  // before the threads begin: they read it
  std::atomic<unsigned> started{0};
  std::atomic<unsigned> leaving{0};
  std::mutex roots_mutex;
  std::deque<task*> roots;
  std::atomic<std::size_t> roots_waiting{0};
  std::vector<std::unique_ptr<machine::thread>> threads;
};

}  // namespace cleave::detail
