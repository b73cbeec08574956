#pragma once

#include <cleave/detail/graph/distribution.hpp>
#include <cleave/detail/travel/archive.hpp>
#include <cleave/graph.hpp>
#include <cleave/team.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace cleave {

struct dynamic_t {
  explicit dynamic_t() = default;
};
/// Has a team_graph give subtasks that are ready to nodes that have nothing to do:
///
///     cleave::team_graph g(all, cleave::dynamic);
///
/// It pays where nodes are not equally fast, or subtasks not equally long, if a subtask takes
/// several times as long as its data take to the other node and back. Those that were not worth
/// that are not given away any more. Each node begins its earliest subtask first (earliest_first).
///
/// What a subtask does must not depend on the node that it runs on. It may run on any, and leaves
/// its values where it would have written otherwise. One that has on(rank) or add() stays. A datum
/// has to be equal to a new object, made by its default constructor, into which its value was read.
///
/// Until the next wait() each node keeps the functions of other nodes' subtasks, and until the end
/// of the graph one more object for each datum that it was given by one of them. The end of the
/// graph waits for all nodes.
///
/// Source: Parsley, section 3.1.
inline constexpr dynamic_t dynamic{};

/// A graph whose subtasks run on the nodes of a team, each on one of them:
///
///     struct product {
///       int n;
///       auto input() { return std::tie(n); }
///       double run(cleave::team& all) {
///         cleave::team_graph g(all);
///         auto x = g.make(1.0), y = g.make(0.0);
///         g.run([](double& a) { a += 1; }, inout(x));                          // on node 0
///         g.run([](const double& a, double& b) { b = 2 * a; }, in(x), out(y)); // on node 1
///         g.bring(y);
///         g.wait();
///         return *y;                                                            // 4 on each node
///       }
///     };
///     ... runtime.run_on_all(product{...})
///
/// Every member makes the same graph: the same data, subtasks and calls of all functions here, in
/// the same order. So what to run must not depend on the node, nor on values of data, except after
/// they were brought to all nodes. A function and what it has captured are each node's own; only
/// values of data travel, from the node where they were written directly to those that read them.
///
/// A subtask runs where it is told to by on(rank), else at the home of the first datum that it
/// writes, or reads if it writes none. Homes are given to data in turn, unless the program says.
/// Within a node it runs on any worker.
///
/// In a team of one this is a graph.
class team_graph : public graph {
public:
  /// Made only on the worker that the team's task began on, and in no subtask of another
  /// team_graph. Throws std::logic_error elsewhere.
  ///
  /// `plan`: a file of node 0. If it is not there, this run is recorded in it: what subtasks use,
  /// how long they and messages take. If it is, subtasks run where a schedule made of it says, on
  /// as many nodes as there are now. What has on(rank) runs on that node all the same. Homes are
  /// then where the schedule has data written, and decide again from the first subtask on that was
  /// not recorded: of many steps that are alike, a few need to be. Blocks until node 0 has read it.
  /// Throws plan_error, on all nodes, if it cannot be used.
  ///
  /// Source: Parsley, section 3.3.
  explicit team_graph(team& of, const std::string& plan = {}) { distribute(of.node_, plan); }
  /// A graph whose subtasks idle nodes run, too: see `dynamic`.
  team_graph(team& of, dynamic_t, const std::string& plan = {}) {
    distribute(of.node_, plan, true);
  }

  /// A datum with this value, which every node has. T needs to travel (task.hpp).
  template <class T>
  datum<std::decay_t<T>> make(T&& value) {
    return make<std::decay_t<T>, T>(std::forward<T>(value));
  }
  /// A datum T(arguments…). What is large is made empty, and by a subtask where it belongs.
  template <class T, class... A>
  datum<T> make(A&&... arguments) {
    return with_home(keep_datum<T>(std::unique_ptr<detail::any_datum>(
        new typename datum<T>::template own<node<T>>(std::forward<A>(arguments)...))));
  }
  /// A datum that is `object`, of which every node has one of the same value. See graph::refer.
  template <class T>
  datum<T> refer(T& object) {
    auto* const made = new node<T>;
    made->value = &object;
    return with_home(keep_datum<T>(std::unique_ptr<detail::any_datum>(made)));
  }

