#pragma once

#include <cleave/detail/task.hpp>
#include <cleave/detail/travel/archive.hpp>
#include <cleave/detail/travel/broadcast.hpp>
#include <cleave/detail/travel/bytes.hpp>
#include <cleave/detail/travel/team.hpp>

#include <concepts>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace cleave {
namespace detail {
template <class Work>
struct team_part;
}
template <class T>
class mailbox;

/// The file of a team_graph's plan cannot be read, is none, or cannot be written.
struct plan_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The nodes that run a task together (runtime::run_on_all), as one of them sees it. Like an MPI
/// communicator: members share what they have by a team_graph, a broadcast or a mailbox.
class team {
public:
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  /// This node's number, from 0 on. 0 is the one that run_on_all was called on.
  unsigned rank() const noexcept { return node_.rank; }
  unsigned size() const noexcept { return node_.size; }

  /// Returns on all members the x of the member `root`. All members call it, in the same order as
  /// they make graphs and other broadcasts; the task's own thread does. Few bytes go along a
  /// binomial tree, many in parts along a chain or a binary tree. Blocks until x is here, and
  /// serves requests meanwhile; root does not wait for the others. Throws std::invalid_argument if
  /// there is no such member, std::logic_error if a member has ended without it, and what writing
  /// or reading a T throws.
  template <class T>
  T broadcast(T x, unsigned root = 0) const requires(detail::can_travel<T>()) {
    if (root >= size()) throw std::invalid_argument("cleave::team: broadcast from no member");
    if (size() == 1) return x;
    std::vector<std::byte> bytes;
    if (rank() == root) {
      detail::byte_writer w(bytes);
      detail::put_value(w, x);
    }
    bytes = detail::broadcast(node_, root, std::move(bytes));
    if (rank() == root) return x;
    detail::byte_reader r(bytes);
    detail::get_value(r, x);
    r.expect_end();
    return x;
  }

private:
  template <class Work>
  friend struct detail::team_part;
  friend class team_graph;
  template <class T>
  friend class mailbox;
  explicit team(detail::team_node& n) noexcept : node_(n) {}
  detail::team_node& node_;
};

/// A task that all nodes run at once, each its own copy: `R run(cleave::team& all)`. It names its
/// fields with input(), as a portable_task does. R stays on the node.
template <class T>
concept team_task = std::is_class_v<T> && requires(T& t, team& all) {
  t.input();
  t.run(all);
};

namespace detail {

/// What one node runs of a team_task.
template <class Work>
struct team_part {
  Work work;

  auto input() { return work.input(); }
  void run() { static_cast<void>(result()); }
  decltype(auto) result() {
    team_node& node = *team_of_this_node();
    node.began_on = here.self;
    team all(node);
    return work.run(all);
  }
};

/// Has all nodes run the same work, by run(root, input): `root` is what this node runs, `input`
/// what the others get; false if it is to be done again. Returns what `root` returned.
template <class Work, class Run>
auto run_by_team(const Work& work, Run run) {
  using part = team_part<Work>;
  for (;;) {
    task_of<part> input([&work] { return part{work}; });
    auto call = [own = part{work}]() mutable { return own.result(); };
    using closure = closure_task<decltype(call)>;
    task_of<closure> root([&call] { return closure{std::move(call)}; });
    root.put_below(here.current);
    if (root.parent != nullptr) root.parent->share();
    if (!run(root, input)) continue;
    if constexpr (std::is_void_v<decltype(call())>) {
      return;
    } else {
      return std::move(*root.result);
    }
  }
}

}  // namespace detail
}  // namespace cleave
