#include "mpi/communicator.hpp"

#include "mpi/survival.hpp"

#include <dlfcn.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace cleave::net::mpi {
namespace {

enum tag : int { whole, header, part };

// MPI copies messages up to about this length in any case.
constexpr std::size_t longest_short = 8 << 10;

// The most long messages that begin in one call of progress, so that it ends.
constexpr int at_once = 64;

/// Open MPI with more ranks than CPUs gives the CPU away in each call that finds nothing: to
/// whoever computes, for as long as the kernel lets that one. Messages would wait as long. Cleave's
/// ranks spin only at the beginning and the end.
void yield_in_calls([[maybe_unused]] bool yields) {
#if defined(OPEN_MPI)
  using setter = bool(bool);
  static auto* const set =
      reinterpret_cast<setter*>(dlsym(RTLD_DEFAULT, "opal_progress_set_yield_when_idle"));
  if (set == nullptr) return;
  static bool before = false;
  if (yields) set(before);
  else before = set(false);
#endif
}

}  // namespace

communicator::communicator(int expected_ranks, std::size_t part_bytes)
    : part_bytes_(part_bytes), short_bytes_(std::min(longest_short, part_bytes)) {
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun != 0)
    throw std::runtime_error("MPI was begun in this process before, and it begins only once");
  begin(expected_ranks);
  find_neighbours();
  peers_ = std::vector<peer_state>(index(world_.size));
}

void communicator::begin_messages() {
  yield_in_calls(false);
  receiving_.posted.emplace(world_.shorts, short_bytes_);
}

void communicator::begin(int expected_ranks) {
  world_.survives = survival_was_asked_for();
  // The barrier inside MPI_Finalize may wait for a rank that is gone; ranks have left together
  // before it.
  if (world_.survives) setenv("OMPI_MCA_async_mpi_finalize", "1", 0);
  // Calls are serialized, not one thread's: workers send, too; and another thread may come to own
  // the transport later.
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  if (provided < MPI_THREAD_FUNNELED)
    throw std::runtime_error(library() + " does not allow threads (MPI_THREAD_FUNNELED)");
  world_.other_threads = provided >= MPI_THREAD_SERIALIZED;
  // Cleave has a communicator of its own: nothing that the program sends can be taken for its
  // messages.
  MPI_Comm_dup(MPI_COMM_WORLD, &world_.messages);
  MPI_Comm_dup(MPI_COMM_WORLD, &world_.shorts);
  MPI_Comm_dup(MPI_COMM_WORLD, &world_.end);
  MPI_Comm_set_errhandler(world_.messages, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(world_.shorts, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(world_.end, MPI_ERRORS_RETURN);
  MPI_Comm_rank(world_.messages, &world_.rank);
  MPI_Comm_size(world_.messages, &world_.size);
  if (expected_ranks != 0 && world_.size != expected_ranks) {
    throw std::runtime_error("the launcher started " + std::to_string(expected_ranks) +
                             " ranks and MPI knows " + std::to_string(world_.size) +
                             ": the plug-in was built for another MPI (" + library() + ")");
  }
}

void communicator::find_neighbours() {
  MPI_Comm_split_type(world_.messages, MPI_COMM_TYPE_SHARED, world_.rank, MPI_INFO_NULL,
                      &world_.host);
  MPI_Group everybody = MPI_GROUP_NULL;
  MPI_Group on_host = MPI_GROUP_NULL;
  MPI_Comm_group(world_.messages, &everybody);
  MPI_Comm_group(world_.host, &on_host);
  int count = 0;
  MPI_Group_size(on_host, &count);
  std::vector<int> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(i);
  neighbours_.resize(index(count));
  MPI_Group_translate_ranks(on_host, count, numbers.data(), everybody, neighbours_.data());
  MPI_Group_free(&everybody);
  MPI_Group_free(&on_host);
}

communicator::~communicator() {
  yield_in_calls(true);
  if (receiving_.posted) receiving_.posted->cancel();
  if (lost_.count == 0) {
    MPI_Comm_free(&world_.host);
    MPI_Comm_free(&world_.end);
    MPI_Comm_free(&world_.shorts);
    MPI_Comm_free(&world_.messages);
  }
  MPI_Finalize();
}

std::string communicator::library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string_view line(text, static_cast<std::size_t>(length));
  std::string first(line.substr(0, line.find_first_of("\n,")));
  std::replace(first.begin(), first.end(), '\t', ' ');
  return first;
}

void communicator::share_on_host(std::span<std::byte> what) {
  MPI_Bcast(what.data(), static_cast<int>(what.size()), MPI_BYTE, 0, world_.host);
}

bool communicator::all_on_host(bool mine) {
  int own = mine ? 1 : 0;
  int all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, world_.host);
  return all != 0;
}

