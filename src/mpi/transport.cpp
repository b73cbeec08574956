#include "transport/transport.hpp"

#include "machine/settings.hpp"
#include "machine/spinner.hpp"
#include "mpi/communicator.hpp"
#include "mpi/doorbell.hpp"
#include "transport/open_plugin.hpp"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace cleave::net::mpi {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr int looks_before_a_nap = 4;
constexpr std::chrono::nanoseconds shortest_nap = 50us;
constexpr std::chrono::nanoseconds longest_nap = 1ms;
// The longest sleep where rings go over UDP.
constexpr std::chrono::nanoseconds if_a_ring_is_lost = 10ms;
// The longest sleep where ranks may be killed: MPI tells of it only when it is asked.
constexpr std::chrono::nanoseconds if_a_rank_is_killed = 50ms;

constexpr std::chrono::nanoseconds longest_farewell = 200ms;

constexpr long largest_part = 1 << 30;  // MPI counts bytes with an int
// A part of this length takes less than a second over a slow line.
constexpr long usual_part = 1 << 20;

/// Messages over MPI; sleeps on the doorbell. The mutex is held whenever MPI, the doorbell's counts
/// or what is counted is touched, and not while it sleeps.
///
/// While something is on its way that both sides must work on (a long message waits for its
/// receiver; what was announced is not there yet), a rank naps instead, and rings those it waits
/// for before each nap: so whoever can bring it on is awake, and no message waits for a rank that
/// sleeps for long.
class mpi_transport final : public transport {
public:
  explicit mpi_transport(const transport_settings& settings);
  ~mpi_transport() override;

  address self() const noexcept override { return static_cast<address>(all_.rank()); }
  std::vector<address> peers() const override;
  distance how_far(address peer) const noexcept override;
  void send(address to, bytes message) override;
  void send_without_waking(address to, bytes message) override;
  std::optional<incoming> receive() override;
  std::optional<address> lost() override;
  void wait(std::chrono::microseconds at_most) override;
  void ring() noexcept override;
  bool sends_from_any_thread() const noexcept override { return all_.allows_other_threads(); }
  void deliver() noexcept override;
  void send_all(std::span<outgoing> all) override;
  bool begin_watch() noexcept override;
  bool look() noexcept override;
  bool was_rung() noexcept override {
    // Nearly always it was not: a load does not wait for what MPI has written for other ranks.
    return rung_.load(std::memory_order_seq_cst) &&
           rung_.exchange(false, std::memory_order_seq_cst);
  }
  void found_by_look(std::vector<incoming>& all) override;
  void end_watch() noexcept override;
  traffic counted() const noexcept override;

private:
  /// The lengths of naps: each is longer than the last one, until something has come.
  class naps {
  public:
    std::chrono::nanoseconds next() noexcept {
      const auto now = next_;
      next_ = std::min(longest_nap, 2 * next_);
      return now;
    }

  private:
    std::chrono::nanoseconds next_ = shortest_nap;
  };

  static std::size_t part_bytes();
  static std::string kind_of_doorbell();
  static doorbell make_doorbell(communicator& all, const std::string& kind);
  bool awaits(int peer) const noexcept;
  bool awaits_any() const noexcept;
  bool send_now(int peer, bytes& message);
  void send_and_note(int peer, bytes& message);
  std::optional<incoming> next();
  void ring_receivers() noexcept;
  bool ring_awaited(bool again) noexcept;
  std::chrono::nanoseconds longest_sleep() const noexcept;
  void leave();

  mutable std::mutex mutex_;
  const std::string kind_ = kind_of_doorbell();  // found before MPI begins: other ranks wait in it
  communicator all_;
  doorbell bell_;
  const bool spin_;
  std::atomic<bool> rung_{false};
  struct sent {
    int to;
    std::uint32_t messages;
  };
  std::vector<sent> to_ring_;  // what was sent since its receivers were rung, once for each
  traffic counted_;
  // Only the thread that watches touches `looked_at_` and `expects_`.
  doorbell::ticket looked_at_ = 0;
  bool expects_ = false;  // something is on its way
};

std::size_t mpi_transport::part_bytes() {
  return static_cast<std::size_t>(
      machine::environment("CLEAVE_MPI_PART", 1, largest_part, usual_part));
}

/// The kind that CLEAVE_MPI_DOORBELL names; empty: the best one is chosen.
std::string mpi_transport::kind_of_doorbell() {
  const char* const text = std::getenv("CLEAVE_MPI_DOORBELL");
  std::string kind = text != nullptr ? text : "";
  if (!kind.empty() && kind != "futex" && kind != "udp")
    throw std::invalid_argument("CLEAVE_MPI_DOORBELL: expected futex or udp, got '" + kind + "'");
  return kind;
}

