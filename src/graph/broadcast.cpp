#include <cleave/detail/travel/broadcast.hpp>

#include <cleave/detail/travel/bytes.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <utility>

namespace cleave::detail {
namespace {

constexpr std::size_t least_part = std::size_t{8} << 10, largest_part = std::size_t{128} << 10;
/// What a message costs beside its bytes, in bytes: some ten microseconds at a gigabit in a second.
constexpr std::size_t per_message = std::size_t{4} << 10;

/// How a broadcast goes, by what takes least: a binomial tree takes log2 P steps of the whole, a
/// chain n + P - 2 steps of one of n parts, a binary tree 2 (n + log2 P - 1).
struct way {
  enum class shape : std::uint8_t { binomial, chain, binary } is = shape::binomial;
  std::size_t part = 0;

  way(std::size_t bytes, unsigned members) noexcept : part(bytes) {
    const auto levels = static_cast<std::size_t>(std::bit_width(members - 1));
    const std::size_t s = std::clamp(bytes / 32, least_part, largest_part), n = bytes / s + 1;
    std::size_t least = levels * (bytes + per_message);
    const auto take = [&](shape what, std::size_t steps) {
      if (steps * (s + per_message) >= least) return;
      least = steps * (s + per_message);
      is = what, part = s;
    };
    take(shape::chain, n + members - 2);
    take(shape::binary, 2 * (n + levels - 1));
  }
};

/// One broadcast, at one member. Members are numbered from the root on.
///
///     a message: the port, how many bytes there are, some of them, in order
class broadcasting final : public team_port {
public:
  broadcasting(team_node& all, unsigned root) : all_(all), root_(root) { all_.enter(*this); }
  ~broadcasting() { all_.leave(*this); }
  broadcasting(const broadcasting&) = delete;
  broadcasting& operator=(const broadcasting&) = delete;

  void send(const std::vector<std::byte>& bytes) {
    const way how(bytes.size(), all_.size);
    std::size_t at = 0;
    do {
      auto message = team_node::begin_message(port);
      byte_writer(message).put(std::uint64_t{bytes.size()});
      const std::size_t end = std::min(bytes.size(), at + how.part);
      message.insert(message.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                     bytes.begin() + static_cast<std::ptrdiff_t>(end));
      pass_on(message, how);
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
    const auto size = r.get<std::uint64_t>();
    const auto part = message.begin() + static_cast<std::ptrdiff_t>(first + sizeof size);
    bytes_.insert(bytes_.end(), part, message.end());
    pass_on(message, way(size, all_.size));
    if (bytes_.size() < size) return false;
    is_whole_.store(true, std::memory_order_release);
    return true;
  }
  void look_for_cancelled() noexcept override {
    if (stopped(scope_)) was_cancelled_.store(true, std::memory_order_relaxed);
  }

private:
  unsigned own_number() const { return (all_.rank + all_.size - root_) % all_.size; }
  void pass_on(const std::vector<std::byte>& message, const way& how) {
    const unsigned self = own_number();
    if (how.is == way::shape::chain) {
      pass_to(self + 1, message);
    } else if (how.is == way::shape::binary) {
      for (const unsigned child : {2 * self + 1, 2 * self + 2}) pass_to(child, message);
    } else {
      // The largest subtree first: it takes longest.
      const unsigned levels = self == 0 ? static_cast<unsigned>(std::bit_width(all_.size - 1))
                                        : static_cast<unsigned>(std::countr_zero(self));
      for (unsigned k = levels; k-- > 0;) pass_to(self + (1U << k), message);
    }
    all_.flush();  // each part by itself: the next member passes it on meanwhile
  }
  void pass_to(unsigned number, const std::vector<std::byte>& message) {
    if (number < all_.size) all_.send((number + root_) % all_.size, message);
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

}  // namespace cleave::detail
