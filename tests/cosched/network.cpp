#include "cosched/network.hpp"

#include "ranks.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

// Ranks are threads here, as in rank.cpp, and sleep as in a job on several nodes. MPI is a word for
// what comes from the own node, and a pipe for what comes from others. Their sockets are real.
namespace {

using namespace cleave::cosched;
using namespace cleave::tests;

constexpr int messages = 3'000;

struct pipe_of_bytes {
  pipe_of_bytes() { EXPECT_EQ(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0); }
  ~pipe_of_bytes() { close(ends[0]), close(ends[1]); }
  pipe_of_bytes(const pipe_of_bytes&) = delete;
  void send() const { EXPECT_EQ(write(ends[1], "x", 1), 1); }
  int ends[2] = {-1, -1};
};

/// Two ranks of one node, whose numbers in the world are 0 and 2. Rank 1 is elsewhere.
struct job : threads_as_ranks<2> {
  explicit job(policy by) : threads_as_ranks({0, 2}) {
    auto first = node::make(ranks);
    if (first == nullptr) return;
    name = first->name();
    auto second = node::open(name, ranks);
    first->forget_name();
    std::array<std::unique_ptr<node>, ranks> nodes{std::move(first), std::move(second)};
    for (unsigned i = 0; i < ranks; ++i) {
      asked[i].watch();
      auto others = network::make(name, i, {0, 2}, asked[i]);
      if (nodes[i] == nullptr || others == nullptr) return;
      of[i].start(std::move(nodes[i]), std::move(others), i,
                  {tests, spin_time(by, 20'000, 20'000, i + 1), 0, allowance(), false});
    }
    complete = true;
  }

  /// MPI looks at its pipe, by poll(): one message of another node at most.
  void look(unsigned me) {
    asked[me].begin_look();
    pollfd one{from_others[me].ends[0], POLLIN, 0};
    const int ready = poll(&one, 1, 0);
    asked[me].asked(&one, 1, ready);
    char byte = 0;
    if (ready > 0 && read(one.fd, &byte, 1) == 1) ++come[me];
    ready > 0 ? of[me].found_something() : of[me].found_nothing();
  }
  /// MPI_Recv, from the node or from another one.
  void receive(unsigned me, int& got, bool from_node) {
    const auto looks = [&] { look(me); };
    if (from_node) return threads_as_ranks::receive(me, got, waits_for::message, looks);
    of[me].begin_call(true);
    of[me].describe({false, rank::nobody, waits_for::message});
    while (come[me] <= got) look(me);
    ++got;
    of[me].end_call(true);
  }

