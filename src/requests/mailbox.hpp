#pragma once

#include <cleave/detail/task.hpp>

#include <cstdint>

/// How workers ask each other for work, hand it over, and sleep. All of the protocol's shared state
/// and every transition of it is in this file; README.md argues why nothing can be lost, and
/// tests/model runs this code through every interleaving.
namespace cleave::detail {

/// A worker's request, as others see it:
///
///              post                  claim                 hand
///     resting ------> asking (what) ------> claimed ------------> a task
///        ^  ^ withdraw |   ^  reopen  |                            |  | reclaim
///        |  +----------+   +----------+                            |  v
///        +---------------------------------------------- collect --+- reclaimed
///
/// The worker itself posts, withdraws and collects; a victim claims, reopens, hands and reclaims.
/// Encoded in one word: asking is the wanted scope (0: anything) with the lowest bit set, a task
/// its address.
using request = std::uintptr_t;
inline constexpr request resting = 0;
inline constexpr request claimed = 2;
inline constexpr request reclaimed = 4;

inline request request_for(const scope* wanted) noexcept {
  return reinterpret_cast<request>(wanted) | 1;
}
inline bool is_asking(request r) noexcept { return (r & 1) != 0; }
inline const scope* wanted_by(request r) noexcept {
  return reinterpret_cast<const scope*>(r & ~request{1});
}

/// How to wait for a moment: go on looking; block, but not for long; block.
enum class waiting { spin, nap, sleep };

/// Platform says what an atomic is, how to block on one, and how many workers there may be, so that
/// the model checker can stand in.
template <class Platform>
class mailbox {
public:
  using word_type = typename Platform::template atomic<std::uint32_t>;
  using cutoff_type = typename Platform::cutoff;

  /// `bell` is what wakes the owner, if it does not block on the word itself.
  mailbox(word_type& polled, cutoff_type& cutoff, typename Platform::bell bell = {}) noexcept
      : word_(&polled), cutoff_(&cutoff), bell_(bell) {}

  // Any thread.

  /// Sets bits in the word that the owner polls and sleeps on. Release: what the bits announce was
  /// written before; acquired by take_signals(). Nothing happens while nobody is the owner.
  void ring(std::uint32_t bits) noexcept {
    reach([&](word_type& word) { ring(word, bits); });
  }

  /// The same, and the owner shall see them in a construct that it would otherwise run undivided.
  void insist(std::uint32_t bits) noexcept {
    reach([&](word_type& word) {
      ring(word, bits);
      cutoff_->store(0, std::memory_order_seq_cst);  // after the bits: partner of set_cutoff
    });
  }

  /// Whether the owner blocks, as far as can be known. seq_cst: see hand().
  bool is_asleep() noexcept {
    bool asleep = false;
    reach(
        [&](word_type& word) { asleep = (word.load(std::memory_order_seq_cst) & sleeping) != 0; });
    return asleep;
  }

  /// seq_cst: partner of hand(). Acquire: from the victim's hand(), or the asker's post().
  request posted() const noexcept { return request_.load(std::memory_order_seq_cst); }
  /// The depth of the scope wanted by the request that was seen last, or by a later one.
  std::uint32_t wanted_depth() const noexcept { return depth_.load(std::memory_order_relaxed); }

  /// Has the CPU fetch what others read of it.
  void fetch() const noexcept {
    __builtin_prefetch(word_.load(std::memory_order_relaxed));
    __builtin_prefetch(&request_);
  }

  /// Takes on a request seen before: nobody else will answer it, and the asker waits for the
  /// answer. Acquire: from the asker's post.
  bool claim(request seen) noexcept {
    return request_.compare_exchange_strong(seen, claimed, std::memory_order_acq_rel,
                                            std::memory_order_relaxed);
  }
  /// Gives a claimed request back unanswered; the asker looks again whether it still wants one.
  void reopen(request seen) noexcept {
    request_.store(seen, std::memory_order_release);
    ring(news);
  }
  /// Answers a claimed request. An asker that `looks` is in wait(): it is rung only if it sleeps,
  /// as it would find the signal while it runs the task. seq_cst: partner of wait(), where the
  /// asker says that it sleeps and then looks at the request. Release: the task's fields, acquired
  /// by collect() or reclaim().
  void hand(request task, bool looks = true) noexcept {
    request_.exchange(task, std::memory_order_seq_cst);
    if (!looks || is_asleep()) ring(news);
  }
  /// Takes a task back that its thief has not collected. The asker then finds nothing and asks
  /// again.
  bool reclaim(request task) noexcept {
    return request_.compare_exchange_strong(task, reclaimed, std::memory_order_acq_rel,
                                            std::memory_order_relaxed);
  }

