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

// The data of one loan, in bytes.
struct loan {
  std::uint32_t subtask = 0;
  double there = 0, back = 0;
};

class loans {
public:
  explicit loans(const problem& p);

  // Whom a node asks that has nothing to begin: nobody, if it waits for an answer, or all have
  // said that they have nothing. From now on it waits for an answer.
  std::optional<std::uint32_t> asks(std::uint32_t node);
  void got_loan(std::uint32_t node, std::uint32_t from);
  void got_none(std::uint32_t node, std::uint32_t from);
  void got_spare(std::uint32_t node, std::uint32_t from);

  // What a node lends of what is ready and waits there: the subtask of which the borrower lacks the
  // fewest bytes; of those alike, the earliest. Nothing, if no subtask takes longer than its
  // messages cost the lender; then the borrower is told once when there is something.
  std::optional<loan> lends(std::uint32_t node, std::uint32_t to,
                            const std::set<std::uint32_t>& ready);
  // Its result is back: the borrower has what it wrote.
  void is_back(const loan& l, std::uint32_t node, std::uint32_t from);
  // One that asked in vain, and is told that there is something in what is ready.
  std::optional<std::uint32_t> tells(std::uint32_t node, const std::set<std::uint32_t>& ready);

private:
  struct member {
    std::vector<bool> has_none;  // which members said so
    std::vector<bool> asked;     // which members asked this one in vain
    std::uint32_t next = 0;      // whom it asks first
    bool waits_for_answer = false;
  };
  loan loan_of(std::uint32_t subtask, std::uint32_t node, std::uint32_t to) const;
  bool is_worth(const loan& l) const;

  const problem& p_;
  std::vector<double> usual_;            // how long a subtask takes, by its name
  std::vector<std::uint32_t> versions_;  // of each use, who wrote the datum last
  std::vector<member> members_;
  // Which value of a datum a borrower has: by lender, borrower and datum.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> has_;
};

}  // namespace study::dynamics
