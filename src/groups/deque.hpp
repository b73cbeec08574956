#pragma once

#include <cleave/detail/task.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace cleave::detail {

/// Ready tasks of task groups: the owner pushes and takes at the bottom, anybody steals at the top.
/// Entries keep the group beside the task, so that a thief can pick by group without touching a
/// task that may be gone. Source: Chase and Lev, SPAA 2005, with the memory orders of Lê et al.,
/// PPoPP 2013; the fences are seq_cst accesses, which ThreadSanitizer understands.
class deque {
public:
  deque() : ring_(new ring(256)) { rings_.emplace_back(ring_.load(std::memory_order_relaxed)); }

  /// Owner only. Makes room for one more. Throws std::bad_alloc.
  void reserve() {
    const std::int64_t b = bottom();
    const ring* const r = ring_.load(std::memory_order_relaxed);
    if (b - top_.load(std::memory_order_acquire) >= r->capacity) grow(*r, b);
  }
  /// Owner only, where there is room. seq_cst: partner of an asker that rings and then looks into
  /// every deque.
  void push(task& t) noexcept {
    const std::int64_t b = bottom();
    ring_.load(std::memory_order_relaxed)->put(b, &t, t.parent);
    bottom_.store(b + 1, std::memory_order_seq_cst);
  }
  /// Owner only: where the next one goes.
  std::int64_t bottom() const noexcept { return bottom_.load(std::memory_order_relaxed); }

  /// Owner only: the task pushed last, or null.
  task* take() noexcept {
    const std::int64_t b = bottom_.load(std::memory_order_relaxed) - 1;
    ring* r = ring_.load(std::memory_order_relaxed);
    bottom_.store(b, std::memory_order_seq_cst);
    std::int64_t t = top_.load(std::memory_order_seq_cst);
    if (t < b) return r->at(b).item.load(std::memory_order_relaxed);
    task* last = nullptr;
    if (t == b && top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst,
                                               std::memory_order_relaxed)) {
      last = r->at(b).item.load(std::memory_order_relaxed);
    }
    bottom_.store(b + 1, std::memory_order_relaxed);
    return last;
  }

  /// Anybody: the oldest task, if it belongs to `group` (null: to any); null if there is none or
  /// another took it.
  task* steal(const scope* group) noexcept {
    std::int64_t t = top_.load(std::memory_order_seq_cst);
    if (t >= bottom_.load(std::memory_order_seq_cst)) return nullptr;
    const entry& e = ring_.load(std::memory_order_acquire)->at(t);
    task* const item = e.item.load(std::memory_order_relaxed);
    const scope* const of = e.group.load(std::memory_order_relaxed);
    if (group != nullptr && group != of) return nullptr;
    // Success means that nobody moved top: both loads were of the entry at t.
    if (!top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst,
                                      std::memory_order_relaxed))
      return nullptr;
    return item;
  }

  /// Owner only: whether a task of the group is in it, at any place.
  bool holds(const scope* group) const noexcept {
    const ring* const r = ring_.load(std::memory_order_relaxed);
    const std::int64_t end = bottom_.load(std::memory_order_relaxed);
    for (std::int64_t i = top_.load(std::memory_order_acquire); i < end; ++i) {
      if (r->at(i).group.load(std::memory_order_relaxed) == group) return true;
    }
    return false;
  }

  bool empty() const noexcept {
    return top_.load(std::memory_order_seq_cst) >= bottom_.load(std::memory_order_seq_cst);
  }

private:
  struct entry {
    std::atomic<task*> item{nullptr};
    std::atomic<const scope*> group{nullptr};
  };
  struct ring {
    explicit ring(std::int64_t n) : capacity(n), entries(new entry[static_cast<std::size_t>(n)]) {}
    entry& at(std::int64_t i) const noexcept {
      return entries[static_cast<std::size_t>(i & (capacity - 1))];
    }
    void put(std::int64_t i, task* t, const scope* group) noexcept {
      at(i).item.store(t, std::memory_order_relaxed);
      at(i).group.store(group, std::memory_order_relaxed);
    }
    std::int64_t capacity;
    std::unique_ptr<entry[]> entries;
  };

  void grow(const ring& old, std::int64_t bottom) {
    rings_.push_back(std::make_unique<ring>(old.capacity * 2));  // thieves may still read the old
    ring* const bigger = rings_.back().get();
    for (std::int64_t i = top_.load(std::memory_order_relaxed); i < bottom; ++i) {
      const entry& e = old.at(i);  // the task itself may be stolen and gone by now
      bigger->put(i, e.item.load(std::memory_order_relaxed),
                  e.group.load(std::memory_order_relaxed));
    }
    ring_.store(bigger, std::memory_order_release);  // acquired by steal()
  }

  alignas(64) std::atomic<std::int64_t> top_{0};
  alignas(64) std::atomic<std::int64_t> bottom_{0};
  std::atomic<ring*> ring_;
  std::vector<std::unique_ptr<ring>> rings_;
};

}  // namespace cleave::detail
