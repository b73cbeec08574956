#include "mpi/ring_socket.hpp"

#include "machine/random.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace cleave::net::mpi {
namespace {

/// Numbers in a ring are in the order of the network; for the random `job` any order will do.
ring_socket::ring swapped(ring_socket::ring r) noexcept {
  return {r.job, htonl(r.from), htonl(r.announced)};
}

std::uint32_t address_in(const sockaddr* a) {
  sockaddr_in in{};
  std::memcpy(&in, a, sizeof in);
  return in.sin_addr.s_addr;
}

std::array<contact::network, 4> networks_here() {
  std::array<contact::network, 4> found{};
  std::size_t count = 0;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return found;
  for (const ifaddrs* i = all; i != nullptr && count < found.size(); i = i->ifa_next) {
    if (i->ifa_addr == nullptr || i->ifa_netmask == nullptr || i->ifa_addr->sa_family != AF_INET)
      continue;
    if ((i->ifa_flags & IFF_LOOPBACK) != 0 || (i->ifa_flags & IFF_UP) == 0) continue;
    found[count++] = {address_in(i->ifa_addr), address_in(i->ifa_netmask)};
  }
  freeifaddrs(all);
  return found;
}

/// The first address of that host in a network that is this host's too; the loopback if both have
/// the same address.
std::uint32_t reachable(const contact& there, const contact& own) {
  for (const auto& mine : own.networks) {
    for (const auto& theirs : there.networks) {
      if (mine.address == 0 || theirs.address == 0) continue;
      if (mine.address == theirs.address) return htonl(INADDR_LOOPBACK);
      if ((mine.address & mine.mask) == (theirs.address & mine.mask)) return theirs.address;
    }
  }
  return there.networks[0].address != 0 ? there.networks[0].address : htonl(INADDR_LOOPBACK);
}

sockaddr_in socket_address(std::uint32_t address, std::uint16_t port) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_addr.s_addr = address;
  in.sin_port = htons(port);
  return in;
}

}  // namespace

ring_socket::ring_socket() {
  socket_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const sockaddr_in any = socket_address(htonl(INADDR_ANY), 0);
  sockaddr_in bound{};
  socklen_t length = sizeof bound;
  if (socket_ < 0 || bind(socket_, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0 ||
      getsockname(socket_, reinterpret_cast<sockaddr*>(&bound), &length) != 0) {
    const std::string why = std::strerror(errno);
    if (socket_ >= 0) close(socket_);
    throw std::runtime_error("no UDP socket for the doorbell: " + why);
  }
  port_ = ntohs(bound.sin_port);
}

ring_socket::~ring_socket() { close(socket_); }

contact ring_socket::mine() const { return {networks_here(), port_, machine::random_bits()}; }

void ring_socket::know(const std::vector<contact>& contacts) {
  const contact own{networks_here(), port_, 0};
  job_ = contacts.front().job;
  targets_.clear();
  for (const contact& there : contacts) targets_.push_back({reachable(there, own), there.port});
}

void ring_socket::send(std::uint32_t to, ring what) const noexcept {
  const sockaddr_in there = socket_address(targets_[to].address, targets_[to].port);
  what.job = job_;
  const ring wire = swapped(what);
  (void)sendto(socket_, &wire, sizeof wire, MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&there),
               sizeof there);
}

std::optional<ring_socket::ring> ring_socket::receive() const noexcept {
  ring wire{};
  for (;;) {
    const auto got = recv(socket_, &wire, sizeof wire, MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0) return {};
    const ring r = swapped(wire);
    if (got == sizeof wire && r.job == job_ && r.from < targets_.size()) return r;
  }
}

void ring_socket::wait(std::chrono::nanoseconds at_most) const noexcept {
  pollfd wanted{socket_, POLLIN, 0};
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(at_most);
  const timespec limit{whole.count(), (at_most - whole).count()};
  ppoll(&wanted, 1, &limit, nullptr);
}

}  // namespace cleave::net::mpi
