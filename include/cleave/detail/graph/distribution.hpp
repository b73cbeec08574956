#pragma once

#include <cleave/detail/graph/graph.hpp>
#include <cleave/detail/travel/team.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

/// A graph whose subtasks run on several nodes.
namespace cleave::detail {

class making_ahead;
class placement_plan;
class recorder;
class replanning;
class round_letter;
class round_transfers;
class transferred;

/// Which node runs which subtask, and what has to go from one to another for it.
///
/// All members of the team make the same graph. Each of them keeps, for every datum, which have the
/// newest value; so all know of the same transfers, by the same numbers, and nobody asks. A
/// transfer is a subtask on either side: the one that sends reads the datum, the one that receives
/// writes it, so it needs no rule of its own. What is not for this node is not made here.
class distribution final : team_port {
public:
  /// `plan` is the file of the first node's plan, or empty if there is none.
  distribution(graph_scope& g, team_node& node, std::string plan);
  ~distribution() override;
  distribution(const distribution&) = delete;
  distribution& operator=(const distribution&) = delete;

  /// What has come for a transfer.
  struct arrived {
    std::vector<std::byte> message;
    std::size_t first = 0;
    bool has_value = false;
    std::uint32_t datum = 0;
  };

  unsigned rank() const noexcept { return node_.rank; }
  unsigned size() const noexcept { return node_.size; }
  /// What subtask::role_ is for the subtask that is made.
  std::uint32_t role() const noexcept { return made_.role; }

  // Only the owner of the graph calls these.

  /// Has subtasks run where the plan in its file says; if there is no such file, this run is
  /// recorded there. Called before there are data. Blocks until the first node has told which.
  /// Throws plan_error on all nodes if the file cannot be used.
  void open_plan();

  /// From now on subtasks run where a plan says that is made anew every so many steps, or more, of
  /// what was measured. Called once.
  void replan_every(unsigned steps);

  /// Throws std::out_of_range if there is no such member.
  void check(unsigned rank) const;
  /// Numbers the next datum, and gives it a home in turn. Throws std::bad_alloc, std::logic_error.
  void give_home(datum_place& d) {
    if (mine_.is_on) refuse_in_mine("makes no datum");
    mine_.data.push_back(&d);
    d.number = made_.data++;
    d.home = d.number % size();
  }
  /// Decides who runs the next subtask, and begins the transfers that it needs. Subtasks in `after`
  /// that are on other nodes are replaced by what comes from there. Returns the rank. Throws
  /// std::bad_alloc, std::out_of_range.
  unsigned place(const char* name, std::span<const datum_use> uses, std::span<vertex_ref> after,
                 std::optional<unsigned> asked);
  /// Called when the subtask that was placed last is linked or, on other nodes, left out. What it
  /// writes goes at once, as one transfer, to each node that has read the last two values of
  /// several of these data: so a program that repeats itself pays for one transfer, and not for as
  /// many as there are data. A single datum goes when it is read.
  void push(unsigned from) noexcept;
  /// Brings the datum to node `to`, too.
  void bring(any_datum& d, unsigned to);
  /// From here to end_mine() the nodes do not all make the same: each makes the subtasks that run
  /// here, that write what those read, and that read what those write. So what goes from one node
  /// to another is known to these two only: data are written at home, and come from there. Throws
  /// std::logic_error.
  void begin_mine();
  /// The next subtasks are those of number i of n, in program order. Throws std::logic_error.
  void next_of_mine(std::uint64_t i, std::uint64_t n);
  void end_mine(std::uint64_t n);
  /// Whether the subtasks that are made are those of begin_mine().
  bool is_mine() const noexcept { return mine_.is_on; }
  /// What is made from here on is the first of the rounds of repeat(). Each datum is only at its
  /// home then, as before the others: so all rounds need the same transfers. Throws
  /// std::logic_error.
  void begin_replay();
  /// These rounds run now. Called once all subtasks of the first one are made.
  void enter_replay(round_transfers& all);
  void leave_replay() noexcept;
  /// Does what wait() does: blocks until all nodes have done what they have to. Afterwards all know
  /// the first error, and throw it. Returns false if one of them has cancelled the graph. Throws
  /// std::logic_error if the nodes have made different graphs, `cancelled` if one has left.
  bool finish();
  /// Ends the use of the graph: this node does what it has to or, if it unwinds, takes no part any
  /// more. On the first node this blocks until all have ended the graph, and writes the plan's
  /// file.
  void end(bool unwinds) noexcept;
  /// Nothing is received any more when this returns. Called before the graph is destroyed.
  void leave() noexcept;
  /// Lets a subtask that receives run when its value is here. Called when the subtask is linked.
  void await_arrival(subtask& s);
  /// Called after each subtask that was made, here or elsewhere: does some of what there is to do
  /// if enough is made. Returns false if the graph is one that is to be made first.
  bool go_on(bool is_here) noexcept;

