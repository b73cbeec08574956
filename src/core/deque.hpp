#pragma once

#include <cleave/detail/task.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

namespace cleave::detail {

/// Room for a deque's entries: a power of two of them.
template <class Entry>
struct ring {
  Entry& at(std::int64_t i) const noexcept {
    return entries[static_cast<std::size_t>(i & (capacity - 1))];
  }
  std::int64_t capacity = 0;
  Entry* entries = nullptr;
};

/// The rings that one deque has had. All of them stay: thieves may still read an old one.
template <class Entry>
class heap_rings {
public:
  /// Throws std::bad_alloc; then nothing has changed.
  ring<Entry>& make(std::int64_t capacity) {
    auto& made = *all_.emplace_back(std::make_unique<owned>(capacity));
    return made.of;
  }

private:
  struct owned {
    explicit owned(std::int64_t n)
        : entries(new Entry[static_cast<std::size_t>(n)]), of{n, entries.get()} {}
    std::unique_ptr<Entry[]> entries;
    ring<Entry> of;
  };
  std::vector<std::unique_ptr<owned>> all_;
};

/// A bit in a deque's top, beside the place of the oldest task: a thief looks at that task, and
/// nobody else takes it.
inline constexpr std::int64_t top_looked_at = std::int64_t{1} << 62;

/// The machine's own atomics, and rings from the heap.
struct native_deque {
  static constexpr std::int64_t first_capacity = 256;
  template <class T>
  using atomic = std::atomic<T>;
  /// Waits until the atomic may have another value.
  static void pause(const atomic<std::int64_t>&, std::int64_t) noexcept {
    std::this_thread::yield();
  }
  template <class Entry>
  using rings = heap_rings<Entry>;
};

/// Ready tasks of task groups: the owner pushes and takes at the bottom, anybody steals at the top.
/// Entries keep the group beside the task, for the owner, who may not touch a task that may be
/// gone.
///
/// A thief that wants only what is below some scope has to look at the scopes of a task before it
/// takes it. They are there for as long as nobody else can take the task, so it marks the top
/// meanwhile. Nobody steals then, and the owner takes all but the task that is looked at. Source:
/// Chase and Lev, SPAA 2005, with the memory orders of Lê et al., PPoPP 2013; the fences are
/// seq_cst accesses, which ThreadSanitizer understands. Platform says what an atomic is and where
/// rings come from, so that the model checker can stand in.
template <class Platform>
class deque {
  template <class T>
  using atomic = typename Platform::template atomic<T>;

public:
  deque() : ring_(&rings_.make(Platform::first_capacity)) {}

  /// Owner only. Makes room for one more. Throws std::bad_alloc.
  void reserve() {
    const std::int64_t b = bottom();
    const ring_type* const r = ring_.load(std::memory_order_relaxed);
    if (b - place(top_.load(std::memory_order_acquire)) >= r->capacity) grow(*r, b);
  }
  /// Owner only, where there is room. seq_cst: partner of an asker that rings and then looks into
  /// every deque.
  void push(task& t) noexcept {
    const std::int64_t b = bottom();
    put(*ring_.load(std::memory_order_relaxed), b, &t, t.parent);
    bottom_.store(b + 1, std::memory_order_seq_cst);
  }
  /// Owner only: the place where the next task goes.
  std::int64_t bottom() const noexcept { return bottom_.load(std::memory_order_relaxed); }

  /// Owner only: how many tasks there are, at most; others may take some.
  std::int64_t size() const noexcept {
    return bottom() - place(top_.load(std::memory_order_relaxed));
  }

  /// Owner only: the group of the task pushed last, if there is one; it may be taken by others.
  const scope* newest() const noexcept {
    const std::int64_t b = bottom_.load(std::memory_order_relaxed) - 1;
    return ring_.load(std::memory_order_relaxed)->at(b).group.load(std::memory_order_relaxed);
  }

  /// Owner only: the task pushed last, or null.
  task* take() noexcept {
    const std::int64_t b = bottom_.load(std::memory_order_relaxed) - 1;
    const ring_type* const r = ring_.load(std::memory_order_relaxed);
    bottom_.store(b, std::memory_order_seq_cst);
    std::int64_t t = top_.load(std::memory_order_seq_cst);
    while (place(t) >= b) {
      task* last = nullptr;
      if (t == b) {
        if (!top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst,
                                          std::memory_order_relaxed))
          continue;
        last = r->at(b).item.load(std::memory_order_relaxed);
      } else if (place(t) == b) {  // a thief looks at the task
        Platform::pause(top_, t);
        t = top_.load(std::memory_order_seq_cst);
        continue;
      }
      bottom_.store(b + 1, std::memory_order_relaxed);
      return last;
    }
    return r->at(b).item.load(std::memory_order_relaxed);
  }

