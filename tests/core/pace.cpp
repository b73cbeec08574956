// How often a loop of short iterations looks at the clock.
#include <cleave/cleave.hpp>

#include <gtest/gtest.h>

#include <chrono>

namespace cleave::tests {
namespace {

using namespace std::chrono_literals;

struct part {
  void run() {}
};
constexpr auto make = [](int, int) { return part{}; };
constexpr auto take = []<class Task>(detail::task*) {};
using frame = detail::paced_frame<int, const decltype(make)>;

/// Runs a loop whose kind is known to do `usual` iterations in the time of what is not worth
/// dividing. Returns how many blocks of iterations it ran; f() is called in each.
template <class F>
int blocks_of(int iterations, std::uint64_t usual, F f) {
  frame::usual = usual;
  int blocks = 0;
  auto go_on = [&](auto& run, auto&) {
    ++blocks;
    f();
    run.at = run.to;
  };
  detail::paced_loop(0, iterations, go_on, make, take);
  return blocks;
}

TEST(paced_loop, looks_at_the_clock_in_one_of_four_that_are_short) {
  int looked = 0;
  for (int k = 0; k < 16; ++k) looked += blocks_of(900, 1000, [] {}) > 1;
  EXPECT_EQ(looked, 4);
}

TEST(paced_loop, looks_at_the_clock_in_each_that_may_be_worth_dividing) {
  for (int k = 0; k < 16; ++k) EXPECT_GT(blocks_of(1100, 1000, [] {}), 1);
}

TEST(paced_loop, learns_that_short_ones_are_short_no_more) {
  int learnt = 0;
  for (int k = 0; k < 4; ++k) {
    blocks_of(900, 1000, [] {
      const auto begin = std::chrono::steady_clock::now();
      while (std::chrono::steady_clock::now() - begin < 50us) {}
    });
    learnt += frame::usual < 100;
  }
  EXPECT_EQ(learnt, 1);
}

}  // namespace
}  // namespace cleave::tests
