// labels: once
// TSan has to hold signals back, and cannot those that it is not told of.
#include "machine/interrupter.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
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

bool sleeps(pid_t thread) {
  std::ifstream in("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  return text.find(") S") != std::string::npos;
}

TEST(interrupter, ends_no_sleep) {
  const interrupter i(&count);
  ASSERT_TRUE(i.works());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  int sent = 0;
  std::thread other([&, id = gettid()] {
    while (!sleeps(id)) std::this_thread::yield();
    for (int k = 0; k < 50; ++k) sent += i.interrupt() ? 1 : 0;
    EXPECT_EQ(write(ends[1], "x", 1), 1);
  });
  pollfd one{ends[0], POLLIN, 0};
  EXPECT_EQ(poll(&one, 1, -1), 1) << "no handler has run meanwhile";
  other.join();
  EXPECT_EQ(sent, 0);
  close(ends[0]), close(ends[1]);
}

// As glibc's own functions do for a moment; no other program can.
class without_any_signal {
public:
  without_any_signal() { set(~std::uint64_t{0}, &before_); }
  ~without_any_signal() { set(before_, nullptr); }
  without_any_signal(const without_any_signal&) = delete;

private:
  static void set(std::uint64_t mask, std::uint64_t* before) {
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, before, sizeof mask);
  }
  std::uint64_t before_ = 0;
};

TEST(interrupter, sends_no_second_signal_before_the_first_is_handled) {
  const interrupter i(&count);
  ASSERT_TRUE(i.works());
  interrupts = 0;
  {
    const without_any_signal blocked;
    std::atomic<bool> end{false};
    std::atomic<int> sent{0};
    std::thread other([&] {
      for (int k = 0; k < 2000 && sent < 2; ++k) sent += i.interrupt() ? 1 : 0;
      end = true;
    });
    while (!end) {}
    other.join();
    EXPECT_EQ(sent, 1);
  }
  EXPECT_EQ(interrupts, 1);
}

constexpr int enough = 5;

// Interrupts this thread again and again while it calls look().
template <class Look>
void interrupt_during(Look look) {
  const interrupter i(&count);
  ASSERT_TRUE(i.works());
  interrupts = 0;
  std::atomic<bool> end{false};
  std::thread other([&] {
    for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
         interrupts < enough && std::chrono::steady_clock::now() < until;)
      i.interrupt();
    end = true;
  });
  while (!end) look();
  other.join();
  EXPECT_GE(interrupts, enough) << "it is interrupted whatever it blocks";
}

sigset_t real_time_signals() {
  sigset_t all;
  sigemptyset(&all);
  for (int n = SIGRTMIN; n <= SIGRTMAX; ++n) sigaddset(&all, n);
  return all;
}

struct with_real_time_signals_blocked : testing::Test {
  void SetUp() override { pthread_sigmask(SIG_BLOCK, &all, &before); }
  void TearDown() override {
    const timespec none{0, 0};
    while (sigtimedwait(&all, nullptr, &none) > 0) {}
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  sigset_t all = real_time_signals(), before{};
};

TEST_F(with_real_time_signals_blocked, a_program_that_waits_for_them_sees_no_interrupt) {
  const timespec none{0, 0};
  int seen = 0;
  interrupt_during([&] { seen += sigtimedwait(&all, nullptr, &none) > 0 ? 1 : 0; });
  EXPECT_EQ(seen, 0);
}

TEST_F(with_real_time_signals_blocked, a_program_that_reads_them_sees_no_interrupt) {
  const int file = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
  ASSERT_GE(file, 0);
  int seen = 0;
  signalfd_siginfo what{};
  interrupt_during([&] { seen += read(file, &what, sizeof what) > 0 ? 1 : 0; });
  EXPECT_EQ(seen, 0);
  close(file);
}

std::atomic<int> handled_by_the_program{0};

TEST(interrupter, a_program_that_handles_every_signal_sees_no_interrupt) {
  struct sigaction own {};
  own.sa_handler = [](int) { ++handled_by_the_program; };
  std::map<int, struct sigaction> before;
  for (int n = SIGRTMIN; n <= SIGRTMAX; ++n) sigaction(n, &own, &before[n]);
  interrupt_during([] {});
  EXPECT_EQ(handled_by_the_program, 0);
  for (const auto& [n, old] : before) sigaction(n, &old, nullptr);
}

// glibc tells all threads by the same signal, and waits until each has done it.
TEST(interrupter, leaves_the_signal_to_glibc_as_well) {
  const interrupter i(&count);
  ASSERT_TRUE(i.works());
  interrupts = 0;
  std::atomic<bool> end{false};
  std::thread other([&] {
    EXPECT_EQ(setgid(getgid()), 0);
    end = true;
  });
  while (!end) {}
  other.join();
  EXPECT_EQ(interrupts, 0);
}

}  // namespace
