#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "protocol/node.hpp"
#include "sim/tree.hpp"

/// A simulated core: workers that divide a tree as the real one does (oldest frame, the upper half
/// of what remains, take-backs in joins), below the real protocol.
namespace sim {

namespace net = cleave::net;
using net::instant;
using protocol = net::node;

/// A piece of work:
///
///           started                     last frame joined
///    running (here) ----------------------------------------> done
///      |  ^                              complete              ^
///      |  +-- unclaimed <--- again --- away -------------------+
///      |      (whoever asks next)        ^
///      +--- claimed (for a slot) --------+  answered
struct piece {
  enum class state : std::uint8_t { running, claimed, away, unclaimed, done };

  std::uint64_t parent = 0;  ///< the piece that it was split from; 0: the root, or one that came in
  std::uint64_t came_as = 0;  ///< the piece's number in the protocol, if it came in
  std::uint32_t from = 0, to = 0;
  std::uint64_t depth = 0;
  state is = state::running;
  bool stopped = false;
  unsigned losses = 0;  ///< how many nodes that had it were lost
  tally result;
  std::uint32_t error = 0;  ///< the node that threw, plus one
};

/// A loop over siblings: those from `next` on are not begun.
struct frame {
  std::uint32_t next = 0, end = 0;
  std::vector<std::uint64_t> parts;  ///< the parts that were given away; the last is joined first
};

/// A piece on a worker's stack.
struct execution {
  std::uint64_t piece = 0;
  std::vector<frame> frames;  ///< the outermost first
  std::size_t open = 0;       ///< frames before this one have nothing left
  bool begun = false;         ///< a node was visited: who has not begun does not look for requests
  tally result;

  void pop() {
    frames.pop_back();
    open = std::min(open, frames.size());
  }
};

struct worker {
  std::vector<execution> stack;
  bool asking = false;        ///< the protocol knows that it starves
  std::uint64_t wanted = 0;   ///< what it told the protocol
  std::uint64_t awaited = 0;  ///< the part that its join waits for
  instant clock{};            ///< up to when its work is done
  /// The worker has found nothing, and will not before this, unless something changes.
  instant look_at{-1};
  std::uint64_t epoch = 0;  ///< events of earlier epochs are void
  bool pending = false;
  instant due_at{};
};

/// What a world does for the core of one of its nodes.
class surroundings {
public:
  virtual ~surroundings() = default;
  virtual instant now() const = 0;
  virtual void push_worker(unsigned node, unsigned worker, std::uint64_t epoch, instant at) = 0;
  virtual void push_poll(unsigned node, unsigned slot, std::uint64_t epoch, instant at) = 0;
  virtual void push_answer(unsigned node, unsigned slot, std::uint64_t epoch, instant at) = 0;
  virtual void root_done(const piece& root) = 0;
  virtual void violation(const std::string& what) = 0;
};

struct core_settings {
  unsigned workers = 1;
  instant node_cost{40};   ///< what visiting one node of the tree takes
  instant poll_every{40};  ///< how often a worker that computes looks for requests
  bool search = false;     ///< the tree is searched for its best node, with a shared bound
  bool exact = true;       ///< every node is visited by itself; else whole stretches at once
  /// Bytes that all tasks read, and that each node fetches once, with its first task, from the
  /// root's; 0: none.
  std::size_t published = 0;
};

class core final : public net::core_port {
public:
  core(surroundings& world, const tree& work, core_settings how, unsigned number,
       std::uint64_t seed);

  void connect(protocol& p) { protocol_ = &p; }
  /// Gives this node the root of the tree.
  void start_root();

  // The protocol calls the functions that follow.
  void ask(unsigned slot, std::uint64_t wanted) override;
  bool withdraw(unsigned slot) override;
  bool start(net::asker who, const net::traveller& task) override;
  void refuse(net::asker) override {}
  void complete(std::uint64_t task, const net::outcome& end) override;
  void again(std::uint64_t task, unsigned losses) override;
  void cancel(std::uint64_t task) override;
  net::load state() const override;
  net::bytes shared() const override;
  net::bytes merge(std::span<const std::byte> values, bool with_result) override;
  std::optional<net::bytes> publication(std::uint64_t id) const override;
  void fetched(net::address publisher, std::uint64_t id,
               std::optional<net::bytes> contents) override;

