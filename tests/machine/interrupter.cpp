#include "machine/interrupter.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <thread>

namespace {

using cleave::machine::interrupter;

std::atomic<int> interrupts{0};
std::atomic<pthread_t> interrupted_thread{};

void count() {
  interrupted_thread = pthread_self();
  ++interrupts;
  errno = EDOM;
}

TEST(interrupter, interrupts_the_thread_that_made_it_while_it_runs) {
  const interrupter i(&count);
  ASSERT_TRUE(i.works());
  interrupts = 0;
  std::thread other([&] {
    while (interrupts == 0) i.interrupt();
  });
  errno = 0;
  while (interrupts == 0) {}
  EXPECT_EQ(errno, 0) << "errno is the program's own";
  other.join();
  EXPECT_TRUE(pthread_equal(interrupted_thread, pthread_self()));
}

TEST(interrupter, ends_no_sleep) {
  const interrupter i(&count);
  ASSERT_TRUE(i.works());
  std::atomic<bool> end{false};
  std::atomic<int> sent{0};
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the sleep has begun
    for (int k = 0; k < 20; ++k, std::this_thread::sleep_for(std::chrono::milliseconds(1)))
      sent += i.interrupt() ? 1 : 0;
    end = true;
  });
  const timespec time{0, 200'000'000};
  EXPECT_EQ(nanosleep(&time, nullptr), 0);
  EXPECT_TRUE(end);
  other.join();
  EXPECT_EQ(sent, 0);
}

TEST(interrupter, sends_no_second_signal_before_the_first_is_handled) {
  const interrupter i(&count);
  ASSERT_TRUE(i.works());
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  interrupts = 0;
  const auto sent_by_another = [&] {
    std::atomic<bool> end{false};
    int sent = 0;
    std::thread other([&] {
      for (int k = 0; k < 2000 && sent < 2; ++k) sent += i.interrupt() ? 1 : 0;
      end = true;
    });
    while (!end) {}
    other.join();
    return sent;
  };
  EXPECT_EQ(sent_by_another(), 1);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(interrupts, 1);

  struct sigaction own {
  }, mine{};
  own.sa_handler = SIG_DFL;
  ASSERT_EQ(sigaction(SIGRTMAX - 1, &own, &mine), 0);
  EXPECT_EQ(sent_by_another(), 0) << "it would end the program";
  sigaction(SIGRTMAX - 1, &mine, nullptr);
}

TEST(interrupter, leaves_signals_that_are_handled_already) {
  struct sigaction old {
  }, own{};
  own.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGRTMAX - 1, &own, &old), 0);
  const interrupter i(&count);
  EXPECT_TRUE(i.works());
  struct sigaction now {};
  sigaction(SIGRTMAX - 1, nullptr, &now);
  EXPECT_EQ(now.sa_handler, own.sa_handler);
  sigaction(SIGRTMAX - 1, &old, nullptr);
}

}  // namespace
