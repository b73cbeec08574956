// labels: once
// A mailbox that one thread after the other owns, and others that ring it meanwhile.
#include "explore.hpp"

#include <string>

namespace {

using namespace model;

/// One thread owns the mailbox for a while, and then its word is something else; `Rings` others
/// insist once each.
template <unsigned Rings>
struct changing_owner {
  static constexpr std::uint32_t gone = 1u << 31;

  platform::atomic<std::uint32_t> word{0};
  platform::cutoff cutoff{1};
  cleave::detail::mailbox<platform> box{word, cutoff};

  changing_owner() { box.have_owners_in_turn(); }
  static constexpr unsigned threads() { return 1 + Rings; }
  void run(unsigned i) {
    if (i != 0) return box.insist(asked);
    box.take_over(word, cutoff);
    box.part();
    word.store(gone, std::memory_order_seq_cst);
  }
  void check() const {
    require(word.load(std::memory_order_relaxed) == gone, "a word is rung that is somebody else's");
  }
  std::string name(const void* at) const {
    return at == &word ? "word" : at == &cutoff ? "cutoff" : "owner or count";
  }
};

TEST(changing_owner, leaves_a_word_that_nobody_touches) { holds<changing_owner<1>>(10); }
TEST(changing_owner, leaves_it_to_none_of_two) { holds<changing_owner<2>>(100); }

TEST(broken_owner, left_at_once) { finds<changing_owner<1>>(fault::left_at_once); }
TEST(broken_owner, not_counted) { finds<changing_owner<1>>(fault::not_counted); }

}  // namespace
