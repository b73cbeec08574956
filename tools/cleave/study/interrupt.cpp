#include "interrupt.hpp"

namespace study {
namespace {

volatile std::sig_atomic_t interrupted = 0;

}  // namespace

until_interrupted::until_interrupted() {
  interrupted = 0;
  struct sigaction once {};
  once.sa_handler = [](int) { interrupted = 1; };
  once.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &once, &before_);
}

until_interrupted::~until_interrupted() { sigaction(SIGINT, &before_, nullptr); }

bool is_interrupted() noexcept { return interrupted != 0; }

}  // namespace study
