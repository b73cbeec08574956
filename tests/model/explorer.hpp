#pragma once

#include <ucontext.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

/// Runs a few threads through every interleaving of their atomic operations, on the memory model of
/// x86: sequentially consistent but for stores weaker than seq_cst, which wait in a buffer (TSO).
/// Depth first. A state is the bytes of the World and of the threads' stacks: none is entered a
/// second time, and going back to one is copying it back.
namespace model {

/// What an atomic is to the explorer.
struct cell {
  std::uint64_t value;
};

struct verdict {
  std::string violation;  // empty: no schedule has one
  std::string schedule;   // the shortest that leads to it, one operation a line
  std::string given_up;   // not empty: the memory was not enough, and nothing is known
  std::size_t states = 0, steps = 0;
};

class explorer {
public:
  static constexpr unsigned most_threads = 4, unbounded = ~0u;
  static constexpr std::size_t usual_bytes = std::size_t{2} << 30;

  /// World: threads(), run(i) as the body of thread i, check() after the last has ended, and
  /// name(address) of what is in it. It must be copyable as bytes and use no heap; nor may a thread
  /// throw (what is being caught is not on its stack).
  /// With a bound, only schedules in which at most so many times another thread goes on while the
  /// one before still could: with three threads and more, all would take too long.
  template <class World>
  verdict explore(unsigned most_preemptions = unbounded) {
    most_preemptions_ = most_preemptions;
    static_assert(sizeof(World) % 8 == 0 && std::is_trivially_destructible_v<World>);
    alignas(World) static char place[sizeof(World)];
    static const auto& world = *std::launder(reinterpret_cast<World*>(place));
    world_ = place, size_ = sizeof place;
    make_ = [](void* at) { now_->count_ = (new (at) World)->threads(); };
    run_ = [](void* at, unsigned i) { static_cast<World*>(at)->run(i); };
    check_ = [] { world.check(); };
    name_ = [](const void* at) { return world.name(at); };
    verdict result;
    search();
    result.states = known_.size(), result.steps = steps_;
    if (gives_up()) {
      result.given_up = "given up after " + std::to_string(known_.size()) + " states and " +
                        std::to_string(steps_) + " steps: they take more than " +
                        std::to_string(most_bytes_ >> 20) + " MiB";
      return result;
    }
    if (shortest_.empty()) return result;
    if (!endless_) search();  // what it has found by the end of its memory is a schedule, too
    result.violation = violation_;
    trace_ = &result.schedule;
    begin();
    for (const unsigned c : shortest_) take(c);
    return result;
  }

  /// Gives up when the states that it has to remember take more than `most_bytes`: a broken
  /// protocol may have no end of them.
  explicit explorer(std::size_t most_bytes = usual_bytes) : most_bytes_(most_bytes) { now_ = this; }
  ~explorer() { now_ = nullptr; }
  explorer(const explorer&) = delete;

  /// The explorer while it runs a thread; null while a World is made or checked.
  static explorer* running() {
    return now_ != nullptr && now_->current_ != nobody ? now_ : nullptr;
  }
  static void fail(const char* what) {
    now_->wrong_ = what;
    if (running() != nullptr) now_->leave();
  }

  // ---- called by the threads

  /// Waits until this thread is chosen to do its next operation. With a mask, it can only be chosen
  /// while the cell has one of these bits.
  [[gnu::noinline]] void point(const cell* guard = nullptr, std::uint64_t mask = 0) {
    threads_[current_].guard = guard, threads_[current_].mask = mask;
    __builtin_unwind_init();  // puts the registers on the stack: they are part of the state
    leave();
    threads_[current_].guard = nullptr;
    wipe();
  }
  std::uint64_t read(const cell& c) const {
    const thread& me = threads_[current_];
    for (unsigned i = me.stored; i-- != 0;) {
      if (me.buffer[i].to == &c) return me.buffer[i].value;
    }
    return c.value;
  }
  void write_later(cell& c, std::uint64_t value) {
    thread& me = threads_[current_];
    if (me.stored == most_stored) flush(current_);
    me.buffer[me.stored++] = {&c, value};
  }
  void drain() {
    while (threads_[current_].stored != 0) flush(current_);
  }
  void sleep_on(const cell& c) {
    threads_[current_].asleep_on = &c;
    point();
  }
  void wake(const cell& c) {
    for (thread& t : threads_) {
      if (t.asleep_on == &c) t.asleep_on = nullptr;
    }
  }
  /// What the model wants to remember of the running thread, as part of the state. Zero at first.
  std::uint64_t& note() { return threads_[current_].note; }
  void tell(const char* what, const cell& c, std::uint64_t before, std::uint64_t after) {
    if (trace_ == nullptr) return;
    auto text = [this](std::uint64_t v) {
      if (v < 4096) return std::to_string(v);
      return name_(reinterpret_cast<void*>(v & ~std::uint64_t{7})) + ((v & 1) != 0 ? "?" : "");
    };
    *trace_ += "  " + std::to_string(current_) + ": " + name_(&c) + " " + what + " " + text(before);
    *trace_ += (before == after ? "" : " -> " + text(after)) + "\n";
  }

private:
  static constexpr unsigned nobody = most_threads, most_stored = 4, margin = 256;
  static constexpr std::size_t stack_bytes = 16 << 10;

