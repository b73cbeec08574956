#include "interrupt.hpp"

namespace study {
namespace {

volatile std::sig_atomic_t interrupted = 0;

}  // namespace

until_interrupted::until_interrupted() {
  interrupted = 0;
  struct sigaction once {};
  once.sa_handler = [](int signal) { interrupted = signal; };
  once.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &once, &before_int_);
  sigaction(SIGTERM, &once, &before_term_);
}

until_interrupted::~until_interrupted() {
  sigaction(SIGINT, &before_int_, nullptr);
  sigaction(SIGTERM, &before_term_, nullptr);
}

int interrupted_by() noexcept { return interrupted; }

}  // namespace study
