// labels: once
#include "cosched_doorbells.hpp"

#include <gtest/gtest.h>

#include <cstdio>

namespace {

using namespace model::cosched;
using model::explorer;
using model::verdict;

/// A message that is waited for.
struct one_message : job<2> {
  void run(unsigned i) { i == 0 ? call_send(0, messages[0]) : wait(1, messages[0]); }
};

/// Forth and back: who was rung waits again.
struct ping_pong : job<2> {
  void run(unsigned i) {
    if (i == 0) {
      call_send(0, messages[0]);
      wait(0, messages[1]);
      call_send(0, messages[2]);
    } else {
      wait(1, messages[0]);
      call_send(1, messages[1]);
      wait(1, messages[2]);
    }
  }
};

/// Rendezvous: rank 0 asks whether it may send, and waits; rank 1 answers from within its wait;
/// then comes the message.
template <bool Later>
struct answered : job<2> {
  void run(unsigned i) {
    if (i == 0) {
      send(messages[0]);
      wait_for_leave();
      call_send(0, messages[2]);
    } else {
      wait(1, messages[2], &messages[0], &messages[1], Later);
    }
  }
  void wait_for_leave() {
    ring(0, all);  // rank::found_nothing, of what the call sent before
    wait(0, messages[1]);
  }
};
using rendezvous = answered<false>;
/// The answer is sent some looks after the question was seen.
using late_answer = answered<true>;

/// Both wait at once, each for what the other sends first.
struct exchange : job<2> {
  void run(unsigned i) {
    call_send(i, messages[i]);
    wait(i, messages[1 - i]);
  }
};

/// Two ranks wait for a third.
struct two_wait : job<3> {
  void run(unsigned i) {
    if (i != 0) return wait(i, messages[i]);
    call_send(0, messages[1]);
    call_send(0, messages[2]);
  }
};

/// A rank that only passes on.
struct chain : job<3> {
  void run(unsigned i) {
    if (i != 0) wait(i, messages[i - 1]);
    if (i != 2) call_send(i, messages[i]);
  }
};

/// As MPI_Recv and MPI_Send ring: the sender its receiver, and who only receives nobody who waits
/// for a message.
template <class Beds>
struct to_one_by : job<2, Beds> {
  using ranks = job<2, Beds>;
  using ranks::call_send, ranks::wait, ranks::messages, ranks::nobody;
  using typename ranks::waits_for;