std::vector<std::byte> communicator::gather(std::span<const std::byte> mine) {
  std::vector<std::byte> of_all(mine.size() * index(world_.size));
  const int each = static_cast<int>(mine.size());
  MPI_Allgather(mine.data(), each, MPI_BYTE, of_all.data(), each, MPI_BYTE, world_.messages);
  return of_all;
}

// ---- errors

void communicator::end_job(int code, const char* what) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  std::fprintf(stderr, "cleave: rank %d: %s: %s; this MPI does not survive that, the job ends\n",
               world_.rank, what, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

bool communicator::went_well(int code, const char* what) {
  if (code == MPI_SUCCESS) return true;
  if (!world_.survives || !tells_of_a_failure(code)) end_job(code, what);
  look_for_failures();
  return false;
}

void communicator::look_for_failures() {
#ifdef CLEAVE_MPI_SURVIVES
  if (!world_.survives) return;
  MPI_Group dead = MPI_GROUP_NULL;
  MPIX_Comm_failure_ack(world_.shorts);  // else receives from any rank end with an error
  MPIX_Comm_failure_ack(world_.messages);
  MPIX_Comm_failure_get_acked(world_.messages, &dead);
  int count = 0;
  MPI_Group_size(dead, &count);
  if (count > lost_.count) {
    lost_.count = count;
    MPI_Group everybody = MPI_GROUP_NULL;
    MPI_Comm_group(world_.messages, &everybody);
    for (int i = 0; i < count; ++i) {
      int peer = MPI_UNDEFINED;
      MPI_Group_translate_ranks(dead, 1, &i, everybody, &peer);
      if (peer == MPI_UNDEFINED || std::exchange(peers_[index(peer)].gone, true)) continue;
      lost_.untold.push_back(peer);
      running_.some_are_new = true;
    }
    MPI_Group_free(&everybody);
  }
  MPI_Group_free(&dead);
#endif
}

std::optional<int> communicator::next_failure() {
  if (lost_.untold.empty()) return {};
  const int peer = lost_.untold.front();
  lost_.untold.pop_front();
  return peer;
}

// ---- messages

/// Counts a request that is not finished among those of its operation.
void communicator::add(operation& op, MPI_Request request) {
  if (request == MPI_REQUEST_NULL) return;
  running_.requests.push_back(request);
  running_.operations.push_back(&op);
  ++op.parts;
}

/// Begins to send; the request is null if that is finished at once. Returns false if the peer is
/// gone.
bool communicator::begin_to_send(std::span<const std::byte> what, int to, MPI_Comm over,
                                 MPI_Request& request) {
  int done = 0;
  return went_well(MPI_Isend(what.data(), static_cast<int>(what.size()), MPI_BYTE, to, whole, over,
                             &request),
                   "MPI_Isend") &&
         went_well(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
}

void communicator::send(int to, bytes& message) {
  const bool is_short = message.size() <= short_bytes_;
  const std::span<const std::byte> first(message.data(), is_short ? message.size() : 0);
  MPI_Request request = MPI_REQUEST_NULL;
  if (!begin_to_send(first, to, world_.shorts, request)) return;
  if (is_short && request == MPI_REQUEST_NULL) return;
  auto op = std::make_unique<operation>(operation{to, false, std::move(message)});
  add(*op, request);
  if (!is_short) send_long(*op);
  if (op->parts == 0) return;
  ++peers_[index(to)].unfinished;
  outgoing_.push_back(std::move(op));
}

void communicator::send_long(operation& op) {
  if (op.message.size() > part_bytes_) return send_parts(op);
  MPI_Request request = MPI_REQUEST_NULL;
  if (begin_to_send(op.message, op.peer, world_.messages, request)) add(op, request);
}

void communicator::send_parts(operation& op) {
  op.lengths = {op.message.size(), part_bytes_};
  MPI_Request request = MPI_REQUEST_NULL;
  if (!went_well(
          MPI_Isend(op.lengths.data(), 2, MPI_UINT64_T, op.peer, header, world_.messages, &request),
          "MPI_Isend"))
    return;
  add(op, request);
  for (std::size_t at = 0; at < op.message.size(); at += part_bytes_) {
    const int count = static_cast<int>(std::min(part_bytes_, op.message.size() - at));
    if (!went_well(MPI_Isend(op.message.data() + at, count, MPI_BYTE, op.peer, part,
                             world_.messages, &request),
                   "MPI_Isend"))
      return;
    add(op, request);
  }
}

void communicator::progress() {
  finish_requests();
  if (std::exchange(running_.some_are_new, false)) give_up_requests();
  for (int n = 0; n < at_once && receiving_.complete.empty() && begin_to_receive(); ++n) {}
}

void communicator::finish_requests() {
  if (running_.requests.empty()) return;
  running_.finished.resize(running_.requests.size());
  running_.statuses.resize(running_.requests.size());
  int count = 0;
  const int code =
      MPI_Testsome(static_cast<int>(running_.requests.size()), running_.requests.data(), &count,
                   running_.finished.data(), running_.statuses.data());
  const bool some_failed = code == MPI_ERR_IN_STATUS;
  if (some_failed) look_for_failures();
  else if (!went_well(code, "MPI_Testsome")) return;
  if (count == MPI_UNDEFINED || count == 0) return;
  for (int k = 0; k < count; ++k) {
    const std::size_t i = index(running_.finished[index(k)]);
    const int error = some_failed ? running_.statuses[index(k)].MPI_ERROR : MPI_SUCCESS;
    if (!went_well(error, "a message") && running_.requests[i] != MPI_REQUEST_NULL)
      MPI_Request_free(&running_.requests[i]);
    finish_part(*std::exchange(running_.operations[i], nullptr), error != MPI_SUCCESS);
  }
  remove_finished();
}

/// Removes what has finished from the two lists of requests.
void communicator::remove_finished() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < running_.requests.size(); ++i) {
    if (running_.operations[i] == nullptr) continue;
    running_.requests[kept] = running_.requests[i];
    running_.operations[kept++] = running_.operations[i];
  }
  running_.requests.resize(kept);
  running_.operations.resize(kept);
}