  // A mailbox whose owner is one thread after the other.

  /// Says so, before anybody else knows this mailbox: nobody owns it from here on.
  void have_owners_in_turn() noexcept {
    changes_hands_ = true, word_.store(nullptr, std::memory_order_relaxed);
  }
  /// The calling thread becomes the owner: others ring this word of its, and write this cutoff.
  /// update() is a seq_cst read-modify-write. Either who rings sees the owner, or what the owner
  /// reads afterwards shows what the ring is about.
  template <class Update>
  auto take_over(word_type& polled, cutoff_type& cutoff, Update update) noexcept {
    cutoff_ = &cutoff;
    word_.store(&polled, std::memory_order_release);  // the cutoff: acquired by reach()
    const auto result = update();
    Platform::fence_after_update();
    return result;
  }
  /// The owner is it no more. Blocks while somebody is about to ring, for a few instructions: then
  /// nobody touches its word. update() is a seq_cst read-modify-write: either who rings sees that
  /// nobody is the owner, or the owner sees that somebody rings.
  template <class Update>
  void part(Update update) noexcept {
    word_.store(nullptr, std::memory_order_release);
    update();
    Platform::fence_after_update();
    while (std::uint32_t n = ringing_.load(std::memory_order_seq_cst))
      Platform::await_change(ringing_, n);
  }

  // The owner only.

  /// seq_cst: partner of the victims' look at the board after they begin to work (README.md).
  void post(const scope* wanted) noexcept {
    depth_.store(wanted != nullptr ? wanted->depth : 0, std::memory_order_relaxed);
    request_.store(request_for(wanted), std::memory_order_seq_cst);
  }
  /// Withdraws; false if a victim has claimed the request meanwhile.
  bool withdraw(request what) noexcept {
    return request_.compare_exchange_strong(what, resting, std::memory_order_acq_rel,
                                            std::memory_order_acquire);
  }
  /// Whether an answer is there to collect.
  bool has_answer() const noexcept {
    const request r = posted();
    return r != claimed && !is_asking(r);
  }
  /// Ends a request. Returns the task, or 0 if there is none.
  request collect() noexcept {
    const request r = request_.exchange(resting, std::memory_order_acquire);
    return r == reclaimed ? 0 : r;
  }

  /// Takes the bits that others rang. Acquire: partner of ring().
  std::uint32_t take_signals() noexcept {
    return own_word().fetch_and(checking | profiling, std::memory_order_acq_rel);
  }
  /// Rings oneself.
  void remind(std::uint32_t bits) noexcept {
    own_word().fetch_or(bits, std::memory_order_relaxed);
    cutoff_->store(0, std::memory_order_relaxed);
  }
  /// Lets constructs below this address of the stack run undivided, unless there are signals.
  void set_cutoff(std::uintptr_t address) noexcept {
    // It overwrites nothing but what an insist() has stored itself.
    if (address == 0) return cutoff_->store(0, std::memory_order_relaxed);
    cutoff_->store(address, std::memory_order_seq_cst);
    // After the store: an insist() that it overwrote has set its bits.
    if ((own_word().load(std::memory_order_seq_cst) & ~std::uint32_t{profiling}) != 0)
      cutoff_->store(0, std::memory_order_relaxed);
  }
  bool insisted() const noexcept { return cutoff_->load(std::memory_order_relaxed) == 0; }
  /// Says that the owner blocks on something else until its bell is rung; false if there are
  /// signals. wake_up() ends it.
  bool fall_asleep() noexcept {
    std::uint32_t no_signals = 0;
    return own_word().compare_exchange_strong(no_signals, sleeping, std::memory_order_seq_cst,
                                              std::memory_order_relaxed);
  }
  void wake_up() noexcept {
    own_word().fetch_and(~std::uint32_t{sleeping}, std::memory_order_acq_rel);
  }
  void forget(std::uint32_t bits) noexcept {
    own_word().fetch_and(~bits, std::memory_order_relaxed);
  }

