// labels: once
// A thread that is no worker, and another that cancels what it runs.
#include "explore.hpp"

#include <string>

namespace {

using namespace model;

struct cancellation {
  platform::atomic<std::uint32_t> word{attention};  // as a cancellation of another scope leaves it
  platform::cutoff cutoff{1};
  platform::atomic<std::uint32_t> stopped{0}, running{0};
  std::uint64_t seen = 0;

  static constexpr unsigned threads() { return 2; }
  void run(unsigned i) {
    const cleave::detail::interruption<platform> rung{word, cutoff};
    i == 0 ? runs(rung) : cancels(rung);
  }
  void check() const { require(seen != 0, "the scope went on"); }
  std::string name(const void* at) const {
    return at == &word ? "word" : at == &cutoff ? "cutoff" : at == &stopped ? "stopped" : "running";
  }

private:
  using interruption = cleave::detail::interruption<platform>;

  void cancels(const interruption& thread) {  // cancel_scope::cancel
    stopped.store(1, std::memory_order_seq_cst);
    if (running.load(std::memory_order_seq_cst) != 0) thread.ring();
  }
  void runs(const interruption& mine) {  // cancel_scope::run
    running.store(1, std::memory_order_seq_cst);
    seen = stopped.load(std::memory_order_acquire);
    while (seen == 0) {  // constructs, none of which looks until it has to
      cutoff.await(1);
      word.await(~0u);
      answer(mine);
    }
    running.store(0, std::memory_order_relaxed);
  }
  [[gnu::noinline]] void answer(const interruption& mine) {  // detail::answer
    if (broken == fault::look_before_taking) seen = stopped.load(std::memory_order_acquire);
    if (broken == fault::ring_taken_first) word.exchange(0, std::memory_order_acq_rel);
    if (broken == fault::ring_taken_first)
      cutoff.store(~std::uintptr_t{0}, std::memory_order_relaxed);
    else mine.take();
    if (broken != fault::look_before_taking) seen = stopped.load(std::memory_order_acquire);
  }
};

TEST(cancellation, reaches_a_thread_that_is_no_worker) { holds<cancellation>(10); }

TEST(broken_cancellation, ring_taken_by_store) { finds<cancellation>(fault::ring_taken_by_store); }
TEST(broken_cancellation, ring_taken_first) { finds<cancellation>(fault::ring_taken_first); }
TEST(broken_cancellation, look_before_taking) { finds<cancellation>(fault::look_before_taking); }

/// A worker that has cancelled a scope of its own, which it leaves without a poll, and another that
/// insists meanwhile: the worker's constructs look for its request afterwards.
struct own_cancellation {
  platform::atomic<std::uint32_t> word{0};
  platform::cutoff cutoff{1};

  static constexpr unsigned threads() { return 2; }
  void run(unsigned i) {
    if (i != 0) {
      cleave::detail::mailbox<platform>(word, cutoff).insist(asked);
      return;
    }
    const cleave::detail::interruption<platform> mine{word, cutoff};
    const std::uintptr_t before = mine.begin_own_cancel();
    if (broken == fault::own_word_first) {
      word.fetch_and(~std::uint32_t{cleave::detail::own_cancel}, std::memory_order_acq_rel);
      cutoff.store(before, std::memory_order_relaxed);
    } else {
      mine.end_own_cancel(before);
    }
    // The other one's bit is in the word, or will be: a construct that looks is not kept from it.
    word.await(~0u);
    cutoff.await(1);
  }
  void check() const {
    require(word.load(std::memory_order_relaxed) == asked, "the request is not in the word");
  }
  std::string name(const void* at) const { return at == &word ? "word" : "cutoff"; }
};

TEST(cancellation, of_its_own_hides_no_request) { holds<own_cancellation>(10); }
TEST(broken_cancellation, own_word_first) { finds<own_cancellation>(fault::own_word_first); }

/// A thread that counts, so that no state comes again.
struct endless {
  platform::atomic<std::uint64_t> count{0};

  static constexpr unsigned threads() { return 1; }
  void run(unsigned) {
    while (count.fetch_add(1, std::memory_order_relaxed) != ~std::uint64_t{0}) continue;
  }
  void check() const {}
  std::string name(const void*) const { return "count"; }
};

TEST(explorer, gives_up_when_its_memory_is_full_and_says_how_far_it_has_come) {
  constexpr std::size_t mebibytes = 4;
  const verdict found = explorer(mebibytes << 20).explore<endless>();
  EXPECT_GT(found.states, 100u);
  EXPECT_LT(found.states,
            (mebibytes << 20) / 8192);  // each on its path takes so many bytes at least
  EXPECT_EQ(found.given_up, "given up after " + std::to_string(found.states) + " states and " +
                                std::to_string(found.steps) + " steps: they take more than 4 MiB");
  EXPECT_EQ(found.violation, "");
}

}  // namespace
