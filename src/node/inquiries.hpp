#pragma once

#include "node/courier.hpp"
#include "node/report.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace cleave::net {

/// What nodes tell each other for people: one asks, the others answer. No rule of the protocol
/// depends on it.
///
/// Invariant: one inquiry at a time, which whoever asks waits for.
class inquiries {
public:
  struct answer {
    address from;
    node_report what;
    clock_offset clock;
  };
  /// What this process has done, with its trace or without; what the driver knows itself is added.
  /// The driver's thread; must not block.
  using reporter = std::function<node_report(bool with_trace)>;

  /// How long answers are waited for that say what nodes have done.
  static constexpr std::chrono::milliseconds answer_within{1'000};

  inquiries(outlet& out, const courier& tasks, reporter of_this_node)
      : out_(out), tasks_(tasks), report_(std::move(of_this_node)) {}

  // Any thread but the driver's may call these.

  /// Does what driver::inquire() says.
  std::vector<answer> ask(bool trace, std::chrono::milliseconds at_most);
  /// Does what driver::traces() says.
  std::vector<trace::node_trace> traces();

  // The driver's thread.

  /// Asks the nodes that are there. A node that is gone is not waited for.
  void send();
  void hear(address from, const message& m);

private:
  /// Whoever asks waits until nobody is awaited.
  struct open_inquiry {
    std::uint64_t number;
    bool trace;
    bool sent = false;
    std::map<address, double> awaited;  // when each was asked, in microseconds
    std::vector<answer> answers;
  };

  void answer_to(address from, const message& m, const inquiry& asked);
  void keep(address from, const net::report& told);

  outlet& out_;
  const courier& tasks_;
  const reporter report_;
  std::mutex one_;  // held during an inquiry: there is one at a time
  std::uint64_t last_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  open_inquiry* open_ = nullptr;  // with that mutex
};

}  // namespace cleave::net
