#include "md_loans.hpp"

#include <algorithm>
#include <utility>

namespace study::dynamics {
namespace {

using cleave::detail::access_mode;
using cleave::detail::bytes_of;
constexpr std::uint32_t nobody = ~std::uint32_t{0};
constexpr std::size_t most_looked_at = 64;

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

std::uint32_t loans::version_of(const use& u) const {
  return versions_[static_cast<std::size_t>(&u - p_.g.uses.data())];
}

double loans::bytes_there(std::uint32_t subtask, std::uint32_t node, std::uint32_t to) const {
  double bytes = 0;
  for (const use& u : p_.g.uses_of(subtask)) {
    const auto has = has_.find({node, to, u.datum});
    if (u.mode != access_mode::out && (has == has_.end() || has->second != version_of(u)))
      bytes += bytes_of(p_.g, u.datum);
  }
  return bytes;
}

double loans::bytes_back(std::uint32_t subtask) const {
  double bytes = 0;
  for (const use& u : p_.g.uses_of(subtask))
    if (u.mode != access_mode::in) bytes += bytes_of(p_.g, u.datum);
  return bytes;
}

std::optional<loan> loans::best(std::uint32_t node, std::uint32_t to,
                                const std::set<std::uint32_t>& ready) const {
  std::optional<loan> found;
  std::size_t seen = 0;
  for (const std::uint32_t i : ready) {
    if (p_.node_of[i] != node) continue;
    if (++seen > most_looked_at) break;
    const double bytes = bytes_there(i, node, to);
    const double costs = p_.messages.sending.of(bytes) + p_.messages.receiving.of(bytes_back(i));
    if (usual_[p_.g.subtasks[i].name] > costs && (!found || bytes < found->bytes))
      found = {i, bytes};
  }
  return found;
}

std::optional<loan> loans::lends(std::uint32_t node, std::uint32_t to,
                                 const std::set<std::uint32_t>& ready) {
  const auto given = best(node, to, ready);
  members_[node].asked[to] = !given;
  if (given)
    for (const use& u : p_.g.uses_of(given->subtask)) has_[{node, to, u.datum}] = version_of(u);
  return given;
}

void loans::is_back(std::uint32_t subtask, std::uint32_t node, std::uint32_t from) {
  for (const use& u : p_.g.uses_of(subtask))
    if (u.mode != access_mode::in) has_[{node, from, u.datum}] = subtask;
}

std::optional<std::uint32_t> loans::tells(std::uint32_t node,
                                          const std::set<std::uint32_t>& ready) {
  auto& asked = members_[node].asked;
  const auto at = std::ranges::find(asked, true);
  if (at == asked.end()) return {};
  const auto to = static_cast<std::uint32_t>(at - asked.begin());
  if (!best(node, to, ready)) return {};
  *at = false;
  return to;
}

}  // namespace study::dynamics
