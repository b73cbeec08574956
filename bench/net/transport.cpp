// Any of Cleave's transports, the one that this process was launched for.
#include "transport/transport.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <vector>

#include "program.hpp"
#include "support/command_line.hpp"
#include "transport/launch.hpp"

namespace {

using clock_type = std::chrono::steady_clock;
using cleave::net::address;
using cleave::net::bytes;

constexpr auto patience = std::chrono::minutes(3);

class over_transport final : public bench::net::network {
public:
  explicit over_transport(int ranks) : there_(cleave::net::open_transport({})) {
    const auto& launched = cleave::net::launched();
    if (!there_) throw apps::usage_error("expected to be started as one of several ranks");
    ranks_ = launched.comes_and_goes ? ranks : launched.ranks;
    if (ranks_ < 1)
      throw apps::usage_error("--ranks: expected a number, as no launcher tells how many");
    peers_.resize(static_cast<std::size_t>(ranks_));
    const auto end = clock_type::now() + patience;
    while (there_->peers().size() + 1 < static_cast<std::size_t>(ranks_)) {
      if (clock_type::now() > end) throw std::runtime_error("not all ranks have come");
      if (!take_one() && !note_changes()) there_->wait(std::chrono::milliseconds(10));
    }
  }

  std::string name() const override { return "transport"; }
  int rank() const override { return static_cast<int>(there_->self()); }
  int ranks() const override { return ranks_; }
  void send(int to, std::span<const std::byte> m) override {
    auto& peer = peers_[static_cast<std::size_t>(to)];
    bytes whole(m.size() + sizeof peer.sent);
    std::copy(m.begin(), m.end(), whole.begin());
    std::memcpy(whole.data() + m.size(), &peer.sent, sizeof peer.sent);
    ++peer.sent;
    there_->send(static_cast<address>(to), std::move(whole));
    there_->deliver();
  }
  void post(int to, std::span<const std::byte> m) override { send(to, m); }
  void complete() override {}
  void receive(int from, std::span<std::byte> m) override {
    auto& peer = peers_[static_cast<std::size_t>(from)];
    const auto end = clock_type::now() + patience;
    while (peer.arrived.empty()) {
      if (take_one()) continue;
      // What it had sent before it was lost has been taken.
      if (peer.lost) throw std::runtime_error("rank " + std::to_string(from) + " is lost");
      if (clock_type::now() > end)
        throw std::runtime_error("nothing comes from " + there_->name(static_cast<address>(from)));
      if (!note_changes()) there_->wait(std::chrono::milliseconds(500));
    }
    const bytes& whole = peer.arrived.front();
    std::uint32_t number = 0;
    if (whole.size() != m.size() + sizeof number)
      throw std::runtime_error("a message of another length came");
    std::memcpy(&number, whole.data() + m.size(), sizeof number);
    if (number != peer.received++) throw std::runtime_error("a message was lost");
    std::copy_n(whole.begin(), m.size(), m.begin());
    peer.arrived.pop_front();
  }
  // By dissemination: in step k each rank hears of the one 2^k before it. (Hensgen, Finkel and
  // Manber, "Two algorithms for barrier synchronization", 1988.)
  void barrier() override {
    std::byte word{};
    for (int step = 1; step < ranks_; step *= 2) {
      send((rank() + step) % ranks_, std::span(&word, 1));
      receive((rank() + ranks_ - step % ranks_) % ranks_, std::span(&word, 1));
    }
  }

  // Without its farewell a rank is missed.
  [[noreturn]] void give_up(int status) override { std::_Exit(status); }

private:
  bool take_one() {
    auto got = there_->receive();
    if (!got) return false;
    const auto from = static_cast<std::size_t>(got->from);
    if (!got->message.empty() && from < peers_.size())
      peers_[from].arrived.push_back(std::move(got->message));
    return true;
  }
  // Who has come and who was lost: until the transport has told all of that it does not wait.
  bool note_changes() {
    bool any = false;
    while (there_->found()) any = true;
    while (const auto gone = there_->lost()) {
      any = true;
      if (*gone < peers_.size()) peers_[*gone].lost = true;
    }
    return any;
  }

  // A number ends each message. So a loss is seen, and no two messages are equal: one that equals
  // another that still waits would be taken for the same (src/nats/transport.cpp).
  struct other_rank {
    std::uint32_t sent = 0, received = 0;
    std::deque<bytes> arrived;  // messages that nobody has received yet
    bool lost = false;
  };

  std::unique_ptr<cleave::net::transport> there_;
  int ranks_ = 0;
  std::vector<other_rank> peers_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::net::main(argc, argv,
                          [](int ranks) { return std::make_unique<over_transport>(ranks); });
}
