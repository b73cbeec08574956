#include "machine/termination.hpp"

#include <semaphore.h>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <utility>

namespace cleave::machine {
namespace {

sem_t news;  // a signal has come, or the object ends
std::atomic<bool> asked{false};

/// sem_post() is one of the few functions that a handler may call.
void note(int) {
  const int before = errno;
  asked = true;
  sem_post(&news);
  errno = before;
}

}  // namespace

on_termination::on_termination(std::function<void()> what) {
  struct sigaction now {};
  if (sigaction(SIGTERM, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  asked = false;
  sem_init(&news, 0, 0);
  thread_ = std::thread([what = std::move(what)] {
    while (sem_wait(&news) != 0) {}
    if (asked) what();
  });
  struct sigaction noted {};
  noted.sa_handler = note;
  noted.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  sigemptyset(&noted.sa_mask);
  sigaction(SIGTERM, &noted, nullptr);
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_UNBLOCK, &term, nullptr);
}

on_termination::~on_termination() {
  if (!thread_.joinable()) return;
  signal(SIGTERM, SIG_DFL);
  sem_post(&news);
  thread_.join();
  sem_destroy(&news);
}

}  // namespace cleave::machine