  // Any thread may call these.

  /// Calls the subtask's function.
  void run(subtask& s);
  /// A subtask has completed: what subtasks have sent that come after it leaves.
  void completed(const subtask& s) noexcept;
  /// Whether subtasks have sent something that has not left.
  bool has_unflushed() const noexcept { return unflushed_.load(std::memory_order_relaxed); }
  /// Cancels the graph on all nodes.
  void cancel() noexcept;
  /// Notes that subtask `number` has thrown; called within the handler. Other nodes get to know the
  /// first error.
  void note(std::uint64_t number, const std::exception_ptr& e) noexcept;

private:
  friend class lending;
  friend class replay;
  friend class round_letter;
  friend class round_transfers;
  friend class transferred;
  static constexpr std::uint64_t never = (std::numeric_limits<std::uint64_t>::max)();
  /// A value goes to so many by its writer; then those that have it pass it on to as many each.
  static constexpr std::size_t value_branches = 4;
  class send;
  class receive_values;
  enum class kind : std::uint8_t {
    value,
    timed_value,  // a value with its sender and time, in a graph that is recorded
    values,       // of rounds: each with its place, as a block
    absent,
    made,  // to the first node
    done,
    go_on,
    cancelled,
    abandoned,
    differs,    // from the first node: nobody takes part any more
    opens,      // to the first node: a graph with a plan
    plan,       // from the first node: what it is
    measured,   // to the first node
    transfers,  // how many there are between two nodes
    differing,  // to the first node: two nodes have counted other numbers of those
    lending,    // what lending::kind says
    replanning
  };
  /// What goes into the hash of all that was made so far: which node runs what, with which data;
  /// where was waited.
  enum class entry : std::uint64_t { subtask, copy, plan, wait, end, mine, lends, replan };
  struct hash {
    std::uint64_t value = 1;  ///< never 0, from which a number 0 leads nowhere
    void add(entry what) noexcept { add(static_cast<std::uint64_t>(what)); }
    void add(std::uint64_t n) noexcept {
      value = (value ^ n) * 0x9E3779B97F4A7C15;
      value ^= value >> 32;
    }
  };
  enum class plan_kind : std::uint8_t { cannot_be_used, recorded, followed };
  struct transfer_of {
    std::uint64_t number;  ///< in program order
    unsigned to;
    std::uint64_t place;   ///< among those to that node
    round_letter* within;  ///< null: it is not of a round of repeat()
    std::size_t group;     ///< in that
  };
  /// What comes from one other node. Both nodes make its transfers in the same order: so each has
  /// its place in a ring, and nothing is looked for.
  class lane {
  public:
    /// The next transfer is made here. Returns what has come for it before.
    std::optional<arrived> make(receive_values& r);
    /// The transfer of that number arrives. Returns who awaits it; null: it is kept.
    receive_values* arrive(std::uint64_t number, arrived& a);
    std::uint64_t made() const noexcept { return made_; }
    /// The next `count` are made, and awaited by none of these: calls give(k, a) for each that has
    /// come before, the k-th of them. Whatever was made before has come.
    template <class Give>
    void skip(std::uint64_t count, Give give) {
      const std::uint64_t end = (std::min)(made_ + count, first_ + ring_.size());
      for (std::uint64_t n = made_; n < end; ++n) {
        place& its = ring_[n & (ring_.size() - 1)];
        if (its.early) give(n - made_, *its.early), its.early.reset();
      }
      first_ = made_ += count;
    }
    /// Calls give(r) for each that still awaits something, and does not any more.
    template <class Give>
    void release(Give give) noexcept {
      for (place& p : ring_)
        if (p.awaits != nullptr) give(*std::exchange(p.awaits, nullptr));
    }