  /// From now on the nodes measure how long subtasks take, and after every `steps` steps (later, if
  /// that does not pay; at once, if steps take a quarter longer than they did) node 0 looks for
  /// better places for those that repeat, while all go on.
  /// Subtasks then run there; those with on(rank), and those that do not repeat, run where they do
  /// otherwise. A step is found where subtasks use the same data in the same way as before.
  ///
  /// A member that has made some steps more than another one waits for it, running subtasks. Of
  /// those that can begin on a node, the one farthest from where the next plan begins is the first
  /// (earliest_first), so who is behind comes up. Throws std::invalid_argument if `steps` is 0,
  /// std::logic_error if called twice, and as run() does.
  ///
  /// Source: Parsley, section 3.3.
  void replan_every(unsigned steps) {
    require_owner();
    replan(steps);
  }

  /// From now on a subtask that writes the datum runs on that node. Throws std::out_of_range. This
  /// and bring() throw std::logic_error as run() does.
  template <class T>
  void set_home(datum<T> d, unsigned rank) {
    require_owner();
    require_own(in(d));
    home(*d.at_, rank);
  }
  /// After the next wait() the value is on that node, too. Throws std::out_of_range.
  template <class T>
  void bring(datum<T> d, unsigned rank) {
    require_owner();
    require_own(in(d));
    bring_to(*d.at_, rank);
  }
  /// After the next wait() the value is on all nodes.
  template <class T>
  void bring(datum<T> d) {
    require_owner();
    require_own(in(d));
    bring_to_all(*d.at_);
  }

  /// Makes n parts of the graph, in the order of their numbers from 0 on, of which each node makes
  /// only those that concern it: what make(i) does for each i of `mine`, in ascending order. So the
  /// time does not grow with the number of nodes.
  ///
  ///     g.for_mine(steps * columns, mine, [&](std::uint64_t i) {
  ///       g.run(next, in(left_of(i)), in(right_of(i)), inout(at(i)));
  ///     });
  ///
  /// A part concerns a node if one of its subtasks runs there, reads what one that runs there
  /// writes, or writes what one that runs there reads. All nodes give the same n, and have made the
  /// same data and homes before. Within it the data that a subtask writes have their home where it
  /// runs; before it the newest value of each datum is at its home. make() makes
  /// no data, waits for nothing and brings nothing. Throws std::logic_error if that does not hold,
  /// and wait() does if two nodes have made other parts that concern both.
  ///
  /// Source: Parsley, section 3.1 (several masters).
  template <class Mine, class Make>
  void for_mine(std::uint64_t n, const Mine& mine, Make make) {
    require_owner();
    begin_mine();
    for (const auto i : mine) {
      next_of_mine(static_cast<std::uint64_t>(i), n);
      make(i);
    }
    end_mine(n);
  }

private:
  template <class T>
  struct node : datum<T>::node {
    static_assert(!CLEAVE_HAVE_CEREAL || detail::can_travel<T>(),
                  "cleave::team_graph: a datum of this type cannot be serialized: it needs `auto "
                  "fields() { return std::tie(...); }` or cereal's serialize()");
    // Without cereal nothing leaves the process, and its team has one member.
    void put([[maybe_unused]] detail::byte_writer& w) const override {
      if constexpr (CLEAVE_HAVE_CEREAL) detail::put_value(w, *this->value);
    }
    void get([[maybe_unused]] detail::byte_reader& r) override {
      if constexpr (CLEAVE_HAVE_CEREAL) detail::get_value(r, *this->value);
    }
    bool can_make_other() const noexcept override { return std::is_default_constructible_v<T>; }
    std::unique_ptr<detail::any_datum> make_other() const override {
      if constexpr (std::is_default_constructible_v<T>)
        return std::unique_ptr<detail::any_datum>(new typename datum<T>::template own<node>());
      else return nullptr;
    }
  };

  template <class T>
  datum<T> with_home(datum<T> d) {
    give_home(*d.at_);
    return d;
  }
};

}  // namespace cleave
