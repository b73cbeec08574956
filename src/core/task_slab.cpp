#include "core/task_slab.hpp"

#include <new>

namespace cleave::detail {
namespace {

/// AddressSanitizer finds what is used after it was freed only if the heap has it.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool uses_heap = true;
#elif defined(__has_feature)
constexpr bool uses_heap = __has_feature(address_sanitizer);
#else
constexpr bool uses_heap = false;
#endif

}  // namespace

void* task_slab::allocate(task_slab* slab, std::size_t bytes) {
  if (slab == nullptr || bytes > block_bytes - sizeof(header) || uses_heap) {
    auto* const from_heap = static_cast<header*>(::operator new(bytes + sizeof(header)));
    from_heap->of = nullptr;
    return from_heap + 1;
  }
  block* const b = slab->take();
  b->of = slab;
  return static_cast<header*>(b) + 1;
}

void task_slab::release(task_slab* slab, void* memory) noexcept {
  header* const h = static_cast<header*>(memory) - 1;
  if (h->of == nullptr) return ::operator delete(h);
  auto* const b = static_cast<block*>(h);
  if (h->of == slab) {
    b->next = slab->free_;
    slab->free_ = b;
    return;
  }
  std::atomic<block*>& returned = h->of->returned_;
  b->next = returned.load(std::memory_order_relaxed);
  // Release: the task's last use of the block, acquired by refill().
  while (!returned.compare_exchange_weak(b->next, b, std::memory_order_release,
                                         std::memory_order_relaxed)) {}
}

task_slab::block* task_slab::take() {
  if (free_ == nullptr) refill();
  block* const b = free_;
  free_ = b->next;
  return b;
}

void task_slab::refill() {
  // All of the list is taken at once, so no block of it can have come back meanwhile.
  free_ = returned_.exchange(nullptr, std::memory_order_acquire);
  if (free_ != nullptr) return;
  chunks_.push_back(std::make_unique<room[]>(blocks_in_chunk));
  for (std::size_t i = 0; i < blocks_in_chunk; ++i) {
    auto* const b = new (chunks_.back()[i].bytes) block;
    b->next = free_;
    free_ = b;
  }
}

}  // namespace cleave::detail
