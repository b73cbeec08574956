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

/// CPUs, a bit each.
using cpu_bits = std::array<std::uint64_t, 16>;

/// What ranks tell the others. When the job begins: one what it has measured while the others
/// slept, so that CPUs were idle; each which CPUs it may use. When it ends: each that it does.
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
  /// Opens it. Null if it cannot be had.
  static std::unique_ptr<node> open(const std::string& name, unsigned ranks);
  node(const node&) = delete;

  const std::string& name() const noexcept { return name_; }
  /// From then on nothing of it is left behind, however the job ends.
  void forget_name() noexcept;

  board<platform>& sleepers() noexcept { return *sleepers_; }
  slot& of(unsigned i) noexcept { return slots_[i]; }
  /// Rank `i` begins to wait on this CPU. Whether all others did so last: they can go on only when
  /// it leaves it.
  bool waits_on(unsigned i, int cpu) noexcept;

  /// By one rank, once.
  void tell(const costs& c) noexcept;
  /// Blocks until it has.
  costs await_costs() noexcept;

  /// This rank may use the CPUs that it may use now.
  void use_cpus() noexcept;
  /// Those that any rank may use, after all have told.
  cpu_bits used_cpus() const noexcept;
  /// How many those are.
  unsigned cpus() const noexcept;
  /// Whether those are fewer than the ranks.
  bool ranks_share_cpus() const noexcept;

  /// This rank ends. Whether it is the last one.
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