  struct store {
    cell* to;
    std::uint64_t value;
  };
  struct thread {
    ucontext_t context;
    char* top;  // of the stack's part that is in use
    const cell* asleep_on;
    const cell* guard;
    std::uint64_t mask;
    std::uint64_t note;
    bool finished;
    unsigned stored;
    store buffer[most_stored];
  };
  struct node {
    std::uint64_t state;
    std::uint32_t
        left;  // choices not tried yet, a bit each: a thread's step or most_threads + its flush
    unsigned taken;
    unsigned last, preemptions;
    std::vector<char> saved;
  };
  struct visit {
    std::size_t depth;
    bool open;  // on the path
  };

  char* end_of(unsigned i) { return stacks_[i] + stack_bytes; }

  void begin() {
    std::memset(world_, 0, size_);
    std::memset(stacks_, 0, sizeof stacks_);
    wrong_ = nullptr, last_ = nobody, preemptions_ = 0;
    make_(world_);
    for (unsigned i = 0; i < count_; ++i) {
      thread& t = threads_[i];
      std::memset(&t, 0, sizeof t);
      getcontext(&t.context);
      t.context.uc_stack.ss_sp = stacks_[i];
      t.context.uc_stack.ss_size = stack_bytes;
      makecontext(&t.context, &body, 0);
      t.top = end_of(i) - margin;
    }
  }
  static void body() {
    now_->run_(now_->world_, now_->current_);
    now_->threads_[now_->current_].finished = true;
    now_->leave();
  }
  /// Ends a thread's step. Above this frame is all that tells how the thread goes on.
  [[gnu::noinline]] void leave() {
    threads_[current_].top = static_cast<char*>(__builtin_frame_address(0));
    swapcontext(&threads_[current_].context, &outside_);
  }
  /// Clears what earlier calls left below the stack's top, or equal states would look different.
  [[gnu::noinline]] static void wipe() {
    char below[768];
    std::memset(below, 0, sizeof below);
    asm volatile("" : : "r"(below) : "memory");
  }

  void take(unsigned choice) {
    ++steps_;
    if (choice >= most_threads) return flush(choice - most_threads);
    preemptions_ += choice != last_ && (possible() >> last_ & 1) != 0;
    current_ = last_ = choice;
    swapcontext(&outside_, &threads_[choice].context);
    current_ = nobody;
  }
  void flush(unsigned i) {
    thread& t = threads_[i];
    const store s = t.buffer[0];
    std::memmove(t.buffer, t.buffer + 1, sizeof(store) * --t.stored);
    const unsigned by = std::exchange(current_, i);
    tell("gets the stored", *s.to, s.value, s.value);
    current_ = by;
    s.to->value = s.value;
  }
  std::uint32_t possible() const {
    std::uint32_t set = 0;
    for (unsigned i = 0; i < count_; ++i) {
      const thread& t = threads_[i];
      const bool held = t.guard != nullptr && (t.guard->value & t.mask) == 0;
      if (!t.finished && t.asleep_on == nullptr && !held) set |= 1u << i;
      if (t.stored != 0) set |= 1u << (most_threads + i);
    }
    return set;
  }

  std::uint64_t state() {
    std::uint64_t h = 0;
    auto mix = [&h](std::uint64_t v) {
      h = (h ^ v) * 0x9e3779b97f4a7c15u;
      h ^= h >> 32;
    };
    auto mix_bytes = [&](const char* from, const char* to) {
      std::uint64_t lanes[4] = {1, 2, 3, 4}, v[4];  // which the processor computes side by side
      for (; to - from >= 32; from += 32) {
        std::memcpy(v, from, sizeof v);
        for (int k = 0; k < 4; ++k) {
          lanes[k] = (lanes[k] ^ v[k]) * 0x9e3779b97f4a7c15u;
          lanes[k] ^= lanes[k] >> 32;
        }
      }
      for (; from < to; from += sizeof *v) {
        std::memcpy(v, from, sizeof *v);
        mix(*v);
      }
      for (const std::uint64_t lane : lanes) mix(lane);
    };
    if (most_preemptions_ != unbounded) mix(preemptions_ << 8 | last_);
    mix_bytes(world_, world_ + size_);
    for (unsigned i = 0; i < count_; ++i) {
      const thread& t = threads_[i];
      mix((t.finished ? 1u : 0u) | (t.asleep_on != nullptr ? 2u : 0u) | t.stored << 2);
      for (unsigned k = 0; k < t.stored; ++k) {
        mix(reinterpret_cast<std::uintptr_t>(t.buffer[k].to));
        mix(t.buffer[k].value);
      }
      mix(t.note);
      if (!t.finished) mix_bytes(t.top, end_of(i));
    }
    return h;
  }
  template <class F>
  void each_region(F f) {
    f(world_, size_);
    for (unsigned i = 0; i < count_; ++i) {
      f(reinterpret_cast<char*>(&threads_[i]),
        sizeof(thread));  // first: it tells the next one's size
      char* const from = threads_[i].top - margin;
      f(from, static_cast<std::size_t>(end_of(i) - from));
    }
  }

