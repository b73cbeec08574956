#include "md_loans.hpp"

#include <algorithm>
#include <utility>

namespace study::dynamics {
namespace {

using cleave::detail::access_mode;
using cleave::detail::bytes_of;
constexpr std::uint32_t nobody = ~std::uint32_t{0};
constexpr std::size_t most_looked_at = 64;

std::size_t first_use(const cleave::detail::recorded_graph& g, std::uint32_t subtask) {
  return subtask == 0 ? 0 : g.subtasks[subtask - 1].uses_end;
}

}  // namespace

loans::loans(const problem& p) : p_(p), usual_(p.g.names.size()), members_(p.nodes) {
  std::vector<std::uint32_t> writer(p.g.bytes.size(), nobody), count(p.g.names.size());
  for (std::uint32_t i = 0; i < p.g.subtasks.size(); ++i) {
    for (const auto& u : p.g.uses_of(i)) versions_.push_back(writer[u.datum]);
    for (const auto& u : p.g.uses_of(i))
      if (u.mode != access_mode::in) writer[u.datum] = i;
    const auto& s = p.g.subtasks[i];
    usual_[s.name] += s.duration, ++count[s.name];
  }
  for (std::size_t k = 0; k < usual_.size(); ++k) usual_[k] /= std::max(1u, count[k]);
  for (std::uint32_t n = 0; n < p.nodes; ++n)
    members_[n] = {std::vector<bool>(p.nodes), std::vector<bool>(p.nodes), (n + 1) % p.nodes,
                   false};
}

std::optional<std::uint32_t> loans::asks(std::uint32_t node) {
  member& of = members_[node];
  if (of.waits_for_answer) return {};
  for (std::uint32_t k = 0; k < p_.nodes; ++k) {
    const std::uint32_t n = (of.next + k) % p_.nodes;
    if (n == node || of.has_none[n]) continue;
    of.waits_for_answer = true;
    return n;
  }
  return {};
}

void loans::got_loan(std::uint32_t node, std::uint32_t from) {
  members_[node].waits_for_answer = false, members_[node].next = from;
}
void loans::got_none(std::uint32_t node, std::uint32_t from) {
  member& of = members_[node];
  of.waits_for_answer = false, of.has_none[from] = true, of.next = (from + 1) % p_.nodes;
}
void loans::got_spare(std::uint32_t node, std::uint32_t from) {
  members_[node].has_none[from] = false;
}

loan loans::loan_of(std::uint32_t subtask, std::uint32_t node, std::uint32_t to) const {
  loan l{subtask, 0, 0};
  std::size_t at = first_use(p_.g, subtask);
  for (const auto& u : p_.g.uses_of(subtask)) {
    const auto has = has_.find({node, to, u.datum});
    if (u.mode != access_mode::out && (has == has_.end() || has->second != versions_[at]))
      l.there += bytes_of(p_.g, u.datum);
    if (u.mode != access_mode::in) l.back += bytes_of(p_.g, u.datum);
    ++at;
  }
  return l;
}

bool loans::is_worth(const loan& l) const {
  return usual_[p_.g.subtasks[l.subtask].name] >
         p_.messages.sending.of(l.there) + p_.messages.receiving.of(l.back);
}

std::optional<loan> loans::lends(std::uint32_t node, std::uint32_t to,
                                 const std::set<std::uint32_t>& ready) {
  std::optional<loan> best;
  std::size_t seen = 0;
  for (const std::uint32_t i : ready) {
    if (p_.node_of[i] != node) continue;
    if (++seen > most_looked_at) break;
    const loan l = loan_of(i, node, to);
    if (is_worth(l) && (!best || l.there < best->there)) best = l;
  }
  members_[node].asked[to] = !best;
  if (!best) return best;
  std::size_t at = first_use(p_.g, best->subtask);
  for (const auto& u : p_.g.uses_of(best->subtask)) has_[{node, to, u.datum}] = versions_[at++];
  return best;
}

void loans::is_back(const loan& l, std::uint32_t node, std::uint32_t from) {
  for (const auto& u : p_.g.uses_of(l.subtask))
    if (u.mode != access_mode::in) has_[{node, from, u.datum}] = l.subtask;
}

std::optional<std::uint32_t> loans::tells(std::uint32_t node,
                                          const std::set<std::uint32_t>& ready) {
  auto& asked = members_[node].asked;
  const auto at = std::ranges::find(asked, true);
  if (at == asked.end()) return {};
  const auto to = static_cast<std::uint32_t>(at - asked.begin());
  std::size_t seen = 0;
  for (const std::uint32_t i : ready) {
    if (p_.node_of[i] != node) continue;
    if (++seen > most_looked_at) break;
    if (!is_worth(loan_of(i, node, to))) continue;
    *at = false;
    return to;
  }
  return {};
}

}  // namespace study::dynamics