  void run(unsigned i) {
    if (i == 0) {
      call_send(0, messages[0], 1);
      wait(0, messages[1], nobody, waits_for::message);
      call_send(0, messages[2], 1);
    } else {
      wait(1, messages[0], nobody, waits_for::message);
      call_send(1, messages[1], 0);
      wait(1, messages[2], nobody, waits_for::message);
    }
  }
};
using to_one = to_one_by<words>;

/// MPI_Send of a long message: it asks, and waits for the answer; the other answers from where it
/// waits for that message. A third one waits for a message of the sender, and is rung for it only.
struct long_send : job<3> {
  void run(unsigned i) {
    if (i == 0) {
      send(messages[0]);
      ring(0, broken == fault::no_receiver ? nobody : 1);
      wait(0, messages[1], 1, waits_for::anything);
      call_send(0, messages[2], 1);
      call_send(0, messages[3], 2);
    } else if (i == 1) {
      wait(1, messages[2], nobody, waits_for::message, &messages[0], &messages[1]);
    } else {
      wait(2, messages[3], nobody, waits_for::message);
    }
  }
};

/// The answer is sent by a call that only posts a receive.
struct posted : job<2> {
  void run(unsigned i) {
    if (i == 0) {
      send(messages[0]);
      ring(0, 1);
      wait(0, messages[1], 1, waits_for::anything);
      call_send(0, messages[2], 1);
    } else {
      call_post(1, messages[0], messages[1]);
      if (messages[1].load(std::memory_order_relaxed) == 0)
        wait(1, messages[2], nobody, waits_for::message, &messages[0], &messages[1]);
      else wait(1, messages[2], nobody, waits_for::message);
    }
  }
};

// Jobs on several nodes. Rank 0 is on another one if it uses deliver(): what it sends comes to the
// receiver's socket at any time.

/// A message from another node, and nothing else.
struct from_a_node : job<2, sockets> {
  void run(unsigned i) { i == 0 ? beds.deliver(1) : wait_for_node(1, waits_for::message); }
};

/// Forth and back between two nodes.
struct between_nodes : job<2, sockets> {
  void run(unsigned i) {
    if (i == 0) beds.deliver(1);
    wait_for_node(i);
    if (i == 1) beds.deliver(0);
  }
};

/// The two are on one node, and sleep in poll() for another one's sake: a ring that was late for
/// one sleep lies in the socket at the next one.
using neighbours = to_one_by<sockets>;

/// A rank waits for a message of its own node and for one of another, in whichever order they come.
template <bool NodeFirst>
struct both_kinds : job<3, sockets> {
  void run(unsigned i) {
    if (i == 0) return beds.deliver(1);
    if (i == 2) return call_send(2, messages[0], 1);
    if (NodeFirst) wait_for_node(1);
    wait(1, messages[0], nobody, waits_for::message);
    if (!NodeFirst) wait_for_node(1);
  }
};
using node_first = both_kinds<true>;
using node_last = both_kinds<false>;

/// What comes from another node is passed on within this one.
struct passed_on : job<3, sockets> {
  void run(unsigned i) {
    if (i == 0) return beds.deliver(1);
    if (i == 2) return wait(2, messages[0], nobody, waits_for::message);
    wait_for_node(1, waits_for::message);
    call_send(1, messages[0], 2);
  }
};

template <class World>
verdict explore(fault f) {
  broken = f;
  const bool two = World{}.threads() == 2;
  const verdict found = explorer().explore<World>(two ? explorer::unbounded : 3);
  broken = fault::none;
  std::printf("%zu states, %zu steps%s\n", found.states, found.steps,
              two ? "" : ", at most 3 preemptions");
  return found;
}

template <class World>
void holds(fault f = fault::none) {
  const verdict found = explore<World>(f);
  EXPECT_EQ(found.violation, "") << found.schedule;
  EXPECT_GT(found.states, 50u);
}

TEST(cosched_doorbell, one_message) { holds<one_message>(); }
TEST(cosched_doorbell, ping_pong) { holds<ping_pong>(); }
TEST(cosched_doorbell, rendezvous) { holds<rendezvous>(); }
TEST(cosched_doorbell, late_answer) { holds<late_answer>(); }
TEST(cosched_doorbell, exchange) { holds<exchange>(); }
TEST(cosched_doorbell, two_wait) { holds<two_wait>(); }
TEST(cosched_doorbell, chain) { holds<chain>(); }
TEST(cosched_doorbell, to_one) { holds<to_one>(); }
TEST(cosched_doorbell, long_send) { holds<long_send>(); }
TEST(cosched_doorbell, posted) { holds<posted>(); }
TEST(cosched_doorbell, from_a_node) { holds<from_a_node>(); }
TEST(cosched_doorbell, between_nodes) { holds<between_nodes>(); }
TEST(cosched_doorbell, neighbours) { holds<neighbours>(); }
TEST(cosched_doorbell, node_first) { holds<node_first>(); }
TEST(cosched_doorbell, node_last) { holds<node_last>(); }
TEST(cosched_doorbell, passed_on) { holds<passed_on>(); }
TEST(cosched_doorbell, a_name_left_on_the_board_is_harmless) {
  holds<ping_pong>(fault::board_left);
}

/// Breaks one thing; the explorer must say so.
template <class World>
void finds(fault f) {
  const verdict found = explore<World>(f);
  EXPECT_NE(found.violation, "");
  std::printf("%s. A shortest schedule:\n%s", found.violation.c_str(), found.schedule.c_str());
}

TEST(broken_cosched_doorbell, no_fence) { finds<one_message>(fault::no_fence); }
TEST(broken_cosched_doorbell, announce_by_store) { finds<one_message>(fault::announce_by_store); }
TEST(broken_cosched_doorbell, no_test_again) { finds<one_message>(fault::no_test_again); }
TEST(broken_cosched_doorbell, ring_without_wake) { finds<one_message>(fault::ring_without_wake); }
TEST(broken_cosched_doorbell, ring_keeps_ticket) { finds<one_message>(fault::ring_keeps_ticket); }
TEST(broken_cosched_doorbell, sleep_unconditional) {
  finds<one_message>(fault::sleep_unconditional);
}
TEST(broken_cosched_doorbell, no_ring_after_call) { finds<one_message>(fault::no_ring_after_call); }
TEST(broken_cosched_doorbell, no_ring_in_wait) { finds<rendezvous>(fault::no_ring_in_wait); }
TEST(broken_cosched_doorbell, no_ring_before_sleep) {
  finds<late_answer>(fault::no_ring_before_sleep);
}
TEST(broken_cosched_doorbell, board_not_set) { finds<one_message>(fault::board_not_set); }
TEST(broken_cosched_doorbell, no_receiver) { finds<to_one>(fault::no_receiver); }
TEST(broken_cosched_doorbell, no_receiver_of_a_long_message) {
  finds<long_send>(fault::no_receiver);
}
TEST(broken_cosched_doorbell, wrong_wait) { finds<posted>(fault::wrong_wait); }
TEST(broken_cosched_doorbell, wrong_wait_for_a_waiter) { finds<long_send>(fault::wrong_wait); }
TEST(broken_cosched_doorbell, only_own_socket) { finds<from_a_node>(fault::only_own_socket); }
TEST(broken_cosched_doorbell, only_descriptors) { finds<neighbours>(fault::only_descriptors); }
TEST(broken_cosched_doorbell, drained_after_all) { finds<neighbours>(fault::drained_after_all); }
TEST(broken_cosched_doorbell, ring_to_word) { finds<neighbours>(fault::ring_to_word); }
TEST(broken_cosched_doorbell, no_test_again_beside_a_node) {
  finds<passed_on>(fault::no_test_again);
}

}  // namespace
