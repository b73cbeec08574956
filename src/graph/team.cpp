#include <cleave/detail/travel/team.hpp>

#include <cleave/detail/travel/bytes.hpp>

#include <algorithm>

namespace cleave::detail {

void team_node::enter(team_port& p) {
  const std::lock_guard lock(mutex);
  if (last_ == made_.fewest) throw different_numbers();
  p.port = ++last_;
  const auto at = ports_.emplace(p.port, &p).first;
  const auto early = early_.extract(p.port);
  if (early.empty()) return;
  try {
    for (auto& [message, first] : early.mapped()) p.receive(std::move(message), first);
  } catch (...) {
    ports_.erase(at);
    throw;
  }
}

void team_node::leave(const team_port& p) noexcept {
  const std::lock_guard lock(mutex);
  ports_.erase(p.port);
}

bool team_node::end() noexcept {
  const std::lock_guard lock(mutex);
  ended_ = true;
  return !early_.empty() || made_.most > last_;
}

std::uint64_t team_node::ports_made() noexcept {
  const std::lock_guard lock(mutex);
  return last_;
}

bool team_node::member_ended(std::uint64_t ports) noexcept {
  const std::lock_guard lock(mutex);
  made_.fewest = std::min(made_.fewest, ports), made_.most = std::max(made_.most, ports);
  return made_.fewest < last_ || (ended_ && made_.most > last_);
}

std::logic_error team_node::different_numbers() {
  return std::logic_error("cleave::team_graph: the nodes have made different numbers of graphs");
}

std::vector<std::byte> team_node::begin_message(std::uint64_t port) {
  constexpr std::size_t small = 64;  // most values, and what is said of them
  std::vector<std::byte> message;
  message.reserve(small);
  byte_writer(message).put(port);
  return message;
}

bool team_node::receive(std::vector<std::byte> message) {
  const auto port = byte_reader(message).get<std::uint64_t>();
  constexpr std::size_t first = sizeof port;
  {
    const std::lock_guard lock(mutex);
    const auto at = ports_.find(port);
    if (at == ports_.end()) {
      if (port <= last_) return false;
      early_[port].emplace_back(std::move(message), first);
      return ended_;
    }
    if (!at->second->receive(std::move(message), first)) return false;
  }
  tell();
  return false;
}

void team_node::look_again() noexcept {
  const std::lock_guard lock(mutex);
  for (const auto& [number, port] : ports_) port->look_again();
}

void team_node::look_for_cancelled() noexcept {
  {
    const std::lock_guard lock(mutex);
    for (const auto& [number, port] : ports_) port->look_for_cancelled();
  }
  if (net_ != nullptr) tell();  // a broadcast waits no longer
}

}  // namespace cleave::detail
