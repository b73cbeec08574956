#include <cleave/detail/team.hpp>

#include <cleave/detail/bytes.hpp>

namespace cleave::detail {

void team_node::enter(team_port& p) {
  const std::lock_guard lock(mutex);
  p.port = ++last_;
  ports_[p.port] = &p;
  if (const auto early = early_.extract(p.port)) {
    for (auto& [message, first] : early.mapped()) p.receive(std::move(message), first);
  }
}

void team_node::leave(const team_port& p) noexcept {
  const std::lock_guard lock(mutex);
  ports_.erase(p.port);
}

std::vector<std::byte> team_node::begin_message(std::uint64_t port) {
  std::vector<std::byte> message;
  byte_writer(message).put(port);
  return message;
}

void team_node::receive(std::vector<std::byte> message) {
  const auto port = byte_reader(message).get<std::uint64_t>();
  constexpr std::size_t first = sizeof port;
  {
    const std::lock_guard lock(mutex);
    const auto at = ports_.find(port);
    if (at == ports_.end()) {
      if (port > last_) early_[port].emplace_back(std::move(message), first);
      return;
    }
    if (!at->second->receive(std::move(message), first)) return;
  }
  tell();
}

void team_node::look_for_cancelled() noexcept {
  const std::lock_guard lock(mutex);
  for (const auto& [number, port] : ports_) port->look_for_cancelled();
}

}  // namespace cleave::detail
