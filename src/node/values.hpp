#pragma once

#include "node/clock.hpp"
#include "node/outlet.hpp"
#include "protocol/node.hpp"

#include <cleave/detail/travel/replicas.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

namespace cleave::net {

/// Shared values and published data, between the workers here and other nodes. The driver's thread,
/// but for what is said to be any thread's.
class value_exchange {
public:
  explicit value_exchange(outlet& out) : out_(out) {}

  /// From now on values of this process go to other nodes, and those of others come here.
  void carry(detail::carrier& by);

  /// A datum that another node made; `by` is asked to wait, until `over` at most. Any thread;
  /// blocks. Throws std::runtime_error.
  bytes fetch(detail::value_name name, detail::carrier& by, const std::atomic<bool>& over);
  /// A worker here has improved a shared value. Any thread.
  void improved();

  /// Tells the protocol of data to be fetched, and of shared values that have improved.
  void tell(instant at, node& protocol);
  /// Forgets the values that nobody here uses. Called when no task of another node is here any
  /// more.
  static void forget();

  /// All shared values that are known here.
  bytes shared() const;
  /// Returns why one cannot be read, or null. `passed_on`: they go on with the results of tasks
  /// that this node has for others.
  std::exception_ptr take_in(std::span<const std::byte> values, bool passed_on) noexcept;
  std::optional<bytes> publication(std::uint64_t id) const;
  /// The data that fetch() waits for have come. Whoever waits is to be told.
  void fetched(address publisher, std::uint64_t id, std::optional<bytes> contents);

private:
  struct wait_for_data {
    bool asked = false;
    std::atomic<bool> arrived{false};  // after the contents
    std::optional<bytes> contents;
  };

  std::uint64_t improved_since(std::uint64_t version, bytes& newest) const;

  outlet& out_;
  std::uint64_t sent_version_ = 0;  // the version of the shared values that was sent
  std::mutex mutex_;
  bool improved_ = false;  // with mutex_
  /// The data that fetch() waits for. Guarded by the mutex.
  std::map<std::pair<address, std::uint64_t>, std::shared_ptr<wait_for_data>> wanted_;
};

}  // namespace cleave::net
