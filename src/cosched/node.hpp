#pragma once

#include "cosched/costs.hpp"
#include "cosched/doorbell.hpp"
#include "cosched/platform.hpp"
#include "cosched/spin_time.hpp"
#include "machine/shared_memory.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <new>
#include <string>

/// The memory that the ranks of one job on one node share.
namespace cleave::cosched {

struct alignas(128) slot {
  doorbell<platform> bell;
  std::atomic<nanoseconds> rung_at{0};    // when it was rung last, by the monotonic clock
  alignas(128) std::atomic<int> cpu{-1};  // where its last wait began
};

/// A set of CPUs, with a bit for each.
using cpu_bits = std::array<std::uint64_t, 16>;

/// What ranks tell the others. When the job begins, one rank tells what it has measured while the
/// others slept, so that CPUs were idle; and each rank tells which CPUs it may use. When the job
/// ends, each rank says that it does.
struct alignas(128) told_once {
  std::atomic<std::uint32_t> told{0};
  costs what{};
  std::array<std::atomic<std::uint64_t>, std::tuple_size_v<cpu_bits>> cpus{};
  std::atomic<unsigned> ended{0};
};

class node {
public:
  /// Makes the memory, under a random name that others can open until forget_name(). Null if it
  /// cannot be had.
  static std::unique_ptr<node> make(unsigned ranks);
  /// Opens the memory of this name. Null if it cannot be had.
  static std::unique_ptr<node> open(const std::string& name, unsigned ranks);
  node(const node&) = delete;

  const std::string& name() const noexcept { return name_; }
  /// Removes the name: from then on nothing of the memory is left behind, however the job ends.
  void forget_name() noexcept;

  board<platform>& sleepers() noexcept { return *sleepers_; }
  slot& of(unsigned i) noexcept { return slots_[i]; }
  /// Tells that rank `i` begins to wait on this CPU. Returns whether all others began their last
  /// wait there: they can go on only when rank `i` leaves it.
  bool waits_on(unsigned i, int cpu) noexcept;

  /// Tells all ranks these costs. One rank calls it, once.
  void tell(const costs& c) noexcept;
  /// Blocks until a rank has told the costs.
  costs await_costs() noexcept;

  /// Tells the other ranks which CPUs this one may use.
  void use_cpus() noexcept;
  /// The CPUs that any rank may use, after all have told.
  cpu_bits used_cpus() const noexcept;
  /// The number of CPUs that any rank may use.
  unsigned cpus() const noexcept;
  /// Whether there are fewer CPUs than ranks.
  bool ranks_share_cpus() const noexcept;

  /// This rank ends; returns whether it is the last one.
  bool ends_last() noexcept;

  static constexpr unsigned most_ranks = board<platform>::capacity;

private:
  node(std::string name, unsigned ranks, machine::shared_memory memory, bool first) noexcept;
  static std::size_t bytes_for(unsigned ranks) noexcept;

  std::string name_;
  unsigned ranks_;
  machine::shared_memory memory_;
  board<platform>* sleepers_;
  told_once* told_;
  slot* slots_;
};

}  // namespace cleave::cosched
