#pragma once

#include "node/outlet.hpp"
#include "protocol/node.hpp"

#include <cleave/detail/task.hpp>
#include <cleave/detail/travel/gathered.hpp>

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace cleave::net {

/// Gathered variables, between the workers here and other nodes; and the tasks of other nodes that
/// have ended here and whose updates are not in order yet. The driver's thread, but for updated().
///
/// Invariant: a task that another node waits for ends there after all updates that it has made are
/// in their homes' order.
class gathered_exchange final : public gathered_port {
public:
  gathered_exchange(outlet& out, detail::carrier& net);

  /// Updates are to be told, or waited for. Any thread.
  void updated();
  /// Tells the protocol of updates, and of what is waited for; `all`: also of updates that are to
  /// leave with later ones. Those that ended tasks have made are told in any case.
  void tell(instant at, node& protocol, bool all);

  /// A task of another node has ended here.
  void ended(std::unique_ptr<detail::task> t);
  /// The next one that may be told of, or null; it is the caller's then. `all`: whether its updates
  /// are in order or not.
  std::unique_ptr<detail::task> next_ended(const node& protocol, bool all);

  bool has(const gathered_name& name) const override;
  void arrived(const gathered_name& name, std::uint64_t version,
               const std::vector<ordered_update>& updates) override;
  std::optional<gathered_state> here(const gathered_name& name) const override;
  void replaced(const gathered_name& name, const gathered_value& m,
                const std::vector<bytes>& own) override;
  void taken(const gathered_name& name, std::uint64_t version, std::uint64_t number) override;
  void gone(const gathered_name& name) override;

private:
  struct ended_task {
    std::unique_ptr<detail::task> what;
    std::optional<std::uint64_t> made;  // updates until then; nothing: they were not told yet
  };
  void tell_waiting();

  outlet& out_;
  detail::carrier& net_;
  std::atomic<bool> updated_{false};
  std::deque<ended_task> ended_;
};

}  // namespace cleave::net
