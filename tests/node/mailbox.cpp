// Messages from one member of a team to another: each comes once, in the order of its sender, and
// nobody waits for a team that was cancelled.
#include "node/team_of.hpp"

#include <cleave/mailbox.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace cleave::tests {
namespace {

INSTANTIATE_TEST_SUITE_P(, team_of,
                         testing::Values(shape{1, 1, 0us}, shape{2, 1, 0us}, shape{3, 2, 200us},
                                         shape{5, 1, 0us}),
                         shape_name);

constexpr int letters = 50;

std::string word(unsigned from, unsigned to, int i) {
  return std::to_string(from) + " to " + std::to_string(to) + ": " + std::to_string(i) +
         std::string(i == 7 ? 100'000 : 0, '.');
}

// Two mailboxes, of which each member has its own contents; a graph between them has its own, too.
struct writes_to_all {
  int nothing = 0;
  auto input() { return std::tie(nothing); }
  int run(team& all) const {
    mailbox<std::string> words(all);
    mailbox<int> numbers(all);
    for (int i = 0; i < letters; ++i)
      for (unsigned to = 0; to < all.size(); ++to)
        if (to != all.rank()) {
          EXPECT_GE(words.send(to, word(all.rank(), to, i)), word(all.rank(), to, i).size());
          if (i == 0) numbers.send(to, static_cast<int>(all.rank()));
        }
    std::vector<int> next(all.size());
    int right = 0;
    const int expected = letters * static_cast<int>(all.size() - 1);
    while (right < expected)
      for (const auto& [from, text] : words.wait())
        if (text == word(from, all.rank(), next[from]++)) ++right;
        else throw std::runtime_error("not the next letter");
    EXPECT_FALSE(words.any());
    EXPECT_TRUE(words.take().empty());
    for (unsigned more = 1; more < all.size();)
      for (const auto& [from, number] : numbers.wait()) more += number == static_cast<int>(from);
    return all.broadcast(right, 0);
  }
};

TEST_P(team_of, each_letter_comes_once_and_in_order) {
  EXPECT_EQ(j.root().run_on_all(writes_to_all{}), letters * static_cast<int>(size - 1));
}

struct to_nobody {
  unsigned to = 0;
  auto input() { return std::tie(to); }
  void run(team& all) const { mailbox<int>(all).send(to, 1); }
};

TEST_P(team_of, there_is_no_such_other_member) {
  EXPECT_THROW(j.root().run_on_all(to_nobody{size}), std::out_of_range);
  EXPECT_THROW(j.root().run_on_all(to_nobody{0}), std::out_of_range);
}

struct fails_meanwhile {
  int nothing = 0;
  auto input() { return std::tie(nothing); }
  void run(team& all) const {
    mailbox<int> m(all);
    if (all.rank() == all.size() - 1 && all.size() > 1) throw std::domain_error("fails");
    m.wait();
  }
};

TEST_P(team_of, nobody_waits_for_letters_of_a_team_that_failed) {
  try {
    j.root().run_on_all(fails_meanwhile{});
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::logic_error& e) {
    EXPECT_STREQ(e.what(),
                 size > 1 ? "fails" : "cleave::mailbox: waits for a message in a team of one");
  }
}

// A letter to a member that has its mailbox no more is no error.
struct writes_too_late {
  int nothing = 0;
  auto input() { return std::tie(nothing); }
  void run(team& all) const {
    mailbox<int> answers(all);
    if (all.rank() == 0) {
      { const mailbox<int> gone(all); }
      for (unsigned to = 1; to < all.size(); ++to) answers.send(to, 1);
    } else {
      mailbox<int> late(all);
      answers.wait();
      late.send(0, 2);
    }
  }
};

TEST_P(team_of, what_comes_too_late_is_dropped) {
  EXPECT_NO_THROW(j.root().run_on_all(writes_too_late{}));
}

}  // namespace
}  // namespace cleave::tests
