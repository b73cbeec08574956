#include <cleave/detail/travel/broadcast.hpp>

#include <cleave/detail/travel/bytes.hpp>

#include "graph/broadcast_way.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace cleave::detail {
namespace {

/// One broadcast, at one member. Members are numbered from the root on.
///
///     a message: the port, the way, the order of members if it is not that of their ranks, how
///     many bytes there are, some of them, in order
class broadcasting final : public team_port {
public:
  broadcasting(team_node& all, unsigned root) : all_(all), root_(root) { all_.enter(*this); }
  ~broadcasting() override { all_.leave(*this); }
  broadcasting(const broadcasting&) = delete;
  broadcasting& operator=(const broadcasting&) = delete;

  void send(const std::vector<std::byte>& bytes) {
    const broadcast_way how =
        way_of_broadcast(bytes.size(), all_.size, broadcast_setting_in_use(), all_.places.cpus);
    const auto order = order_of_broadcast(root_, all_.places.sites);
    const bool is_by_rank = order == by_rank();
    std::size_t at = 0;
    do {
      auto message = team_node::begin_message(port);
      byte_writer w(message);
      w.put(static_cast<std::uint8_t>(how.is));
      w.put(is_by_rank);
      for (std::size_t i = 0; !is_by_rank && i < order.size(); ++i)
        w.put(static_cast<std::uint32_t>(order[i]));
      w.put(std::uint64_t{bytes.size()});
      const std::size_t end = std::min(bytes.size(), at + how.part);
      w.raw(bytes.data() + at, end - at);
      pass_on(message, {how.is, how.part}, order);
      at = end;
    } while (at != bytes.size());
  }

  std::vector<std::byte> await() {
    all_.await([this] {
      return is_whole_.load(std::memory_order_acquire) ||  // partner: the store in receive()
             was_cancelled_.load(std::memory_order_relaxed);
    });
    if (!is_whole_.load(std::memory_order_acquire)) throw cancelled{};
    return std::move(bytes_);
  }

  bool receive(std::vector<std::byte> message, std::size_t first) override {
    byte_reader r(std::span<const std::byte>(message).subspan(first));
    const auto shape = static_cast<broadcast_way::shape>(r.get<std::uint8_t>());
    auto order = by_rank();
    if (!r.get<bool>())
      for (unsigned& member : order) member = r.get<std::uint32_t>() % all_.size;
    const auto size = r.get<std::uint64_t>();
    const auto part = r.raw(r.left());
    bytes_.insert(bytes_.end(), part.begin(), part.end());
    pass_on(message, {shape, 0}, order);
    if (bytes_.size() < size) return false;
    is_whole_.store(true, std::memory_order_release);
    return true;
  }
  void look_for_cancelled() noexcept override {
    if (stopped(scope_)) was_cancelled_.store(true, std::memory_order_relaxed);
  }

private:
  std::vector<unsigned> by_rank() const {
    std::vector<unsigned> order(all_.size);
    for (unsigned i = 0; i < all_.size; ++i) order[i] = (root_ + i) % all_.size;
    return order;
  }
  void pass_on(const std::vector<std::byte>& message, const broadcast_way& how,
               const std::vector<unsigned>& order) {
    const auto self = std::find(order.begin(), order.end(), all_.rank) - order.begin();
    for (const unsigned child : how.children(static_cast<unsigned>(self), all_.size))
      all_.send(order[child], message);
    all_.flush();  // each part by itself: the next member passes it on meanwhile
  }

  team_node& all_;
  const unsigned root_;
  const scope* const scope_ = here.current;
  std::vector<std::byte> bytes_;  // with the team's mutex, until is_whole_
  std::atomic<bool> is_whole_{false}, was_cancelled_{false};
};

}  // namespace

std::vector<std::byte> broadcast(team_node& all, unsigned root, std::vector<std::byte> bytes) {
  broadcasting one(all, root);
  if (all.rank != root) return one.await();
  one.send(bytes);
  return bytes;
}

void check_broadcast_setting() { static_cast<void>(broadcast_setting_in_use()); }

}  // namespace cleave::detail
