// labels: once
// A mailbox that one thread after the other owns, and others that ring it meanwhile.
#include "explore.hpp"

#include <string>

namespace {

using namespace model;

constexpr auto strongest = std::memory_order_seq_cst;

/// One thread owns the mailbox for a while, and then its word is something else; `Rings` others
/// insist once each.
template <unsigned Rings>
struct changing_owner {
  static constexpr std::uint32_t gone = 1u << 31;

  platform::atomic<std::uint32_t> word{0};
  platform::cutoff cutoff{1};
  model::atomic<std::uint64_t> computing{0};
  cleave::detail::mailbox<platform> box{word, cutoff};

  changing_owner() { box.have_owners_in_turn(); }
  static constexpr unsigned threads() { return 1 + Rings; }
  void run(unsigned i) {
    if (i != 0) return box.insist(asked);
    box.take_over(word, cutoff, [this] { return computing.fetch_or(1, strongest); });
    box.part([this] {
      if (broken != fault::left_unfenced) computing.fetch_and(0, strongest);
    });
    word.store(gone, std::memory_order_seq_cst);
  }
  void check() const {
    require(word.load(std::memory_order_relaxed) == gone, "a word is rung that is somebody else's");
  }
  std::string name(const void* at) const {
    return at == &word        ? "word"
           : at == &cutoff    ? "cutoff"
           : at == &computing ? "computing"
                              : "owner or count";
  }
};

/// One thread becomes the owner and looks who asks; the other asks and then insists.
struct beginning_owner {
  platform::atomic<std::uint32_t> word{0};
  platform::cutoff cutoff{1};
  model::atomic<std::uint64_t> computing{0}, askers{0};
  cleave::detail::mailbox<platform> box{word, cutoff};
  bool is_seen = false;

  beginning_owner() { box.have_owners_in_turn(); }
  static constexpr unsigned threads() { return 2; }
  void run(unsigned i) {
    if (i != 0) {
      askers.fetch_or(1, strongest);
      return box.insist(asked);
    }
    box.take_over(word, cutoff, [this] {
      return broken == fault::taken_over_unfenced ? 0 : computing.fetch_or(1, strongest);
    });
    is_seen = askers.load(strongest) != 0;
  }
  void check() const {
    require(is_seen || (word.peek() & asked) != 0, "an asker is neither seen nor heard");
  }
  std::string name(const void* at) const {
    return at == &word        ? "word"
           : at == &cutoff    ? "cutoff"
           : at == &computing ? "computing"
           : at == &askers    ? "askers"
                              : "owner or count";
  }
};

TEST(changing_owner, leaves_a_word_that_nobody_touches) { holds<changing_owner<1>>(10); }
TEST(changing_owner, leaves_it_to_none_of_two) { holds<changing_owner<2>>(100); }

TEST(beginning_owner, sees_or_hears_who_asks) { holds<beginning_owner>(10); }

TEST(broken_owner, left_unfenced) { finds<changing_owner<1>>(fault::left_unfenced); }
TEST(broken_owner, taken_over_unfenced) { finds<beginning_owner>(fault::taken_over_unfenced); }
TEST(broken_owner, left_at_once) { finds<changing_owner<1>>(fault::left_at_once); }
TEST(broken_owner, not_counted) { finds<changing_owner<1>>(fault::not_counted); }

}  // namespace
