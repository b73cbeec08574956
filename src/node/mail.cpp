#include "node/mail.hpp"

#include <map>
#include <utility>

namespace cleave::net {

void member_mail::set_team(std::uint64_t number, std::vector<address> members) {
  const std::lock_guard sending(sending_);
  team_ = number;
  members_ = std::move(members);
}

void member_mail::put(std::uint64_t team, unsigned rank, bytes contents) {
  const std::lock_guard lock(mutex_);
  letters_.push_back({team, rank, std::move(contents)});
}

void member_mail::flush() {
  if (!out_.carrier().sends_from_any_thread()) return out_.carrier().ring();
  send();
}

void member_mail::send() {
  while (has_letters()) {
    const std::unique_lock sending(sending_, std::try_to_lock);
    if (!sending) return;
    send_all();
  }
}

bool member_mail::has_letters() {
  const std::lock_guard lock(mutex_);
  return !letters_.empty();
}

void member_mail::send_all() {
  std::vector<letter> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(letters_);
  }
  // Each member gets one message, as each message costs a wake-up.
  std::map<unsigned, std::vector<bytes>> by_rank;
  for (auto& [team, rank, contents] : all)
    if (team == team_) by_rank[rank].push_back(std::move(contents));  // else members_ are others
  for (auto& [rank, parts] : by_rank) out_.tell(members_[rank], team_data{team_, std::move(parts)});
  out_.carrier().deliver();
}

}  // namespace cleave::net