  /// Anybody: the oldest task; null if there is none, another took it, or one looks at it.
  task* steal() noexcept {
    std::int64_t t = top_.load(std::memory_order_seq_cst);
    if (t >= bottom_.load(std::memory_order_seq_cst)) return nullptr;
    const entry& e = ring_.load(std::memory_order_acquire)->at(t);
    task* const item = e.item.load(std::memory_order_relaxed);
    // Success means that nobody moved top: the load was of the entry at t.
    if (!top_.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst,
                                      std::memory_order_relaxed))
      return nullptr;
    return item;
  }

  /// Anybody: the oldest task, if its group is `wanted` or below it; else null, and also if another
  /// thief came first. `wanted` is there.
  task* steal_within(const scope& wanted) noexcept {
    std::int64_t t = top_.load(std::memory_order_seq_cst);
    for (;; t = top_.load(std::memory_order_seq_cst)) {
      if (place(t) >= bottom_.load(std::memory_order_seq_cst)) return nullptr;
      if (t == place(t)) break;
      Platform::pause(top_, t);
    }
    if (!top_.compare_exchange_strong(t, t | top_looked_at, std::memory_order_seq_cst,
                                      std::memory_order_relaxed))
      return nullptr;
    task* found = nullptr;
    // Once more, as in steal(): the owner may have taken it before it was marked.
    if (t < bottom_.load(std::memory_order_seq_cst)) {
      const entry& e = ring_.load(std::memory_order_acquire)->at(t);
      if (is_within(e.group.load(std::memory_order_relaxed), &wanted, wanted.depth))
        found = e.item.load(std::memory_order_relaxed);
    }
    top_.store(found != nullptr ? t + 1 : t, std::memory_order_seq_cst);
    return found;
  }

  /// Owner only: whether a task of the group is in it, at the place `from` or above.
  bool holds(const scope* group, std::int64_t from) const noexcept {
    const ring_type* const r = ring_.load(std::memory_order_relaxed);
    const std::int64_t end = bottom_.load(std::memory_order_relaxed);
    for (std::int64_t i = std::max(from, place(top_.load(std::memory_order_acquire))); i < end;
         ++i) {
      if (r->at(i).group.load(std::memory_order_relaxed) == group) return true;
    }
    return false;
  }

  bool empty() const noexcept {
    return place(top_.load(std::memory_order_seq_cst)) >= bottom_.load(std::memory_order_seq_cst);
  }

private:
  static constexpr std::int64_t place(std::int64_t top) noexcept { return top & ~top_looked_at; }

  struct entry {
    atomic<task*> item{nullptr};
    atomic<const scope*> group{nullptr};
  };
  using ring_type = ring<entry>;

  static void put(const ring_type& to, std::int64_t i, task* t, const scope* group) noexcept {
    to.at(i).item.store(t, std::memory_order_relaxed);
    to.at(i).group.store(group, std::memory_order_relaxed);
  }
  void grow(const ring_type& old, std::int64_t bottom) {
    ring_type& bigger = rings_.make(old.capacity * 2);
    for (std::int64_t i = place(top_.load(std::memory_order_relaxed)); i < bottom; ++i) {
      const entry& e = old.at(i);  // the task itself may be stolen and gone by now
      put(bigger, i, e.item.load(std::memory_order_relaxed),
          e.group.load(std::memory_order_relaxed));
    }
    ring_.store(&bigger, std::memory_order_release);  // acquired by steal()
  }

  typename Platform::template rings<entry> rings_;
  alignas(64) atomic<std::int64_t> top_{0};
  alignas(64) atomic<std::int64_t> bottom_{0};
  atomic<ring_type*> ring_;
};

/// Makes a task ready that its group counts as pending; the group's owner counts for itself. In
/// this order: a thief may have finished it at once, and what is then counted must not be zero
/// while the task that spawns it goes on. The push releases the count to whoever steals the task
/// and counts it off. There is room for it.
template <class Pending, class Ready>
void count_and_push(Pending& pending, bool own, Ready& ready, task& t) noexcept {
  own ? pending.begin_own() : pending.begin();
  ready.push(t);
}

}  // namespace cleave::detail