  // The world calls the functions that follow.
  void worker_event(unsigned which, std::uint64_t epoch);
  void poll_event(unsigned slot, std::uint64_t epoch);
  void answer_event(unsigned slot, std::uint64_t epoch);
  /// Lets workers act on what has changed. Called after every event of this node, until nothing
  /// changes.
  void settle();

  // Invariants and reports use the functions that follow.
  const std::map<std::uint64_t, piece>& pieces() const { return pieces_; }
  const std::vector<worker>& workers() const { return workers_; }
  std::uint32_t best() const { return best_; }
  bool idle() const;
  std::uint64_t started() const { return started_; }
  std::uint64_t visited() const { return visited_; }
  instant busy_time() const { return static_cast<std::int64_t>(visited_) * how_.node_cost; }
  std::string stack_fault() const;
  /// Asks the publisher for its data; has_data() tells whether they have come.
  void fetch(net::address publisher);
  bool has_data() const { return publisher_ == no_publisher || has_data_; }

private:
  struct asked {
    enum class state : std::uint8_t { free, waiting, claimed } is = state::free;
    std::uint64_t wanted = 0;
    std::uint64_t task = 0;
    std::uint64_t epoch = 0;
  };
  struct place {
    execution* in = nullptr;
    frame* at = nullptr;
    std::uint32_t first = 0;  ///< the nodes of the frame from here on can be given away
  };

  // The work itself.
  bool waits_for_data() const { return how_.published != 0 && !has_data(); }
  void advance(worker& w);
  instant until_join(const worker& w) const;
  void push_event(unsigned which);
  bool rests(const worker& w) const;
  bool act(unsigned which);
  bool join(worker& w);
  void hand_back(std::uint64_t number, net::ending how);
  void finish(worker& w);
  bool await(unsigned which, std::uint64_t part);
  void fail(worker& w, std::uint32_t error);
  void abandon(const execution& e);
  void drop(std::uint64_t part);
  void erase(std::map<std::uint64_t, piece>::iterator at);
  bool unwind(worker& w);
  void run(worker& w, std::uint64_t part);
  void will_give(instant at) { barren_until_ = std::min(barren_until_, at); }

  // Division.
  bool within(std::uint64_t part, std::uint64_t scope) const;
  std::uint64_t find_unclaimed(std::uint64_t scope, unsigned losses_below) const;
  std::uint32_t first_to_give(const worker& w, const execution& e, const frame& f) const;
  place oldest(worker& w, std::uint64_t scope);
  std::uint64_t split(std::uint64_t scope, const worker* not_from);
  std::uint64_t divide(place where);
  instant next_gift(const worker& w) const;
  instant next_gift(std::uint64_t scope, const worker* not_from) const;
  std::uint64_t scope_of(std::uint64_t came_as) const;
  void feed(unsigned which, std::uint64_t scope);
  void look_again(unsigned which, std::uint64_t scope);
  void hunger(unsigned which, std::uint64_t wanted);
  void sated(unsigned which);
  std::uint64_t away_below(std::uint64_t scope) const;

  surroundings& world_;
  const tree& tree_;
  core_settings how_;
  unsigned number_;
  protocol* protocol_ = nullptr;
  net::random_numbers random_;
  std::vector<worker> workers_;
  std::map<std::uint64_t, piece> pieces_;
  std::set<std::uint64_t> unclaimed_;  ///< the unclaimed ones of the pieces
  /// The pieces that came in, by their number in the protocol.
  std::unordered_map<std::uint64_t, std::uint64_t> came_as_;
  bool stopping_ = false;     ///< a piece was stopped
  instant barren_until_{-1};  ///< no worker has anything to give before this
  std::array<asked, net::slot_count> slots_;
  std::uint64_t last_piece_ = 0;
  std::uint64_t root_ = 0;
  std::uint64_t started_ = 0;
  std::uint32_t best_ = 0;
  std::uint32_t told_ = 0;     ///< the best value that the others were told
  std::uint64_t visited_ = 0;  ///< nodes of the tree
  bool changed_ = false;
  static constexpr net::address no_publisher = ~net::address{0};
  net::address publisher_ = no_publisher;
  bool has_data_ = false;
  bool fetch_again_ = false;
};

}  // namespace sim
