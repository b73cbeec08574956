#include "nats/parts.hpp"

#include <algorithm>
#include <utility>

namespace cleave::net::nats {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_gap = 30s;  // between two parts of a message

void put(std::byte* to, std::uint64_t n) noexcept {
  for (std::size_t i = 0; i < sizeof n; ++i) to[i] = static_cast<std::byte>(n >> (8 * i));
}
std::uint64_t get(const std::byte* from) noexcept {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < sizeof n; ++i)
    n |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
  return n;
}

}  // namespace

std::size_t write_part(std::uint64_t number, std::span<const std::byte> message, std::size_t offset,
                       std::size_t most, std::vector<std::byte>& part) {
  const auto body = message.subspan(offset, std::min(message.size() - offset, most - part_header));
  part.resize(part_header);
  put(part.data(), number);
  put(part.data() + 8, message.size());
  put(part.data() + 16, offset);
  part.insert(part.end(), body.begin(), body.end());
  return offset + body.size();
}

std::optional<std::vector<std::byte>> assembler::take(const endpoint& from,
                                                      std::span<const std::byte> part,
                                                      clock::time_point now) {
  if (part.size() <= part_header) return {};
  const std::uint64_t number = get(part.data()), bytes = get(part.data() + 8),
                      offset = get(part.data() + 16);
  const auto body = part.subspan(part_header);
  if (offset == 0) {
    for (auto one = unfinished_.begin(); one != unfinished_.end();) {
      const auto old = one++;
      if (old->first == from || now - old->second.since > longest_gap) drop(old);
    }
    unfinished_[from] = {number, bytes, {}, now};
    kept_ += for_each;
  }
  const auto at = unfinished_.find(from);
  if (at == unfinished_.end()) return {};
  message& so_far = at->second;
  const bool follows = so_far.number == number && so_far.bytes == bytes &&
                       so_far.content.size() == offset && bytes <= most_bytes_ &&
                       body.size() <= bytes - offset;
  if (!follows) {
    drop(at);
    return {};
  }
  so_far.content.insert(so_far.content.end(), body.begin(), body.end());
  kept_ += body.size();
  so_far.since = now;
  if (so_far.content.size() == bytes) return drop(at);
  while (kept_ > most_kept()) drop(oldest_of_who_takes_most());
  return {};
}

assembler::iterator assembler::oldest_of_who_takes_most() {
  std::map<machine, std::size_t> taken;
  for (const auto& [who, what] : unfinished_) taken[who.at] += for_each + what.content.size();
  const machine most = std::max_element(taken.begin(), taken.end(), [](auto& a, auto& b) {
                         return a.second < b.second;
                       })->first;
  auto oldest = unfinished_.end();
  for (auto one = unfinished_.begin(); one != unfinished_.end(); ++one) {
    if (one->first.at != most) continue;
    if (oldest == unfinished_.end() || one->second.since < oldest->second.since) oldest = one;
  }
  return oldest;
}

std::vector<std::byte> assembler::drop(iterator at) {
  auto content = std::move(at->second.content);
  kept_ -= for_each + content.size();
  unfinished_.erase(at);
  return content;
}

}  // namespace cleave::net::nats
