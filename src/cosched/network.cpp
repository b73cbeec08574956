#include "cosched/network.hpp"

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <utility>

#include "cosched/clock.hpp"
#include "cosched/platform.hpp"

namespace cleave::cosched {
namespace {

constexpr int most_drained = 1'024;

}  // namespace

network::network(int socket, std::string_view name, std::vector<int> in_world,
                 const descriptors& of_mpi)
    : socket_(socket), name_(name), in_world_(std::move(in_world)), of_mpi_(&of_mpi) {}

network::~network() { close(socket_); }

/// The address is in the abstract namespace: nothing is left behind, however the job ends.
network::address network::address_of(std::string_view name, unsigned i) noexcept {
  address a{};
  a.name.sun_family = AF_UNIX;
  char* const begin = a.name.sun_path + 1;  // what begins with zero is abstract
  char* const end = a.name.sun_path + sizeof a.name.sun_path;
  constexpr std::ptrdiff_t digits = 11;
  char* at =
      std::copy_n(name.begin(),
                  std::min(static_cast<std::ptrdiff_t>(name.size()), end - begin - digits), begin);
  *at++ = '/';
  at = std::to_chars(at, end, i).ptr;
  a.length = static_cast<socklen_t>(at - reinterpret_cast<char*>(&a.name));
  return a;
}

std::unique_ptr<network> network::make(std::string_view name, unsigned me,
                                       std::vector<int> in_world, const descriptors& of_mpi) {
  const int own = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (own < 0) return nullptr;
  const address a = address_of(name, me);
  if (bind(own, reinterpret_cast<const sockaddr*>(&a.name), a.length) != 0) {
    close(own);
    return nullptr;
  }
  return std::unique_ptr<network>(new network(own, name, std::move(in_world), of_mpi));
}

void network::wake(unsigned i) const noexcept {
  const address a = address_of(name_, i);
  const auto send_from = [&](int own) {
    return sendto(own, nullptr, 0, MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&a.name),
                  a.length) == 0;
  };
  if (send_from(socket_) || errno != EAGAIN) return;
  // Either socket is full: that of i, or this one of what others have not read yet.
  const int empty = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (empty < 0) return;
  send_from(empty);
  close(empty);
}

bool network::sleep(const std::atomic<std::uint32_t>& word, std::uint32_t ticket) {
  end_ = now() + std::chrono::nanoseconds(platform::longest_sleep).count();
  return sleep_in_poll(word, ticket, *this);
}

/// Reads no more than `most_drained`: a stranger may send faster than the rank reads.
void network::drain() const noexcept {
  char none = 0;
  for (int i = 0; i < most_drained; ++i)
    if (recv(socket_, &none, sizeof none, MSG_DONTWAIT | MSG_TRUNC) < 0) return;
}

polled network::poll() {
  const nanoseconds left = std::max<nanoseconds>(0, end_ - now());
  if (end_ != 0 && left == 0) return polled::late;  // the time is over, whatever a stranger sends
  waited_for_.assign(of_mpi_->all().begin(), of_mpi_->all().end());
  waited_for_.push_back({socket_, POLLIN, 0});
  constexpr nanoseconds second = 1'000'000'000;
  const timespec limit{left / second, left % second};
  const int ready = ppoll(waited_for_.data(), waited_for_.size(), &limit, nullptr);
  // The time is over, or a signal came, which the program may wait for.
  if (ready <= 0) return polled::late;
  return waited_for_.back().revents == 0 || ready > 1 ? polled::event : polled::rung;
}

}  // namespace cleave::cosched
