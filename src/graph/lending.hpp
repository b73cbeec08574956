#pragma once

#include <cleave/detail/graph/distribution.hpp>
#include <cleave/detail/graph/graph.hpp>
#include <cleave/detail/travel/bytes.hpp>
#include <cleave/detail/travel/team.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/worth.hpp"

namespace cleave::detail {

/// Subtasks of a graph that one node lends to another, which is idle.
///
/// Where a subtask has its place it stays pending until its values are back: then it is completed
/// there. The borrower works on copies of the lender's data, of which it has one per datum and
/// lender. So all uses of a copy are ordered by the lender's dependences, as those of the datum.
///
/// A borrower asks one member at a time, while its workers have nothing to begin. One that has
/// nothing to lend says so, and tells once when it has: then it may be asked again.
class lending {
public:
  lending(graph_scope& g, team_node& node);
  ~lending();
  lending(const lending&) = delete;
  lending& operator=(const lending&) = delete;
  /// Called before messages come.
  void use(distribution& d) noexcept { nodes_ = &d; }

  // Only the owner of the graph calls these.

  /// Notes the next subtask, which has its place on node `to`.
  void place(std::uint64_t number, std::span<const datum_use> uses, unsigned to, bool asked);
  /// Whether this node keeps the function of the subtask noted last, which is another node's.
  bool keeps() const noexcept { return made_.is_kept; }
  graph_memory& memory_of_functions() noexcept { return made_.functions; }
  /// Keeps that function.
  void keep(std::unique_ptr<subtask> s);
  /// The owner waits, so its worker runs what is lent to this node, too.
  void begin_waiting() noexcept;
  /// The owner waits no longer: all was done, or the graph is cancelled. What is kept is forgotten.
  void end_waiting() noexcept;

  // Any thread calls these: without the team's mutex, or while receive() completes a subtask.

  /// A subtask is ready. Throws as ready_order::add() and spawn() do.
  void start_in_order(subtask& s);
  /// Called by whoever has made subtasks ready, after that.
  void has_spare() noexcept;
  /// A worker has nothing to begin, or what it has begun was the last.
  void is_idle() noexcept;

  // These are called with the team's mutex.

  /// Takes in a message, which begins there. Returns whether those that wait are to look again.
  bool receive(std::vector<std::byte> message, std::size_t first);
  /// Looks for something to lend, as it wanted to after a while.
  void look_again() noexcept { look_for_spare(most_looked_at); }
  /// The graph is cancelled: nothing is lent any more, and nothing comes back.
  void release() noexcept;

private:
  class borrowed;
  class lent;
  enum class kind : std::uint8_t {
    ask,     // for subtasks up to that number: so many, and so many more if there are many
    none,    // the answer: there is nothing to lend, but there may be later
    loan,    // a part of the answer: a subtask
    given,   // the end of the answer, behind loans, if there are any
    spare,   // to one that was told `none`: now there is something
    result,  // of a subtask that was lent
  };
  enum class ending : std::uint8_t { values, error, not_run };
  /// A use of a datum, and the subtask that wrote what is there then.
  struct use_of {
    any_datum* of;
    access_mode mode;
    std::uint64_t version;
    bool writes() const noexcept { return mode != access_mode::in; }
  };
  /// A subtask that may be lent.
  struct entry {
    std::uint64_t number;
    std::vector<use_of> uses;
    std::unique_ptr<subtask> function;  // what this node calls if it borrows the subtask
    bool is_own;                        // it has its place here, and was not sent back
  };
  /// What was made since all agreed last.
  struct made_here {
    bool is_kept = false;                 // the owner's
    std::vector<std::uint64_t> versions;  // the owner's: who wrote each datum last
    graph_memory functions;               // the owner's
    std::deque<entry> entries;            // in the order of their numbers; with the team's mutex
    std::uint64_t up_to = 0;              // the last number; with the team's mutex
    std::vector<std::size_t> sizes;       // of each datum, if it was lent; with the team's mutex
  };
  /// What this node does as a borrower. With the team's mutex.
  struct asking {
    std::vector<bool> has_none;  // which members said so
    unsigned next = 0;           // the member that is asked first
    bool waits_for_answer = false;
    bool owner_waits = false;
    unsigned come = 0;                 // subtasks, since this node asked last
    bool is_ahead_in_vain = false;     // it was given none for later when it asked only for such
    std::atomic<bool> may_ask{false};  // false: is_idle() would ask nobody
  };
  /// What a lender knows of a borrower. With the team's mutex.
  struct borrower {
    bool has_asked = false;  // and was told that there is nothing
    std::uint64_t up_to = 0;
    /// Which value of each datum it has: of the subtask `n - has_some`, or another one, or none.
    std::vector<std::uint64_t> values;
  };
  /// How many of the subtasks that wait a lender looks at to find the best one.
  static constexpr std::size_t most_looked_at = 64;
  static constexpr std::uint64_t has_nothing = 0, has_another = 1, has_some = 2;
  /// The copies of a lender's data, by lender and datum, and messages with further ones.
  struct copies {
    struct copy {
      std::unique_ptr<any_datum> object;
      std::exception_ptr wrong;
    };
    std::mutex opening;                                      // locked before the team's mutex
    std::map<std::pair<unsigned, std::uint32_t>, copy> all;  // with that mutex
    std::vector<borrowed*> unopened;                         // with the team's mutex
  };

  // All but open() are called with the team's mutex.
  entry* find(std::uint64_t number) noexcept;
  bool is_over() const noexcept;
  unsigned room() const noexcept;
  void ask() noexcept;
  void look_for_spare(std::size_t at_most) noexcept;
  void answer(unsigned to, std::uint64_t up_to, unsigned wanted, unsigned ahead);
  bool may_be_lent(subtask& s, const borrower& to) noexcept;
  std::size_t missing(const borrower& to, const entry& e) const noexcept;
  std::optional<std::size_t> choose(std::span<subtask* const> from, const borrower& to) noexcept;
  bool lend_one(unsigned to);
  void pack(std::vector<std::byte>& message, const entry& e, borrower& to);
  void borrow(unsigned from, std::vector<std::byte> message, byte_reader r);
  void refuse(unsigned from, std::uint64_t number, const std::exception_ptr& why);
  void take_back(unsigned from, byte_reader r);
  void complete(lent& l, std::uint64_t number, ending how, double run, byte_reader& r) noexcept;
  void keep_here(lent& l) noexcept;
  void start(subtask& s);
  void open(borrowed& b);
  static void open_one(copies& of, borrowed& b) noexcept;
  std::vector<std::byte> begin(kind k) const;
  void tell(unsigned to, kind k);

  graph_scope& graph_;
  team_node& node_;
  distribution* nodes_ = nullptr;
  made_here made_;
  asking asks_;
  std::vector<borrower> borrowers_;                // of each rank; with the team's mutex
  std::atomic<unsigned> asked_{0};                 // how many were told that there is nothing
  std::unordered_map<std::uint64_t, lent*> lent_;  // with the team's mutex
  copies copies_;
  graph_memory memory_;  // of what stands for subtasks that are lent; with the team's mutex
  worth worth_;          // with the team's mutex
  double looks_at_ = 0;  // has_spare(), next, in microseconds; with the team's mutex
};

}  // namespace cleave::detail
