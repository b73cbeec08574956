// A thread with a stack of a chosen size, and blocking on a word.
#include "machine/thread.hpp"

#include "machine/futex.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace cleave::tests {
namespace {

[[gnu::noinline]] int dig(int kib) {
  volatile char block[1024];
  block[0] = 1;
  return kib == 0 ? 0 : dig(kib - 1) + block[0];
}

TEST(thread, runs_and_is_waited_for) {
  std::atomic<int> n{0};
  {
    machine::thread t(
        1 << 20,
        [](void* p) {
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          ++*static_cast<std::atomic<int>*>(p);
        },
        &n);
  }
  EXPECT_EQ(n, 1);
}

TEST(thread, has_the_stack_asked_for) {
  int dug = 0;
  {
    machine::thread t(
        std::size_t{48} << 20, [](void* p) { *static_cast<int*>(p) = dig(30 << 10); }, &dug);
  }
  EXPECT_EQ(dug, 30 << 10);
}

TEST(thread, of_any_size_starts) {
#ifdef TESTS_UNDER_THREAD
  GTEST_SKIP() << "ThreadSanitizer itself wants stacks of a megabyte";
#endif
  for (std::size_t bytes :
       {std::size_t{1}, std::size_t{16384}, std::size_t{100'001}, std::size_t{4} << 30}) {
    int n = 0;
    {
      machine::thread t(
          bytes, [](void* p) { *static_cast<int*>(p) = 1; }, &n);
    }
    EXPECT_EQ(n, 1) << bytes;
  }
}

TEST(thread, that_cannot_be_had_throws) {
  EXPECT_ANY_THROW(machine::thread(
      std::size_t{1} << 60, [](void*) {}, nullptr));
}

TEST(futex, blocks_until_woken_and_not_if_the_word_differs) {
  std::atomic<std::uint32_t> word{1};
  machine::block(word, 0);  // returns at once
  std::atomic<bool> woke{false};
  std::thread sleeper([&] {
    while (word.load() == 1) machine::block(word, 1);
    woke = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(woke);
  word = 2;
  machine::wake(word);
  sleeper.join();
  EXPECT_TRUE(woke);
}

}  // namespace
}  // namespace cleave::tests