/// Memory that the ranks of this host share, or none in any of them.
machine::shared_memory share(communicator& all, bool wanted) {
  std::array<char, 64> name{};
  const std::size_t bytes = doorbell::memory_bytes(all.neighbours().size());
  const bool first = all.neighbours().front() == all.rank();
  machine::shared_memory memory;
  if (first && wanted) {
    const std::string chosen = "/cleave-" + std::to_string(getpid()) + "-" +
                               std::to_string(clock::now().time_since_epoch().count());
    chosen.copy(name.data(), name.size() - 1);
    memory = machine::shared_memory::create(chosen, bytes);
  }
  all.share_on_host(std::as_writable_bytes(std::span(name)));
  if (!first && name[0] != '\0') memory = machine::shared_memory::open(name.data(), bytes);
  const bool everybody = all.all_on_host(static_cast<bool>(memory));
  if (first && name[0] != '\0') machine::shared_memory::remove(name.data());
  return everybody ? std::move(memory) : machine::shared_memory();
}

doorbell mpi_transport::make_doorbell(communicator& all, const std::string& kind) {
  machine::shared_memory memory = share(all, kind != "udp");
  const bool on_one_host =
      memory && all.neighbours().size() == static_cast<std::size_t>(all.size());
  auto socket = on_one_host ? nullptr : std::make_unique<ring_socket>();

  const contact mine = socket ? socket->mine() : contact{};
  const auto gathered = all.gather(std::as_bytes(std::span(&mine, 1)));
  std::vector<contact> contacts(static_cast<std::size_t>(all.size()));
  std::memcpy(contacts.data(), gathered.data(), gathered.size());
  if (socket) socket->know(contacts);
  return {all.rank(), all.neighbours(), std::move(memory), std::move(socket), all.size()};
}

mpi_transport::mpi_transport(const transport_settings& settings)
    : all_(settings.ranks, part_bytes()), bell_(make_doorbell(all_, kind_)), spin_(settings.spin) {
  all_.begin_messages();
}

mpi_transport::~mpi_transport() { leave(); }

// ---- peers

std::vector<address> mpi_transport::peers() const {
  const std::lock_guard lock(mutex_);
  std::vector<address> there;
  for (int peer = 0; peer < all_.size(); ++peer)
    if (peer != all_.rank() && !all_.gone(peer)) there.push_back(static_cast<address>(peer));
  return there;
}

distance mpi_transport::how_far(address peer) const noexcept {
  const auto& neighbours = all_.neighbours();
  return std::binary_search(neighbours.begin(), neighbours.end(), static_cast<int>(peer))
             ? distance::same_host
             : distance::same_site;
}

std::optional<address> mpi_transport::lost() {
  const std::lock_guard lock(mutex_);
  if (const auto peer = all_.next_failure()) return static_cast<address>(*peer);
  return {};
}

// ---- messages

void mpi_transport::send(address to, bytes message) {
  const std::lock_guard lock(mutex_);
  send_and_note(static_cast<int>(to), message);
}

void mpi_transport::send_all(std::span<outgoing> all) {
  const std::lock_guard lock(mutex_);
  for (outgoing& each : all) send_and_note(static_cast<int>(each.to), each.message);
  ring_receivers();
}

/// Notes that the peer is to be rung.
void mpi_transport::send_and_note(int peer, bytes& message) {
  auto known = std::ranges::find(to_ring_, peer, &sent::to);
  if (known == to_ring_.end()) known = to_ring_.insert(known, {peer, 0});
  if (send_now(peer, message)) ++known->messages;
}

void mpi_transport::send_without_waking(address to, bytes message) {
  const std::lock_guard lock(mutex_);
  const int rank = static_cast<int>(to);
  if (send_now(rank, message)) bell_.announce(rank, 1);
}

void mpi_transport::deliver() noexcept {
  const std::lock_guard lock(mutex_);
  ring_receivers();
}

traffic mpi_transport::counted() const noexcept {
  const std::lock_guard lock(mutex_);
  return counted_;
}

/// Returns false if the peer is gone.
bool mpi_transport::send_now(int peer, bytes& message) {
  if (all_.gone(peer)) return false;
  ++counted_.sent;
  counted_.sent_bytes += message.size();
  all_.send(peer, message);
  return true;
}

/// Rings when all is sent: a rank that is woken may well take this CPU.
void mpi_transport::ring_receivers() noexcept {
  for (const auto [peer, messages] : to_ring_) {
    if (all_.gone(peer)) continue;
    bell_.announce(peer, messages);
    bell_.ring(peer);
  }
  to_ring_.clear();
}

std::optional<incoming> mpi_transport::receive() {
  const std::lock_guard lock(mutex_);
  ring_receivers();  // a driver that does not come to wait() looks for messages
  if (!all_.has_next()) all_.progress();
  return next();
}

std::optional<incoming> mpi_transport::next() {
  auto found = all_.next();
  if (found && !found->message.empty()) {
    ++counted_.received;
    counted_.received_bytes += found->message.size();
  }
  return found;
}

// ---- waiting

void mpi_transport::ring() noexcept {
  // The flag is stored before the ring, which is sequentially consistent: whoever is woken by the
  // ring sees the flag.
  rung_.store(true, std::memory_order_seq_cst);
  bell_.ring_self();
}