  private:
    struct place {
      receive_values* awaits = nullptr;
      std::optional<arrived> early;
    };
    place& at(std::uint64_t number);
    void forget_done() noexcept;

    std::vector<place> ring_;  // a power of two of them
    std::uint64_t first_ = 0;  // the first transfer that has not arrived, or is not made here
    std::uint64_t made_ = 0;   // here
  };

  /// A change of the nodes that hold a datum: from then on `node` alone if it `writes` it; else
  /// `node`, too.
  struct change {
    std::uint64_t number;
    datum_place* of;
    std::size_t held_from;  // where the holders before it begin in holders_.before
    unsigned node;
    bool writes;
  };

  std::vector<std::byte> read_plan() const;
  void use_plan(std::span<const std::byte> told);
  void gather_measured();
  void close_plan() noexcept;
  unsigned home_of(std::span<const datum_use> uses) noexcept;
  void add_to_hash(std::span<const datum_use> uses, std::span<const vertex_ref> after,
                   unsigned to) noexcept;
  [[noreturn]] static void refuse_in_mine(const char* what);
  static void require_at_home(std::span<const datum_use> uses, unsigned to);
  void require_newest_at_homes() const;
  void reset_to_homes() noexcept;
  void tell_transfers();
  void compare_transfers();
  void receive_replanning(byte_reader& r);
  std::optional<unsigned> replanned(std::span<const datum_use> uses, std::optional<unsigned> asked);
  void await_limit();
  void begin_transfers(std::span<const datum_use> uses, std::span<vertex_ref> after, unsigned to,
                       std::uint64_t number);
  void note_reading(datum_place& of, unsigned at);
  void note_writing(const datum_use& u, unsigned at);
  void log(datum_place& of, std::uint64_t number, unsigned node, bool writes);
  void take_back(std::uint64_t error);
  using data_list = std::span<any_datum* const>;
  void transfer(any_datum& d, unsigned to, std::uint64_t number);
  void transfer(data_list data, unsigned from, unsigned to, std::uint64_t number);
  std::span<const datum_use> uses_of(data_list data, access_mode mode);
  vertex_ref signal(const vertex_ref& from, unsigned to, std::uint64_t number);
  vertex_ref make_send(data_list data, std::span<const vertex_ref> after, unsigned to,
                       std::uint64_t number);
  vertex_ref make_receive(data_list data, unsigned from, std::uint64_t number);
  /// Returns the length of the message, or 0 if the values are not to be had.
  std::size_t send_values(const transferred& data, const transfer_of& of) noexcept;
  std::size_t put_values(const transferred& data, const transfer_of& of);
  void arrives(receive_values& r, arrived a) noexcept;
  template <class Put>
  void deliver(unsigned from, std::uint64_t place, Put put);
  void take_values(byte_reader& r, std::vector<std::byte>& message);
  std::vector<std::byte> begin(kind k) const;
  void put_state(std::vector<std::byte>& message);
  void keep(std::uint64_t number, std::vector<std::byte> error);
  static std::logic_error different_graphs();
  void compare(bool at_the_end);
  void compare(std::uint64_t round, std::uint64_t made, std::uint64_t placed);
  void differ(std::uint64_t round);
  bool agree(std::exception_ptr& thrown);
  void end_lending() noexcept;
  void abandon() noexcept;
  void get_state(byte_reader& r);
  void get_error(byte_reader& r);
  void keep_reason(const arrived& a);
  void tell(unsigned to, std::vector<std::byte> message) noexcept;
  void tell_all(const std::vector<std::byte>& message) noexcept;
  void release() noexcept;
  bool begin_flush() noexcept;
  void flush() noexcept;
  void await(const std::function<bool()>& holds);
  bool is_left() const noexcept {
    return rounds_.joined > rounds_.last || (rounds_.differs && rounds_.joined == 0) ||
           stopped(graph_.parent);
  }

  bool receive(std::vector<std::byte> message, std::size_t first) override;
  void look_for_cancelled() noexcept override;
  void look_again() noexcept override;