/// Gives up the requests that a rank which is gone has a part in: MPI promises that they fail, but
/// may leave one of them open for ever. Their messages stay, because MPI may write into them.
void communicator::give_up_requests() {
  for (std::size_t i = 0; i < running_.requests.size(); ++i)
    if (peers_[index(running_.operations[i]->peer)].gone) running_.operations[i] = nullptr;
  remove_finished();
  for (auto& op : outgoing_)
    if (peers_[index(op->peer)].gone) lost_.given_up.push_back(std::move(op));
  std::erase(outgoing_, nullptr);
  std::erase_if(receiving_.awaits, [this](int peer) { return peers_[index(peer)].gone; });
  for (peer_state& peer : peers_) {
    if (!peer.gone) continue;
    peer.unfinished = 0, peer.awaited = 0;
    for (auto& op : peer.arriving) lost_.given_up.push_back(std::move(op));
    peer.arriving.clear();
  }
}

void communicator::finish_part(operation& op, bool failed) {
  op.failed = op.failed || failed;
  if (--op.parts > 0) {
    if (op.incoming && !failed) receiving_.complete.push_back({static_cast<address>(op.peer), {}});
    return;
  }
  peer_state& peer = peers_[index(op.peer)];
  --peer.unfinished;
  if (op.incoming) return hand_out(peer);
  const auto it = std::find_if(outgoing_.begin(), outgoing_.end(),
                               [&](const auto& other) { return other.get() == &op; });
  std::swap(*it, outgoing_.back());
  outgoing_.pop_back();
}

void communicator::hand_out(peer_state& peer) {
  while (!peer.arriving.empty() && peer.arriving.front()->parts == 0) {
    operation& first = *peer.arriving.front();
    if (!first.failed)
      receiving_.complete.push_back({static_cast<address>(first.peer), std::move(first.message)});
    peer.arriving.pop_front();
  }
}

bool communicator::begin_to_receive() {
  if (take_short()) return true;
  for (std::size_t k = 0; k < receiving_.awaits.size(); ++k)
    if (find_awaited(receiving_.awaits[k])) return true;
  return false;
}

