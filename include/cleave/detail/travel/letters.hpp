#pragma once

#include <cleave/detail/travel/team.hpp>

#include <atomic>
#include <cstddef>
#include <vector>

namespace cleave::detail {

/// One member's end of a mailbox, which knows bytes only.
///
///     a message: the port, the rank of its sender, the letter
class letters final : public team_port {
public:
  struct letter {
    unsigned from = 0;
    std::vector<std::byte> contents;
  };

  /// Called at all members, in the same order as they make graphs. Throws std::logic_error if a
  /// member has ended without it.
  explicit letters(team_node& all) : all_(all) { all_.enter(*this); }
  ~letters() override { all_.leave(*this); }
  letters(const letters&) = delete;
  letters& operator=(const letters&) = delete;

  /// Any thread; does not block. `to` is another member.
  void send(unsigned to, const std::vector<std::byte>& contents);
  /// Whether there are letters. Any thread, by one load.
  bool any() const noexcept { return any_.load(std::memory_order_relaxed); }
  /// Takes what has come, in the order of each sender. Any thread; does not block.
  std::vector<letter> take();
  /// Blocks until there are letters; serves requests meanwhile. Throws `cancelled`, and
  /// std::logic_error in a team of one, where none can come.
  void await();

  bool receive(std::vector<std::byte> message, std::size_t first) override;
  void look_for_cancelled() noexcept override;

private:
  team_node& all_;
  const scope* const scope_ = here.current;
  std::vector<letter> come_;  // with the team's mutex
  std::atomic<bool> any_{false}, was_cancelled_{false};
};

}  // namespace cleave::detail
