#include <cleave/detail/graph/distribution.hpp>

#include <cleave/detail/travel/bytes.hpp>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "graph/lending.hpp"
#include "graph/replanning.hpp"
#include "graph/replay.hpp"

// The end of a graph of a team: what all nodes agree on, and how they get to know that there is
// nothing more to wait for.
namespace cleave::detail {
namespace {

class [[nodiscard]] lends_while_waiting {
public:
  explicit lends_while_waiting(lending* l) noexcept : lends_(l) {
    if (lends_ != nullptr) lends_->begin_waiting();
  }
  ~lends_while_waiting() {
    if (lends_ != nullptr) lends_->end_waiting();
  }
  lends_while_waiting(const lends_while_waiting&) = delete;
  lends_while_waiting& operator=(const lends_while_waiting&) = delete;

private:
  lending* const lends_;
};

}  // namespace

std::logic_error distribution::different_graphs() {
  return std::logic_error(
      "cleave::team_graph: the nodes have made different graphs, or not all call wait()");
}

void distribution::await(const std::function<bool()>& holds) {
  if (size() == 1) return;
  for (;;) {
    bool is_over = false;
    node_.await([&] {
      const std::lock_guard lock(node_.mutex);
      is_over = holds() || is_left();
      return is_over || (graph_.lends != nullptr && !graph_.pending.none());
    });
    if (is_over) break;
    detail::wait(graph_);  // this node was lent something
  }
  const std::lock_guard lock(node_.mutex);
  if (holds()) return;
  if (rounds_.differs) throw different_graphs();
  told_stopped(&graph_);
  throw cancelled{};
}

/// Nodes that have made different graphs would wait for each other: the first one compares what all
/// have made before they wait, or end.
void distribution::compare(bool at_the_end) {
  made_.all.add(at_the_end ? entry::end : entry::wait);
  // Nodes learn of a cancellation, and follow no plan any more, one after the other.
  const std::uint64_t placed = detail::stopped(&graph_) ? 0 : made_.placed.value;
  {
    const std::lock_guard lock(node_.mutex);
    ++rounds_.joined;
    if (rank() == 0) return compare(rounds_.joined, made_.all.value, placed);
  }
  auto message = begin(kind::made);
  byte_writer w(message);
  w.put(rounds_.joined), w.put(made_.all.value), w.put(placed);
  tell(0, std::move(message));
}

/// Called with the team's mutex, on the first node.
void distribution::compare(std::uint64_t round, std::uint64_t made, std::uint64_t placed) {
  const auto at = rounds_.made_by.try_emplace(round, agreement::comparison{made, placed, 0u}).first;
  auto& by_the_first = at->second;
  if (by_the_first.placed == 0) by_the_first.placed = placed;
  if (by_the_first.made != made || (placed != 0 && by_the_first.placed != placed))
    return differ(round);
  if (++by_the_first.nodes == size()) rounds_.made_by.erase(at);
}

/// A node that has ended takes part in no agreement: so from `round` on nobody does. Called with
/// the team's mutex, on the first node.
void distribution::differ(std::uint64_t round) {
  if (std::exchange(rounds_.differs, true)) return;
  rounds_.last = std::min(rounds_.last, round - 1);
  detail::stop(graph_);
  release();
  auto message = begin(kind::differs);
  byte_writer(message).put(rounds_.last);
  tell_all(message);
}

/// The nodes agree up a tree of two branches, and down again. The first node says what holds for
/// all.
bool distribution::agree(std::exception_ptr& thrown) {
  const unsigned left = 2 * rank() + 1, end = std::clamp(size(), left, left + 2);
  if (planning_.recording != nullptr) gather_measured();
  // The first node does not go on before all is compared, either.
  await([&] {
    return rounds_.children_done >= rounds_.joined * (end - left) &&
           !rounds_.made_by.contains(rounds_.joined);
  });
  if (rank() != 0) {
    tell((rank() - 1) / 2, begin(kind::done));
    await([&] { return rounds_.agreed >= rounds_.joined; });
  } else {
    const std::lock_guard lock(node_.mutex);
    ++rounds_.agreed, rounds_.was_cancelled = detail::stopped(&graph_);
  }
  auto message = begin(kind::go_on);
  byte_writer(message).put(rounds_.was_cancelled);
  put_state(message);
  std::uint64_t error = 0;
  {  // All throw it now. Before the others go on: they may tell of the next one.
    const std::lock_guard lock(failure_.mutex);
    if (failure_.number <= graph_.made_)
      error = std::exchange(failure_.number, 0), failure_.bytes.clear();
  }
  if (error != 0) take_back(error);
  if (std::exchange(mine_.was_on, false) && error != 0) reset_to_homes();
  holders_.changes.clear(), holders_.before.clear();
  thrown = graph_.error.take(graph_.made_);
  for (unsigned child = left; child < end; ++child) node_.send(child, message);
  node_.flush();
  return !rounds_.was_cancelled;
}

bool distribution::finish() {
  if (mine_.is_on) refuse_in_mine("waits for nothing");
  compare(false);
  tell_transfers();
  const lends_while_waiting lends(graph_.lends.get());
  detail::wait(graph_);
  std::exception_ptr thrown;
  const bool whole = agree(thrown);
  if (thrown != nullptr) std::rethrow_exception(thrown);
  if (whole) return true;
  const std::lock_guard lock(node_.mutex);
  if (rounds_.differs) throw different_graphs();
  return false;
}

void distribution::end(bool unwinds) noexcept {
  if (unwinds) abandon();
  else compare(true);
  if (graph_.lends != nullptr && !unwinds) end_lending();
  detail::wait(graph_);
  if (replanning_ != nullptr) replanning_->stop();  // the graph's data are destroyed next
  if (rank() != 0 || unwinds) return;
  try {
    await([&] { return !rounds_.made_by.contains(rounds_.joined); });
  } catch (const std::logic_error& e) { std::fprintf(stderr, "%s\n", e.what()); } catch (...) {
  }  // somebody has left, and there is nothing more to compare
  close_plan();
}

/// All nodes end together, as those that are idle may be lent what others have to do.
void distribution::end_lending() noexcept {
  const lends_while_waiting lends(graph_.lends.get());
  detail::wait(graph_);
  try {
    std::exception_ptr thrown;
    agree(thrown);
  } catch (...) {}  // somebody has left
  const std::lock_guard lock(node_.mutex);
  release();
}

void distribution::cancel() noexcept {
  detail::stop(graph_);
  {
    const std::lock_guard lock(node_.mutex);
    release();
  }
  tell_all(begin(kind::cancelled));
}

void distribution::abandon() noexcept {
  detail::stop(graph_);
  std::uint64_t rounds;
  {
    const std::lock_guard lock(node_.mutex);
    release();
    rounds = rounds_.agreed;
  }
  auto message = begin(kind::abandoned);
  byte_writer(message).put(rounds);
  tell_all(message);
}

void distribution::tell(unsigned to, std::vector<std::byte> message) noexcept {
  put_state(message);
  node_.send(to, message);
  node_.flush();
}

void distribution::tell_all(const std::vector<std::byte>& message) noexcept {
  for (unsigned to = 0; to < size(); ++to)
    if (to != rank()) tell(to, message);
}

/// Called with the team's mutex: nothing is waited for any more.
void distribution::release() noexcept {
  between_.released = true;
  for (lane& from : between_.from) from.release([this](receive_values& r) { arrives(r, {}); });
  if (between_.rounds != nullptr) between_.rounds->of().abandon();
  if (graph_.lends != nullptr) graph_.lends->release();
}

void distribution::look_again() noexcept {
  if (graph_.lends != nullptr) graph_.lends->look_again();
}

void distribution::look_for_cancelled() noexcept {
  if (between_.released || !detail::stopped(&graph_)) return;
  release();
  tell_all(begin(kind::cancelled));
}

}  // namespace cleave::detail
