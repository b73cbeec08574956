// labels: deep
// Recursion that is too deep ends with a clear line and status 2, on whatever worker it happens.
#include "core/requests.hpp"

#include <csignal>
#include <cstdlib>

namespace cleave::tests {
namespace {

[[gnu::noinline]] int bottomless(int n) {
  if (n < 0) return 0;
  volatile char block[200];
  block[0] = static_cast<char>(n);
  return bottomless(n + 1) + block[0];
}

int bottomless_both(int n) {
  if (n < 0) return 0;
  auto [a, b] = both([=] { return bottomless_both(n + 1); }, [] { return 1; });
  return a + b;
}

const char* const line =
    "^cleave: recursion too deep: a worker's stack of 1 MiB is full; CLEAVE_STACK=MiB sets it\n$";

class stack_overflow : public testing::Test {
protected:
  stack_overflow() {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    setenv("CLEAVE_STACK", "1", 1);
  }
  ~stack_overflow() override { unsetenv("CLEAVE_STACK"); }
};

TEST_F(stack_overflow, of_plain_recursion) {
  EXPECT_EXIT(runtime(options{.workers = 1}).run([] { return bottomless(0); }),
              testing::ExitedWithCode(2), line);
}

TEST_F(stack_overflow, of_both) {
  EXPECT_EXIT(runtime(options{.workers = 1}).run([] { return bottomless_both(0); }),
              testing::ExitedWithCode(2), line);
}

TEST_F(stack_overflow, on_a_thief) {
  EXPECT_EXIT(
      {
        runtime rt(options{.workers = 3});
        std::atomic<bool> gone{false};
        rt.run([&gone] {
          both(
              [&gone] {
                while (!gone) poll();
                for (;;) poll();
              },
              [&gone] {
                gone = true;
                return bottomless(0);
              });
        });
      },
      testing::ExitedWithCode(2), line);
}

TEST_F(stack_overflow, of_many_mebibytes) {
  setenv("CLEAVE_STACK", "123", 1);
  EXPECT_EXIT(runtime(options{.workers = 1}).run([] { return bottomless(0); }),
              testing::ExitedWithCode(2), "a worker's stack of 123 MiB is full");
}

#if !defined(TESTS_UNDER_ADDRESS) && !defined(TESTS_UNDER_THREAD)
void fault() {
  volatile std::uintptr_t nowhere = 16;
  *reinterpret_cast<volatile int*>(nowhere) = 1;
}

TEST_F(stack_overflow, other_faults_are_what_they_were) {
  EXPECT_EXIT(
      {
        runtime rt(options{.workers = 1});
        rt.run([] { fault(); });
      },
      testing::KilledBySignal(SIGSEGV), "^$");
}

void own_handler(int) { _exit(7); }

TEST_F(stack_overflow, a_handler_that_was_there_before_is_kept) {
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, own_handler);
        runtime rt(options{.workers = 1});
        rt.run([] { fault(); });
      },
      testing::ExitedWithCode(7), "");
}
#endif

}  // namespace
}  // namespace cleave::tests
