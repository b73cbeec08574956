#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace cleave::detail {

/// Memory for the tasks that one worker spawns: blocks of one size, which go back to it from
/// whichever thread frees them. Large tasks, and those of threads that are no workers, come from
/// the heap.
///
/// Invariant: a block is in use, in free_ (the worker's own list), or in returned_ (where other
/// threads put it). Chunks stay until the worker ends; tasks do not outlive it.
class task_slab {
public:
  static constexpr std::size_t block_bytes = 256;

  /// Memory for a task; `slab` is the calling worker's, or null. Throws std::bad_alloc.
  static void* allocate(task_slab* slab, std::size_t bytes);
  /// Any thread; `slab` is its own, or null.
  static void release(task_slab* slab, void* memory) noexcept;

private:
  struct alignas(std::max_align_t) header {
    task_slab* of;  // null: it is from the heap
  };
  struct block : header {
    block* next;
  };
  static constexpr std::size_t blocks_in_chunk = 64;
  struct alignas(64) room {
    std::byte bytes[block_bytes];
  };

  block* take();
  void refill();

  block* free_ = nullptr;
  std::vector<std::unique_ptr<room[]>> chunks_;
  alignas(64) std::atomic<block*> returned_{nullptr};
};

}  // namespace cleave::detail