  /// Waits until ready(), which somebody makes true before ringing `news`; or before looking
  /// whether the owner sleeps, as hand() does, and both with sequential consistency. Runs serve()
  /// whenever there are signals; serve takes them. Each time in between does what pause() says.
  template <class Ready, class Serve, class Pause>
  void wait(Ready ready, Serve serve, Pause pause) {
    word_type& word = own_word();
    while (!ready()) {
      std::uint32_t bits = word.load(std::memory_order_acquire);
      if ((bits & (asked | attention | news)) != 0) {
        serve();
      } else if (const waiting how = pause(); how != waiting::spin) {
        // Fails if anything was rung since: a ring after this one sees `sleeping` and wakes.
        if (!word.compare_exchange_strong(bits, bits | sleeping, std::memory_order_seq_cst,
                                          std::memory_order_relaxed)) {
          continue;
        }
        const bool is_ready = ready();
        if (!is_ready) Platform::block(word, bits | sleeping, how == waiting::nap);
        wake_up();
        if (is_ready) return;
      }
    }
  }

private:
  word_type& own_word() noexcept { return *word_.load(std::memory_order_relaxed); }

  void ring(word_type& word, std::uint32_t bits) noexcept {
    const std::uint32_t old = word.fetch_or(bits, std::memory_order_seq_cst);
    if ((old & sleeping) != 0) Platform::wake(word, bell_);
  }

  /// Calls f(word) for the word of the owner, if there is one, who stays it meanwhile.
  template <class F>
  void reach(F f) noexcept {
    if (!changes_hands_) return f(own_word());
    ringing_.fetch_add(1, std::memory_order_seq_cst);
    if (word_type* const word = word_.load(std::memory_order_seq_cst)) f(*word);
    // Release: what was done to the word; acquired by part().
    ringing_.fetch_sub(1, std::memory_order_release);
  }

  typename Platform::template pointer<word_type> word_;
  cutoff_type* cutoff_;
  bool changes_hands_ = false;
  [[no_unique_address]] typename Platform::bell bell_;
  alignas(64) typename Platform::template atomic<request> request_{resting};
  typename Platform::depth depth_{0};
  typename Platform::count ringing_{0};  // who touches the word of an owner that may change
};

/// The word and the cutoff of a thread that is no worker: only a cancellation rings it. Whoever
/// cancels marks the scope and then rings; the thread takes the ring and then looks at the scope.
/// So either it finds the mark, or its next poll looks again.
template <class Platform>
struct interruption {
  typename mailbox<Platform>::word_type& word;
  typename mailbox<Platform>::cutoff_type& cutoff;

  /// Any thread, after the mark.
  void ring() const noexcept {
    word.fetch_or(attention, std::memory_order_seq_cst);
    cutoff.store(0, std::memory_order_seq_cst);
  }
  /// The thread itself. The cutoff before the exchange: what ring() makes of it comes after.
  void take() const noexcept {
    cutoff.store(~std::uintptr_t{0}, std::memory_order_relaxed);
    word.exchange(0, std::memory_order_acq_rel);
  }
  /// The thread rings itself.
  void remind() const noexcept {
    word.fetch_or(attention, std::memory_order_relaxed);
    cutoff.store(0, std::memory_order_relaxed);
  }

  // For scopes that nobody but this thread is in.

  /// Has this thread's polls look at its scopes. Returns the cutoff that was.
  std::uintptr_t begin_own_cancel() const noexcept {
    const std::uintptr_t before = cutoff.load(std::memory_order_relaxed);
    word.fetch_or(own_cancel, std::memory_order_relaxed);
    cutoff.store(0, std::memory_order_relaxed);
    return before;
  }
  /// Has them look no more, unless a poll has found it or somebody else has rung. The cutoff before
  /// the word: an insist() whose bits are not seen here writes the cutoff later than this.
  void end_own_cancel(std::uintptr_t cutoff_before) const noexcept {
    if ((word.load(std::memory_order_relaxed) & own_cancel) == 0) return;
    cutoff.store(cutoff_before, std::memory_order_relaxed);
    const std::uint32_t signals =
        word.fetch_and(~std::uint32_t{own_cancel}, std::memory_order_acq_rel);
    if ((signals & ~std::uint32_t{own_cancel | profiling}) != 0)
      cutoff.store(0, std::memory_order_relaxed);
  }
};

}  // namespace cleave::detail
