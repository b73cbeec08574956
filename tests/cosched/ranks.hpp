#pragma once

#include "cosched/rank.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>

namespace cleave::tests {

/// Ranks of one node that are threads. MPI is a word for each of them: how many messages it was
/// sent. What is real is all of rank, its node and its doorbells.
template <unsigned Ranks>
struct threads_as_ranks {
  static constexpr unsigned ranks = Ranks, tests = 2;

  /// `world`: the number of each among all ranks.
  explicit threads_as_ranks(const std::array<int, Ranks>& world) : number(world) {}

  void send(unsigned me, unsigned to) {  // MPI_Send of one message
    of[me].begin_call(true);
    of[me].describe({false, number[to], cosched::waits_for::anything});
    sent[to].fetch_add(1, std::memory_order_release);
    of[me].end_call(true);
  }
  /// MPI_Recv of one message: look() is what MPI does as long as there is none.
  template <class Look>
  void receive(unsigned me, int& got, cosched::waits_for what, Look look) {
    of[me].begin_call(true);
    of[me].describe({false, cosched::rank::nobody, what});
    while (sent[me].load(std::memory_order_acquire) <= got) look();
    of[me].found_something();
    ++got;
    of[me].end_call(true);
  }
  cosched::counts all() const {
    using numbers = std::array<std::int64_t, cosched::counts::fields>;
    numbers sum{};
    for (const cosched::rank& r : of) {
      const auto its = std::bit_cast<numbers>(r.counted());
      std::transform(its.begin(), its.end(), sum.begin(), sum.begin(), std::plus());
    }
    return std::bit_cast<cosched::counts>(sum);
  }

  std::array<int, Ranks> number;
  std::array<cosched::rank, Ranks> of;
  std::array<std::atomic<int>, Ranks> sent{};
};

inline bool sleeps(pid_t thread) {
  std::ifstream in("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::size_t at = text.rfind(") ");
  return at != std::string::npos && text[at + 2] == 'S';
}
inline void await_sleep(const std::atomic<pid_t>& id) {
  while (id == 0 || !sleeps(id)) std::this_thread::yield();
}

inline std::string name_of_test(const testing::TestParamInfo<cosched::policy>& p) {
  const std::string name = name_of(p.param);
  return name == "two-phase" ? "two_phase" : name;
}

}  // namespace cleave::tests
