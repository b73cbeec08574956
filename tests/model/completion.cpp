// labels: once
// The owner of a task waits, and another thread ends the task.
#include <cleave/detail/completion.hpp>

#include "explore.hpp"

#include <string>

namespace {

using namespace model;

/// The owner gets what the task has written, whether it looks before the end or after it.
struct runner_and_owner {
  platform::atomic<std::uint32_t> word{0};
  platform::cutoff cutoff{1};
  cleave::detail::mailbox<platform> owner{word, cutoff};
  cleave::detail::completion<platform::atomic<std::uint32_t>> completed;
  bool written = false;

  static constexpr unsigned threads() { return 2; }
  void run(unsigned i) {
    if (i == 0) {
      written = true;
      if (completed.end()) owner.ring(news);
      return;
    }
    while (completed.await()) {
      owner.wait([this] { return completed.is_reached(); }, [this] { owner.take_signals(); },
                 [] { return cleave::detail::waiting::sleep; });
    }
    require(written, "the owner goes on before the end");
  }
  void check() const {}
  std::string name(const void* at) const {
    return at == &word ? "word" : at == &cutoff ? "cutoff" : "completion";
  }
};

TEST(completion, is_told_to_an_owner_that_waits) { holds<runner_and_owner>(10); }

TEST(broken_completion, ended_by_store) { finds<runner_and_owner>(fault::ended_by_store); }
TEST(broken_completion, awaited_by_store) { finds<runner_and_owner>(fault::awaited_by_store); }

}  // namespace
