// What a graph whose nodes lend ready subtasks decides (`team_graph` with `dynamic`): whom an idle
// node asks, and what it is lent. Source: src/graph/lending.hpp, whose rules these are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "md_problem.hpp"

namespace study::dynamics {

// A subtask that is lent, and the bytes of those of its data that the borrower lacks.
struct loan {
  std::uint32_t subtask = 0;
  double bytes = 0;
};

class loans {
public:
  explicit loans(const problem& p);

  // Returns whom a node asks that has nothing to begin, and notes that it waits for the answer. It
  // asks nobody while it waits, nor if all have said that they have nothing.
  std::optional<std::uint32_t> asks(std::uint32_t node);
  void got_loan(std::uint32_t node, std::uint32_t from);
  void got_none(std::uint32_t node, std::uint32_t from);
  void got_spare(std::uint32_t node, std::uint32_t from);

  // Returns what a node lends of the subtasks that are ready and wait there. It is the one of which
  // the borrower lacks the fewest bytes; of those alike, the earliest. The node lends nothing if no
  // subtask takes longer than its messages cost the node; then tells() returns the borrower once.
  std::optional<loan> lends(std::uint32_t node, std::uint32_t to,
                            const std::set<std::uint32_t>& ready);
  // The result of a loan is back, so the borrower has what the subtask wrote.
  void is_back(std::uint32_t subtask, std::uint32_t node, std::uint32_t from);
  // Returns a member that asked this node in vain, if the node has something to lend it by now.
  std::optional<std::uint32_t> tells(std::uint32_t node, const std::set<std::uint32_t>& ready);
  // Returns how long the result of a subtask is.
  double bytes_back(std::uint32_t subtask) const;

private:
  struct member {
    std::vector<bool> has_none;  // which members said so
    std::vector<bool> asked;     // which members asked this one in vain
    std::uint32_t next = 0;      // whom it asks first
    bool waits_for_answer = false;
  };
  using use = cleave::detail::recorded_graph::use;
  std::optional<loan> best(std::uint32_t node, std::uint32_t to,
                           const std::set<std::uint32_t>& ready) const;
  double bytes_there(std::uint32_t subtask, std::uint32_t node, std::uint32_t to) const;
  std::uint32_t version_of(const use& u) const;

  const problem& p_;
  std::vector<double> usual_;            // how long a subtask takes, by its name
  std::vector<std::uint32_t> versions_;  // of each use, who wrote the datum last
  std::vector<member> members_;
  // Which value of a datum a borrower has: by lender, borrower and datum.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> has_;
};

}  // namespace study::dynamics