bool communicator::take_short() {
  std::optional<incoming> found;
  went_well(receiving_.posted->next(found), "a posted receive");
  if (!found) return false;
  const int from = static_cast<int>(found->from);
  peer_state& peer = peers_[index(from)];
  if (found->message.empty()) return await(from), true;
  ++peer.seen;
  if (peer.arriving.empty()) {
    receiving_.complete.push_back(std::move(*found));
  } else {
    peer.arriving.push_back(
        std::make_unique<operation>(operation{from, true, std::move(found->message)}));
  }
  return true;
}

/// A long message of that peer comes: it has its place among the peer's messages from here on.
void communicator::await(int from) {
  peer_state& peer = peers_[index(from)];
  if (peer.gone) return;
  auto op = std::make_unique<operation>(operation{from, true, {}});
  op->parts = 1;
  op->awaited = true;
  peer.arriving.push_back(std::move(op));
  if (peer.awaited++ == 0) receiving_.awaits.push_back(from);
}

/// Looks for a long message of a peer that is to come.
bool communicator::find_awaited(int from) {
  int found = 0;
  MPI_Message handle = MPI_MESSAGE_NULL;
  MPI_Status status;
  // MPI is asked twice: the first call may look before it lets MPI work, and find nothing of what
  // is there.
  for (int n = 0; n < 2 && found == 0; ++n) {
    const int code = MPI_Improbe(from, MPI_ANY_TAG, world_.messages, &found, &handle, &status);
    if (!went_well(code, "MPI_Improbe")) return false;
  }
  if (found == 0) return false;
  peer_state& peer = peers_[index(from)];
  ++peer.seen;
  if (--peer.awaited == 0) std::erase(receiving_.awaits, from);
  operation& op = **std::ranges::find_if(peer.arriving, [](const auto& o) { return o->awaited; });
  op.awaited = false;
  op.parts = 0;
  status.MPI_TAG == header ? receive_header(op, handle) : receive_whole(op, handle, status);
  if (op.parts > 0) ++peer.unfinished;
  hand_out(peer);
  return true;
}

void communicator::receive_header(operation& op, MPI_Message& handle) {
  // Sixteen bytes come with their envelope: this does not wait.
  op.failed = !went_well(MPI_Mrecv(op.lengths.data(), 2, MPI_UINT64_T, &handle, MPI_STATUS_IGNORE),
                         "MPI_Mrecv");
  if (op.failed) return;
  op.message.resize(op.lengths[0]);
  receive_parts(op);
}

void communicator::receive_whole(operation& op, MPI_Message& handle, const MPI_Status& status) {
  int length = 0;
  MPI_Get_count(&status, MPI_BYTE, &length);
  op.message.resize(static_cast<std::size_t>(length));
  MPI_Request request = MPI_REQUEST_NULL;
  int done = 0;
  op.failed = !went_well(MPI_Imrecv(op.message.data(), length, MPI_BYTE, &handle, &request),
                         "MPI_Imrecv") ||
              !went_well(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (!op.failed) add(op, request);
}

/// Posts the receives before anything else is looked for, so that no part is ever found by a probe.
void communicator::receive_parts(operation& op) {
  const std::size_t part_bytes = op.lengths[1];
  for (std::size_t at = 0; at < op.message.size(); at += part_bytes) {
    const int count = static_cast<int>(std::min(part_bytes, op.message.size() - at));
    MPI_Request request = MPI_REQUEST_NULL;
    if (!went_well(MPI_Irecv(op.message.data() + at, count, MPI_BYTE, op.peer, part,
                             world_.messages, &request),
                   "MPI_Irecv")) {
      op.failed = true;
      return;
    }
    add(op, request);
  }
}

std::optional<incoming> communicator::next() {
  if (receiving_.complete.empty()) return {};
  incoming first = std::move(receiving_.complete.front());
  receiving_.complete.pop_front();
  return first;
}

// ---- the end

void communicator::begin_to_leave() {
#ifdef CLEAVE_MPI_SURVIVES
  if (world_.survives) {  // this is a barrier that ranks which are gone need not come to
    leaving_.left =
        MPIX_Comm_iagree(world_.end, &leaving_.agreed, &leaving_.request) != MPI_SUCCESS;
    return;
  }
#endif
  went_well(MPI_Ibarrier(world_.end, &leaving_.request), "MPI_Ibarrier");
}

bool communicator::all_have_left() {
  if (leaving_.left) return true;
  int done = 0;
  const int code = MPI_Test(&leaving_.request, &done, MPI_STATUS_IGNORE);
  leaving_.left = !went_well(code, "the barrier at the end") || done != 0;
  return leaving_.left;
}

}  // namespace cleave::net::mpi
