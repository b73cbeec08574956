// labels: once
// How an asker waits: it spins, naps and presses; and waits for room where enough others ask.
#include "workers.hpp"

namespace {

using namespace model;

/// The victim answers only who insists: an asker that spun, and one that was patient, gets there.
template <unsigned Spins, unsigned Patience>
struct persistent : crew<2> {
  persistent() {
    tasks[0].divides_into(&tasks[1], 1), made = 2;
    tasks[0].patient = true, tasks[0].ends_after = &tasks[1];
    of.spins = Spins, of.patience = Patience;
  }
};

/// The victim computes already, and nobody rings it before the asker presses.
struct quiet : persistent<1, 0> {
  quiet() { of.quiet = true; }
};

/// Whoever got a part is the only one that can serve the other asker, who rang the first one only.
struct persistent_chain : crew<3> {
  persistent_chain() {
    tasks[0].divides_into(&tasks[1], 1), tasks[1].divides_into(&tasks[2], 1), made = 3;
    tasks[0].patient = tasks[1].patient = true, tasks[0].ends_after = &tasks[2];
    of.spins = 1, of.patience = 2;
  }
};

/// A worker that waits for task 1 asks its runner in the same way.
struct persistent_join : crew<2> {
  static constexpr unsigned preemptions = 2;
  persistent_join() {
    tasks[0].divides_into(&tasks[1], 1), tasks[1].divides_into(&tasks[2], 1), made = 3;
    tasks[0].patient = tasks[1].patient = true;
    of.spins = 1, of.patience = 2;
  }
};

/// Two parts for two askers, of whom one at a time may ask; both are needed.
struct crowded : crew<3> {
  static constexpr unsigned preemptions = 1;
  crowded() {
    tasks[0].divides_into(&tasks[1], 2), made = 3;
    tasks[0].patient = true, tasks[1].ends_after = &tasks[2];
    of.most_askers = 1;
  }
};

/// `Leaving` workers ask, as many as may, and take it back; as many others wait for room.
template <unsigned Leaving>
struct room : crew<2 * Leaving> {
  room() {
    this->of.most_askers = Leaving;
    for (unsigned i = 0; i < Leaving; ++i) this->of.meeting.askers.set(i);
  }
  void run(unsigned i) {
    auto self = this->workers[i].self();
    if (i < Leaving) {
      cleave::detail::open_request<platform> asking(self, nullptr, i, true);
      require(asking.withdraw(), "somebody took on what nobody saw");
    } else {
      cleave::detail::wait_for_room(
          self, Leaving, [] { return false; }, [&] { self.box.take_signals(); });
      self.of.askers.set(i);
    }
  }
};

/// A worker that waits is asked, which is nothing that it waits for: it must serve all the same.
struct asked_while_it_waits {
  platform::atomic<std::uint32_t> word{0};
  platform::cutoff cutoff{1};
  cleave::detail::mailbox<platform> box{word, cutoff};
  bool served = false;

  static constexpr unsigned threads() { return 2; }
  void run(unsigned i) {
    if (i == 0) return box.ring(asked);
    box.wait([this] { return served; }, [this] { served = (box.take_signals() & asked) != 0; },
             [] { return cleave::detail::waiting::sleep; });
  }
  void check() const { require(served, "who asked is not served"); }
  std::string name(const void* at) const { return at == &word ? "word" : "cutoff"; }
};

TEST(waiting, serves_who_asks) { holds<asked_while_it_waits>(5); }
TEST(waiting, spins) { holds<persistent<1, 0>>(); }
TEST(waiting, quietly) { holds<quiet>(); }
TEST(waiting, naps) { holds<persistent<0, 2>>(); }
TEST(waiting, spins_and_naps) { holds<persistent<1, 2>>(); }
TEST(waiting, of_a_join) { holds<persistent_join>(); }
TEST(waiting, in_a_crowd) { holds<crowded>(); }
TEST(waiting, for_room) { holds<room<1>>(10); }
TEST(waiting, for_room_with_others) { holds<room<2>>(); }

TEST(broken_waiting, sleep_by_store) { finds<asked_while_it_waits>(fault::sleep_by_store); }
TEST(broken_waiting, no_ring_before_sleep) { finds<persistent_chain>(fault::no_ring_before_sleep); }
TEST(broken_waiting, no_ring_after_quiet) { finds<quiet>(fault::no_ring_before_sleep); }
TEST(broken_waiting, no_press_after_nap) { finds<persistent<0, 2>>(fault::no_press_after_nap); }
TEST(broken_waiting, insist_keeps_cutoff) { finds<persistent<1, 2>>(fault::insist_keeps_cutoff); }
TEST(broken_waiting, crowd_not_called) { finds<room<1>>(fault::crowd_not_called); }
TEST(broken_waiting, crowd_not_called_by_a_worker) { finds<crowded>(fault::crowd_not_called); }
TEST(broken_waiting, crowd_not_chained) { finds<room<2>>(fault::crowd_not_chained); }

}  // namespace
