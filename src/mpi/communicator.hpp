#pragma once

#include "mpi/posted_receives.hpp"
#include "transport/transport.hpp"

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cleave::net::mpi {

/// All of MPI. Its invariant: what the peer sent first is handed out first, and a request stays in
/// `running_.requests` from its beginning to its end, with its message beside it. One thread at a
/// time calls it: the one that made it, unless MPI allows others.
///
/// MPI gives the order between two ranks. Receives of short messages are posted ahead. Before a
/// long one an empty short one says that it comes: only then is it looked for, over a communicator
/// of its own. One longer than a part travels as a header and its parts, which the receiver has
/// asked for, in order, before it looks for another message. For each part but the last next()
/// returns an empty message, which says that its sender lives.
class communicator {
public:
  /// Begins MPI. Throws std::runtime_error if there is not what the launcher spoke of.
  communicator(int expected_ranks, std::size_t part_bytes);
  /// Ends MPI.
  ~communicator();
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;

  int rank() const noexcept { return world_.rank; }
  int size() const noexcept { return world_.size; }
  /// Whether other threads may call, one at a time.
  bool allows_other_threads() const noexcept { return world_.other_threads; }
  /// The name and version of the MPI library.
  static std::string library();

  // ---- before the first message; all ranks together

  /// The ranks of this host, in order, with this one.
  const std::vector<int>& neighbours() const noexcept { return neighbours_; }
  /// Copies what the first rank of this host has in it to all ranks of this host.
  void share_on_host(std::span<std::byte> what);
  /// Asks all ranks of this host; true if `mine` is true on all of them.
  bool all_on_host(bool mine);
  /// What each rank has, by rank; as many bytes of each.
  std::vector<std::byte> gather(std::span<const std::byte> mine);

  // ---- messages

  /// Called before the first message; none of the functions above is called after this.
  void begin_messages();
  /// The peer is not this rank and not lost. The message is taken unless it is sent at once.
  void send(int to, bytes& message);
  /// Lets MPI work: ends what is complete, and begins to receive what has arrived until a message
  /// is complete.
  void progress();
  /// The next message that is complete.
  std::optional<incoming> next();
  bool has_next() const noexcept { return !receiving_.complete.empty(); }

  /// How many messages of the peer have been seen, whole or in part.
  std::uint32_t seen_from(int peer) const noexcept { return peers_[index(peer)].seen; }
  /// Whether something is on its way between this rank and the peer that both must work on.
  bool unfinished_with(int peer) const noexcept { return peers_[index(peer)].unfinished > 0; }
  bool idle() const noexcept { return running_.requests.empty(); }

  // ---- peers that are gone

  /// Whether this MPI tells of a rank that is gone, instead of ending the job.
  bool survives() const noexcept { return world_.survives; }
  bool gone(int peer) const noexcept { return peers_[index(peer)].gone; }
  /// Asks MPI who is gone. The call is local, but too slow for every turn of a loop.
  void look_for_failures();
  std::optional<int> next_failure();
  bool has_failure() const noexcept { return !lost_.untold.empty(); }

  // ---- the end

  /// Says that this rank has sent everything. Messages are received still.
  void begin_to_leave();
  /// Whether all ranks have said so.
  bool all_have_left();

private:
  struct operation {
    int peer;
    bool incoming;
    bytes message;
    // What is sent ahead of a message in parts: its length and that of a part, which is the
    // sender's setting.
    std::array<std::uint64_t, 2> lengths{};
    int parts = 0;         // requests that are not finished; 1 also for one that is awaited
    bool awaited = false;  // it was said to come, and is not found yet
    bool failed = false;
  };
  struct peer_state {
    std::uint32_t seen = 0;
    int unfinished = 0;
    int awaited = 0;  // long messages that were said to come, and are not found yet
    bool gone = false;
    std::deque<std::unique_ptr<operation>> arriving;  // its messages in the order of sending
  };

  static std::size_t index(int peer) noexcept { return static_cast<std::size_t>(peer); }
  void begin(int expected_ranks);
  void find_neighbours();
  /// True if the call went well, false if a peer is gone. Ends the job if neither.
  bool went_well(int code, const char* what);
  [[noreturn]] void end_job(int code, const char* what);
  void add(operation& op, MPI_Request request);
  bool begin_to_send(std::span<const std::byte> what, int to, MPI_Comm over, MPI_Request& request);
  void send_long(operation& op);
  void send_parts(operation& op);
  void finish_part(operation& op, bool failed);
  void finish_requests();
  void remove_finished();
  void give_up_requests();
  bool begin_to_receive();
  bool take_short();
  void await(int from);
  bool find_awaited(int from);
  void receive_header(operation& op, MPI_Message& handle);
  void receive_whole(operation& op, MPI_Message& handle, const MPI_Status& status);
  void receive_parts(operation& op);
  void hand_out(peer_state& peer);

  /// The ranks of this job, as MPI has them.
  struct world {
    MPI_Comm messages = MPI_COMM_NULL;  ///< the long ones
    MPI_Comm shorts = MPI_COMM_NULL;    ///< messages that receiving_.posted receives
    MPI_Comm end = MPI_COMM_NULL;       ///< the barrier at the end
    MPI_Comm host = MPI_COMM_NULL;      ///< the ranks of this host
    int rank = 0;
    int size = 0;
    bool survives = false;
    bool other_threads = false;
  };
  /// What MPI is at: `operations` are those of `requests`, one to one.
  struct running {
    std::vector<MPI_Request> requests;
    std::vector<operation*> operations;
    std::vector<int> finished;  ///< scratch of finish_requests
    std::vector<MPI_Status> statuses;
    bool some_are_new = false;
  };
  struct receiving {
    std::optional<posted_receives> posted;  ///< of short messages
    std::vector<int> awaits;                ///< the peers of which a long message is awaited
    std::deque<incoming> complete;
  };
  /// Peers that are gone.
  struct lost {
    int count = 0;
    std::deque<int> untold;
    std::vector<std::unique_ptr<operation>> given_up;  ///< MPI may write into them still
  };
  struct leaving {
    MPI_Request request = MPI_REQUEST_NULL;
    [[maybe_unused]] int agreed = 1;  ///< with ULFM only
    bool left = false;
  };

  const std::size_t part_bytes_;
  const std::size_t short_bytes_;
  world world_;
  std::vector<int> neighbours_;
  std::vector<peer_state> peers_;
  running running_;
  std::vector<std::unique_ptr<operation>> outgoing_;
  receiving receiving_;
  lost lost_;
  leaving leaving_;
};

}  // namespace cleave::net::mpi