bool mpi_transport::awaits(int peer) const noexcept {
  if (peer == all_.rank() || all_.gone(peer)) return false;
  return all_.unfinished_with(peer) ||
         static_cast<std::int32_t>(bell_.announced_by(peer) - all_.seen_from(peer)) > 0;
}

bool mpi_transport::awaits_any() const noexcept {
  for (int peer = 0; peer < all_.size(); ++peer)
    if (awaits(peer)) return true;
  return false;
}

/// Whether there is a peer that this rank waits for. A peer elsewhere costs a datagram: it is rung
/// only before the first nap and `again` after one that nothing ended.
bool mpi_transport::ring_awaited(bool again) noexcept {
  bool any = false;
  for (int peer = 0; peer < all_.size(); ++peer) {
    if (!awaits(peer)) continue;
    any = true;
    if (again || bell_.is_neighbour(peer)) bell_.ring(peer);
  }
  return any;
}

std::chrono::nanoseconds mpi_transport::longest_sleep() const noexcept {
  std::chrono::nanoseconds longest = 1h;
  if (bell_.uses_socket()) longest = std::min(longest, if_a_ring_is_lost);
  if (all_.survives()) longest = std::min(longest, if_a_rank_is_killed);
  return longest;
}

void mpi_transport::wait(std::chrono::microseconds at_most) {
  std::unique_lock lock(mutex_);
  ring_receivers();
  const auto end = clock::now() + std::min<std::chrono::microseconds>(at_most, 1h);
  machine::spinner spinning(!spin_);
  naps nap;
  int looks = 0;
  bool timed_out = false;
  bool again = true;
  for (;;) {
    const doorbell::ticket before = bell_.look();
    if (rung_.exchange(false, std::memory_order_seq_cst)) return;
    all_.progress();
    if (all_.has_next() || all_.has_failure()) {
      if (timed_out) ++counted_.late;
      return;
    }
    const auto now = clock::now();
    if (now >= end) return;
    if (spinning()) {
      lock.unlock();  // threads that send get the mutex
      lock.lock();
      continue;
    }

    const bool awaiting = ring_awaited(again);
    if (awaiting && looks++ < looks_before_a_nap) {
      again = false;
      continue;
    }
    const std::chrono::nanoseconds longest = awaiting ? nap.next() : longest_sleep();
    ++counted_.sleeps;
    lock.unlock();
    again = !bell_.sleep(before, std::min<std::chrono::nanoseconds>(longest, end - now));
    lock.lock();
    timed_out = again && !awaiting;
    if (again) ++counted_.naps;
    if (again && !awaiting) all_.look_for_failures();
    if (again) continue;
    looks = 0;
    spinning = machine::spinner(!spin_);
  }
}

// ---- another thread looks

bool mpi_transport::begin_watch() noexcept {
  if (!sends_from_any_thread() || bell_.uses_socket()) return false;
  looked_at_ = bell_.rings() - 1;
  bell_.watch();
  return true;
}

bool mpi_transport::look() noexcept {
  bell_.watch();
  const doorbell::ticket rings = bell_.rings();
  if (rings == looked_at_ && !expects_) return false;
  const std::lock_guard lock(mutex_);
  all_.progress();
  expects_ = awaits_any();
  return std::exchange(looked_at_, rings) != rings || all_.has_next();
}

void mpi_transport::found_by_look(std::vector<incoming>& all) {
  const std::lock_guard lock(mutex_);
  while (auto found = next()) all.push_back(std::move(*found));
}

void mpi_transport::end_watch() noexcept {
  expects_ = false;
  bell_.end_watch(looked_at_);
}

// ---- the end

/// All ranks leave together. What is still on its way is received, so that whoever sent it can go;
/// then MPI ends, which spins until all have come: so they come at the same time. What a rank has
/// sent can arrive after its word that it has left: this waits a little for it, as MPI complains of
/// what nobody has received.
void mpi_transport::leave() {
  const std::lock_guard lock(mutex_);
  ring_receivers();
  naps nap;
  bool leaving = false;
  auto end = clock::time_point::max();
  for (;;) {
    const doorbell::ticket before = bell_.look();
    all_.progress();
    while (all_.next()) {}
    if (!leaving && all_.idle()) {
      all_.begin_to_leave();
      leaving = true;
    }
    if (leaving && end == clock::time_point::max() && all_.all_have_left()) {
      end = clock::now() + longest_farewell;
      continue;
    }
    const bool awaiting = ring_awaited(true);
    if (end != clock::time_point::max() && (!awaiting || clock::now() > end)) return;
    bell_.sleep(before, nap.next());
  }
}

}  // namespace
}  // namespace cleave::net::mpi

extern "C" __attribute__((visibility("default"))) cleave::net::transport* cleave_transport_open(
    unsigned version, const cleave::net::transport_settings& settings,
    cleave::net::open_failure& why) {
  return cleave::net::open_plugin(
      version, why, [&settings] { return new cleave::net::mpi::mpi_transport(settings); });
}