  /// Goes on from the state reached if it is new.
  void enter() {
    std::uint32_t set = wrong_ == nullptr ? possible() : 0;
    if (set == 0 && wrong_ == nullptr) {
      for (unsigned i = 0; i < count_; ++i) {
        if (!threads_[i].finished) wrong_ = "deadlock: nobody can go on";
      }
      if (wrong_ == nullptr) check_();
    }
    if (wrong_ != nullptr) return violated();
    if (set == 0 || (!shortest_.empty() && path_.size() + 1 >= shortest_.size())) return;
    if (most_preemptions_ != unbounded && (set >> last_ & 1) != 0) {
      if (preemptions_ == most_preemptions_) set &= 1u << last_ | ~0u << most_threads;
    }
    const std::uint64_t s = state();
    const auto [found, fresh] = known_.try_emplace(s, visit{path_.size(), true});
    if (!fresh) {
      if (found->second.open && shortest_.empty()) {
        endless_ = true;
        wrong_ = "livelock: a schedule comes back to a state that it was in";
        return violated();
      }
      if (shortest_.empty() || found->second.depth <= path_.size()) return;
      found->second = {path_.size(), true};
    }
    path_.push_back({s, set, 0, last_, preemptions_, {}});
    auto& saved = path_.back().saved;
    saved.reserve(8192);
    each_region([&](const char* at, std::size_t n) { saved.insert(saved.end(), at, at + n); });
    saved_bytes_ += saved.capacity();
  }
  void go_back() {
    saved_bytes_ -= path_.back().saved.capacity();
    path_.pop_back();
  }
  bool gives_up() const {
    constexpr std::size_t of_known = sizeof(visit) + 6 * sizeof(void*);  // a node and its bucket
    return saved_bytes_ + path_.size() * sizeof(node) + known_.size() * of_known > most_bytes_;
  }
  void violated() {
    violation_ = std::exchange(wrong_, nullptr);
    shortest_.clear();
    for (const node& n : path_) shortest_.push_back(n.taken);
  }
  /// Until the first violation; called again, goes on until there is no shorter one. In both cases
  /// not beyond the memory that it may take.
  void search() {
    const bool again = !shortest_.empty();
    known_.clear(), path_.clear(), saved_bytes_ = 0;
    begin();
    enter();
    while (!path_.empty() && (again || shortest_.empty()) && !gives_up()) {
      node& n = path_.back();
      if (n.left == 0) {
        known_[n.state].open = false;
        go_back();
        continue;
      }
      n.taken = static_cast<unsigned>(__builtin_ctz(n.left));
      n.left &= n.left - 1;
      last_ = n.last, preemptions_ = n.preemptions;
      const char* from = n.saved.data();
      each_region([&](char* at, std::size_t size) {
        std::memcpy(at, from, size);
        from += size;
      });
      take(n.taken);
      enter();
    }
  }

  static inline explorer* now_ = nullptr;
  static inline char stacks_[most_threads][stack_bytes];
  thread threads_[most_threads];
  ucontext_t outside_;
  unsigned count_ = 0, current_ = nobody, last_ = nobody;
  unsigned preemptions_ = 0, most_preemptions_ = unbounded;
  char* world_ = nullptr;
  std::size_t size_ = 0, steps_ = 0;
  void (*make_)(void*) = nullptr;
  void (*run_)(void*, unsigned) = nullptr;
  void (*check_)() = nullptr;
  std::string (*name_)(const void*) = nullptr;
  const std::size_t most_bytes_;
  std::size_t saved_bytes_ = 0;  // what is saved in `path_`
  std::vector<node> path_;
  std::unordered_map<std::uint64_t, visit> known_;
  const char* wrong_ = nullptr;
  std::string violation_;
  std::vector<unsigned> shortest_;
  bool endless_ = false;
  std::string* trace_ = nullptr;
};

}  // namespace model
