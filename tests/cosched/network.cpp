#include "cosched/network.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include "cosched/rank.hpp"

// Ranks are threads here, as in rank.cpp, and sleep as in a job on several nodes. MPI is a word for
// what comes from the own node, and a pipe for what comes from others. What is real is all of rank,
// its node, its doorbells and its sockets.
namespace {

using namespace cleave::cosched;

constexpr int messages = 3'000;

struct pipe_of_bytes {
  pipe_of_bytes() { EXPECT_EQ(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0); }
  ~pipe_of_bytes() { close(ends[0]), close(ends[1]); }
  pipe_of_bytes(const pipe_of_bytes&) = delete;
  void send() const { EXPECT_EQ(write(ends[1], "x", 1), 1); }
  int ends[2] = {-1, -1};
};

/// Two ranks of one node, whose numbers in the world are 0 and 2. Rank 1 is elsewhere.
struct job {
  static constexpr unsigned ranks = 2, tests = 2;

  explicit job(policy by) {
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
      of[i].start(std::move(nodes[i]), std::move(others), i, tests,
                  spin_time(by, 20'000, 20'000, i + 1), 0, allowance(), false);
    }
    complete = true;
  }

  void send(unsigned me, unsigned to) {  // MPI_Send within the node
    of[me].begin_call(true);
    of[me].describe({false, to == 0 ? 0 : 2, waits_for::anything});
    sent[to].fetch_add(1, std::memory_order_release);
    of[me].end_call(true);
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
    of[me].begin_call(true);
    of[me].describe({false, rank::nobody, waits_for::message});
    if (from_node) {
      while (sent[me].load(std::memory_order_acquire) <= got) look(me);
      of[me].found_something();
    } else {
      while (come[me] <= got) look(me);
    }
    ++got;
    of[me].end_call(true);
  }
  counts all() const {
    counts c;
    for (const rank& r : of)
      c.waits += r.counted().waits, c.sleeps += r.counted().sleeps, c.late += r.counted().late,
          c.events += r.counted().events, c.rings += r.counted().rings;
    return c;
  }

  bool complete = false;
  std::string name;
  std::array<descriptors, ranks> asked;
  std::array<rank, ranks> of;
  std::array<std::atomic<int>, ranks> sent{};
  std::array<pipe_of_bytes, ranks> from_others;
  std::array<int, ranks> come{};
};

bool sleeps(pid_t thread) {
  std::ifstream in("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::size_t at = text.rfind(") ");
  return at != std::string::npos && text[at + 2] == 'S';
}
void await_sleep(const std::atomic<pid_t>& id) {
  while (id == 0 || !sleeps(id)) std::this_thread::yield();
}

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
  EXPECT_LE(c.late * 1'000, c.waits);
  if (GetParam() == policy::block) {
    EXPECT_GT(c.events, messages / 2);
    EXPECT_GT(c.rings, messages / 2);
  }
}

INSTANTIATE_TEST_SUITE_P(policies, between_nodes,
                         testing::Values(policy::block, policy::two_phase, policy::adaptive),
                         [](const auto& p) {
                           const std::string name = name_of(p.param);
                           return name == "two-phase" ? "two_phase" : name;
                         });

// What a stranger sends wakes nobody's wait, and does not keep rings out.
TEST(network, strangers_count_for_nothing) {
  job j(policy::block);
  ASSERT_TRUE(j.complete);
  const int stranger = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const auto flood = [&](int times) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    const std::string name = j.name + "/0";
    std::memcpy(to.sun_path + 1, name.data(), name.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    int arrived = 0;
    for (int i = 0; i < times; ++i)
      arrived += sendto(stranger, "hello", 5, 0, reinterpret_cast<sockaddr*>(&to), length) == 5;
    return arrived;
  };
  EXPECT_LT(flood(10'000), 10'000) << "the socket is full now";
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
  EXPECT_GT(flood(1'000), 0);
  EXPECT_EQ(received, 0);
  await_sleep(id);
  j.send(1, 0);
  while (received == 0) std::this_thread::yield();
  await_sleep(id);
  EXPECT_GT(flood(1'000), 0);
  j.from_others[0].send();
  waits.join();
  EXPECT_EQ(received, 2);
  const counts& c = j.of[0].counted();
  EXPECT_LE(c.late, 1);  // who rings may be taken off its CPU before it does
  EXPECT_EQ(c.slept, 2);
  EXPECT_EQ(c.sleeps - c.timeouts, 2) << "a stranger ended a sleep";
  close(stranger);
}

}  // namespace