  /// What this node has made, which is the same on all nodes.
  struct made_here {
    unsigned data = 0;
    unsigned placeless = 0;
    hash all;
    hash placed;             ///< where subtasks run, if that is planned anew
    std::uint32_t role = 0;  ///< the last subtask's; see subtask::role_
    struct pushed {
      unsigned to;
      any_datum* datum;
    };
    std::vector<pushed> to_push;  ///< of what the last subtask writes
  };
  /// The nodes that have held each datum since all agreed last, which are the same on all nodes.
  struct data_holders {
    std::vector<change> changes;
    std::vector<unsigned> before;  ///< the holders before each change
  };
  /// What for_mine() needs. See begin_mine().
  struct partly_made {
    struct counts {
      std::uint64_t round;
      std::uint32_t from;
      std::uint64_t sent, made;  ///< there: to this node; of this node
    };
    bool is_on = false;
    bool was_on = false;                 ///< since all agreed last
    std::uint64_t begun = 0;             ///< the graph's last number before it
    std::uint64_t next = 0;              ///< the least that may come
    std::vector<std::uint64_t> lengths;  ///< of all parts so far that are to be repeated
    std::vector<datum_place*> data;      ///< all of the graph
    std::vector<counts> told;            ///< by others. Guarded by the team's mutex
    /// The transfers to and from each node when this one joined that agreement. With the team's
    /// mutex.
    std::vector<std::uint64_t> sent, made;
    std::uint64_t counted = 0;
  };
  /// Where the plan comes from, and goes to.
  struct planning {
    std::string file;                      ///< a file of the first node; empty: none
    std::unique_ptr<placement_plan> plan;  ///< null: no plan is followed
    std::unique_ptr<recorder> recording;   ///< null: nothing is recorded; set with the team's mutex
    /// What the first node has told of the plan. Guarded by the team's mutex.
    std::optional<std::vector<std::byte>> told;
    /// What other nodes have measured. Guarded by the team's mutex.
    std::vector<std::vector<std::byte>> measured;
    /// What others have sent for `replanning_` before it was here. Guarded by the team's mutex.
    std::vector<std::vector<std::byte>> early;
  };
  /// The first exception, as bytes: no exception is looked at by two threads.
  struct first_failure {
    std::mutex mutex;
    std::uint64_t number = 0;  ///< the subtask that threw; 0: none
    std::vector<std::byte> bytes;
  };
  struct transfers {
    std::vector<std::uint64_t> sent;    ///< how many to each node are made; the owner's
    std::vector<datum_use> uses;        ///< of the one that is made; the owner's
    std::vector<lane> from;             ///< by rank
    bool released = false;              ///< the graph is cancelled: nothing is waited for
    round_transfers* rounds = nullptr;  ///< what comes for them is theirs
  };
  /// The end of the graph counts as an agreement that nobody waits for.
  struct agreement {
    std::uint64_t joined = 0;         ///< the number of the last one that this node joined
    std::uint64_t agreed = 0;         ///< how many agreements are over
    std::uint64_t last = never;       ///< how many there will be, if somebody has left
    std::uint64_t children_done = 0;  ///< how often a child was done, over all of them
    bool was_cancelled = false;       ///< the last one said that the graph is cancelled
    bool differs = false;             ///< somebody has left because not all make the same
    /// For each agreement: what the first of the nodes has made, where (0: not known), and for how
    /// many nodes that is known. Only the first node keeps it.
    struct comparison {
      std::uint64_t made, placed;
      unsigned nodes;
    };
    std::unordered_map<std::uint64_t, comparison> made_by;
  };

  graph_scope& graph_;
  team_node& node_;
  made_here made_;
  data_holders holders_;
  partly_made mine_;
  planning planning_;
  std::unique_ptr<making_ahead> ahead_;
  std::unique_ptr<replanning>
      replanning_;                      // set with the team's mutex; null: nothing is planned anew
  std::atomic<bool> unflushed_{false};  // subtasks have sent something
  first_failure failure_;
  transfers between_;  // with the team's mutex, but for what is the owner's
  agreement rounds_;   // with the team's mutex
};

}  // namespace cleave::detail
