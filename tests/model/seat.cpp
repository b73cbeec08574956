// labels: once
// A guest and the reserve, one of which has the seat; and a thread that brings work.
#include "core/seat.hpp"

#include "explore.hpp"

#include <string>

namespace {

using namespace model;

/// The reserve does the work, whenever it comes, and only once the guest is gone.
struct guest_and_reserve {
  platform::atomic<std::uint32_t> word{0};
  platform::cutoff cutoff{1};
  cleave::detail::mailbox<platform> reserve{word, cutoff};
  cleave::detail::seat<platform> seat;
  platform::atomic<std::uint32_t> work{0};
  bool guest_is_here = false;

  static constexpr unsigned threads() { return 3; }
  void run(unsigned i) {
    if (i == 0) return is_guest();
    if (i == 1) return brings_work();
    seat.sit_out([this] { return has_work(); }, reserve,
                 [this] { word.fetch_and(0, std::memory_order_acq_rel); });
    require(!guest_is_here, "the reserve computes beside a guest");
    require(has_work(), "the reserve has nothing to do");
  }
  void check() const {}
  std::string name(const void* at) const {
    return at == &word ? "word" : at == &work ? "work" : at == &cutoff ? "cutoff" : "seat";
  }

private:
  bool has_work() const { return work.load(std::memory_order_seq_cst) != 0; }
  void is_guest() {
    if (seat.take() != cleave::detail::seat<platform>::nobody) return;
    guest_is_here = true;
    work.load(std::memory_order_relaxed);  // a step, in which others may do something
    guest_is_here = false;
    seat.leave([this] { return broken != fault::left_unlooked && has_work(); }, reserve);
  }
  void brings_work() {
    work.store(
        1, broken == fault::work_released ? std::memory_order_release : std::memory_order_seq_cst);
    seat.wake(reserve);
  }
};

TEST(seat, is_the_reserves_whenever_there_is_work) { holds<guest_and_reserve>(100); }

TEST(broken_seat, left_unlooked) { finds<guest_and_reserve>(fault::left_unlooked); }
TEST(broken_seat, work_released) { finds<guest_and_reserve>(fault::work_released); }

}  // namespace
