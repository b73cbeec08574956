#include <cleave/detail/travel/letters.hpp>

#include <cleave/detail/travel/bytes.hpp>

#include <cstdint>
#include <span>
#include <utility>

namespace cleave::detail {

void letters::send(unsigned to, const std::vector<std::byte>& contents) {
  auto message = team_node::begin_message(port);
  byte_writer(message).put(std::uint32_t{all_.rank});
  message.insert(message.end(), contents.begin(), contents.end());
  all_.send(to, message);
  all_.flush();
}

std::vector<letters::letter> letters::take() {
  if (!any()) return {};
  const std::lock_guard lock(all_.mutex);
  any_.store(false, std::memory_order_relaxed);
  return std::exchange(come_, {});
}

void letters::await() {
  if (!any() && all_.size == 1)
    throw std::logic_error("cleave::mailbox: waits for a message in a team of one");
  if (!any())
    all_.await([this] { return any() || was_cancelled_.load(std::memory_order_relaxed); });
  if (!any()) throw cancelled{};
}

bool letters::receive(std::vector<std::byte> message, std::size_t first) {
  byte_reader r(std::span<const std::byte>(message).subspan(first));
  const auto from = r.get<std::uint32_t>();
  const auto contents = message.begin() + static_cast<std::ptrdiff_t>(first + sizeof from);
  come_.push_back({from, {contents, message.end()}});
  any_.store(true, std::memory_order_relaxed);  // the mutex orders what it tells of
  return true;
}

void letters::look_for_cancelled() noexcept {
  if (stopped(scope_)) was_cancelled_.store(true, std::memory_order_relaxed);
}

}  // namespace cleave::detail
