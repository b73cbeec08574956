#pragma once

#include <cleave/runtime.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "protocol/settings.hpp"
#include "transport/transport.hpp"

namespace cleave::detail {
class pool;
}
namespace cleave::net {
class driver;
}

/// Several nodes in one process: each with a pool and a driver of its own, and a network between.
/// nodes/loopback.cpp is compiled once for all tests of nodes.
namespace cleave::tests {

using std::chrono::microseconds;

/// What a network does to messages, in this or that way by its seed.
struct weather {
  unsigned seed = 1;
  microseconds delay{0};  // at most
  double loss = 0, twice = 0;
  bool workers_send = true;                                       // not only the driver's thread
  std::size_t longest = std::numeric_limits<std::size_t>::max();  // message
};

/// Messages between two nodes keep their order; but one that comes twice comes later again.
class loopback {
public:
  struct network;

  loopback(unsigned nodes, weather w);
  ~loopback();

  std::unique_ptr<net::transport> open(net::address self);
  /// From now on nothing comes from it and nothing reaches it; the others are told, or not.
  void kill(net::address who, bool told);
  /// It was not there, or is to be another process than the one that is gone; the others find it.
  void join(net::address who);
  /// While it is held nothing arrives anywhere.
  void hold(bool held);

private:
  const std::unique_ptr<network> all_;
};

/// Times for a network in which a message takes microseconds.
net::settings quick();

/// What runtime::state is in a process.
class test_node {
public:
  test_node(loopback& by, net::address self, unsigned workers, const net::settings& how = quick());
  ~test_node();
  test_node(const test_node&) = delete;
  test_node& operator=(const test_node&) = delete;

  template <class F>
  auto run(F f) {
    detail::task_of<detail::closure_task<F>> root([&f] { return detail::closure_task<F>{f}; });
    run_root(root);
    if (root.error) std::rethrow_exception(root.error);
    return std::move(*root.result);
  }
  /// runtime::run_on_all.
  template <team_task Work>
  auto run_on_all(Work work) {
    return detail::run_by_team(work, [this](detail::task& root, detail::task& input) {
      return run_team(*detail::wire_of<detail::team_part<Work>>(), input, root);
    });
  }
  detail::pool* pool() const noexcept { return pool_.get(); }
  net::driver& link() noexcept { return *link_; }
  net::traffic carried() const;

private:
  void run_root(detail::task& root);
  bool run_team(const detail::wire_type& type, detail::task& input, detail::task& root);

  std::unique_ptr<net::driver> link_;
  std::unique_ptr<detail::pool> pool_;
};

/// The first node has the root.
struct job {
  job(unsigned count, unsigned workers, weather w = {}, const net::settings& how = quick());
  ~job();
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  test_node& root() { return *nodes.front(); }
  std::uint64_t crossed();

  loopback network;
  std::vector<std::unique_ptr<test_node>> nodes;
};

}  // namespace cleave::tests