  bool complete = false;
  std::string name;
  std::array<descriptors, ranks> asked;
  std::array<pipe_of_bytes, ranks> from_others;
  std::array<int, ranks> come{};
};

/// A process of no job, which sends to the first rank's socket.
struct stranger {
  explicit stranger(const std::string& job)
      : name(job + "/0"), own(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {}
  ~stranger() { close(own); }
  stranger(const stranger&) = delete;
  /// Returns how many of so many datagrams arrive.
  int flood(int times) const {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path + 1, name.data(), name.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    int arrived = 0;
    for (int i = 0; i < times; ++i)
      arrived += sendto(own, "hello", 5, 0, reinterpret_cast<sockaddr*>(&to), length) == 5;
    return arrived;
  }
  const std::string name;
  const int own;
};

class between_nodes : public testing::TestWithParam<policy> {};

// Round: from the first rank of the node to the second, to another node, and back.
TEST_P(between_nodes, no_wake_up_is_lost) {
  job j(GetParam());
  ASSERT_TRUE(j.complete);
  pipe_of_bytes to_other;
  std::thread other([&] {
    for (int i = 0; i < messages; ++i) {
      pollfd one{to_other.ends[0], POLLIN, 0};
      char byte = 0;
      poll(&one, 1, -1);
      EXPECT_EQ(read(one.fd, &byte, 1), 1);
      j.from_others[0].send();
    }
  });
  std::thread second([&] {
    for (int got = 0; got < messages;) {
      j.receive(1, got, true);
      to_other.send();
    }
  });
  for (int got = 0; got < messages;) {
    j.send(0, 1);
    j.receive(0, got, false);
  }
  second.join(), other.join();
  const counts c = j.all();
  EXPECT_GT(c.waits, 0);
  EXPECT_LE(c.late, 1 + c.waits / 1'000);  // one may: who rings can be off its CPU for long
  if (GetParam() == policy::block) {
    EXPECT_GT(c.events, 0);  // how many there are depends on who has a CPU
    EXPECT_GT(c.rings, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(policies, between_nodes,
                         testing::Values(policy::block, policy::two_phase, policy::adaptive),
                         name_of_test);

// The kernel charges what is not read to its sender, who may ring all ranks of a large node before
// one of them reads.
TEST(network, one_rank_can_ring_many) {
  constexpr unsigned ranks = 300;
  const auto shared = node::make(1);
  ASSERT_NE(shared, nullptr);
  const std::string name = shared->name();  // nobody else's
  shared->forget_name();
  const descriptors none;
  const auto root = network::make(name, ranks, {}, none);
  ASSERT_NE(root, nullptr);
  std::array<std::unique_ptr<network>, ranks> others;
  for (unsigned i = 0; i < ranks; ++i) {
    others[i] = network::make(name, i, {}, none);
    ASSERT_NE(others[i], nullptr);
  }
  for (int times = 0; times < 5; ++times)
    for (unsigned i = 0; i < ranks; ++i) root->wake(i);
  for (unsigned i = 0; i < ranks; ++i) {
    EXPECT_EQ(others[i]->poll(), polled::rung) << "rank " << i;
    others[i]->drain();
    EXPECT_EQ(others[i]->poll(), polled::late) << "rank " << i;
  }
}

// A rank that was rung before it went to sleep leaves nothing in its socket, which holds only a few
// rings.
TEST(network, who_was_rung_awake_empties_its_socket) {
  job j(policy::block);
  ASSERT_TRUE(j.complete);
  constexpr int rings = 50;
  for (int i = 0; i < rings; ++i) {
    j.of[0].begin_call(true);
    j.of[0].describe({false, rank::nobody, waits_for::message});
    j.look(0);  // announces
    j.send(1, 0);
    j.of[0].found_something();
    j.of[0].end_call(true);
  }
  EXPECT_EQ(j.of[1].counted().rings, rings);
  EXPECT_EQ(j.of[0].counted().sleeps, 0);
  EXPECT_EQ(stranger(j.name).flood(1), 1) << "its socket is full";
}

// After a look in which MPI has not asked, nobody knows what would end the sleep.
TEST(network, who_does_not_know_what_mpi_waits_for_does_not_sleep) {
  job j(policy::block);
  ASSERT_TRUE(j.complete);
  j.of[0].begin_call(true);
  for (unsigned i = 0; i < 100 * job::tests && j.of[0].counted().sleeps == 0; ++i) {
    j.asked[0].begin_look();
    j.of[0].found_nothing();
  }
  EXPECT_EQ(j.of[0].counted().sleeps, 0);
  j.from_others[0].send();  // after MPI has asked, as it were
  for (unsigned i = 0; i < 100 * job::tests && j.of[0].counted().sleeps == 0; ++i) {
    j.asked[0].begin_look();
    pollfd one{j.from_others[0].ends[0], POLLIN, 0};
    j.asked[0].asked(&one, 1, 0);
    j.of[0].found_nothing();
  }
  EXPECT_EQ(j.of[0].counted().sleeps, 1) << "now it does";
  EXPECT_EQ(j.of[0].counted().events, 1);
  j.of[0].found_something();
  j.of[0].end_call(true);
  j.asked[0].begin_look();
  EXPECT_TRUE(j.asked[0].all().empty()) << "what was asked in another look";
}

// What a stranger sends wakes nobody's wait, and does not keep rings out.
TEST(network, strangers_count_for_nothing) {
  job j(policy::block);
  ASSERT_TRUE(j.complete);
  const stranger other(j.name);
  EXPECT_LT(other.flood(10'000), 10'000) << "the socket is full now";
  std::atomic<pid_t> id{0};
  std::atomic<int> received{0};
  std::thread waits([&] {
    id = gettid();
    int got = 0;
    j.receive(0, got, true);
    received = got;
    id = 0;
    int from_others = 0;
    id = gettid();
    j.receive(0, from_others, false);
    received += from_others;
  });
  await_sleep(id);
  EXPECT_GT(other.flood(1'000), 0);
  EXPECT_EQ(received, 0);
  await_sleep(id);
  j.send(1, 0);
  while (received == 0) std::this_thread::yield();
  await_sleep(id);
  EXPECT_GT(other.flood(1'000), 0);
  j.from_others[0].send();
  waits.join();
  EXPECT_EQ(received, 2);
  const counts& c = j.of[0].counted();
  EXPECT_LE(c.late, 1);  // who rings may be taken off its CPU before it does
  EXPECT_EQ(c.slept, 2);
  EXPECT_EQ(c.sleeps - c.timeouts, 2) << "a stranger ended a sleep";
}

}  // namespace
