#include "node/mail.hpp"

#include <algorithm>
#include <utility>

namespace cleave::net {

void member_mail::set_team(std::uint64_t number, std::vector<address> members) {
  const std::lock_guard sending(sending_);
  team_ = number;
  members_ = std::move(members);
}

void member_mail::put(std::uint64_t team, unsigned rank, bytes contents) {
  const std::lock_guard lock(mutex_);
  const auto same = [&](const letter& l) { return l.team == team && l.rank == rank; };
  auto to = std::ranges::find_if(letters_, same);
  if (to == letters_.end()) to = letters_.insert(to, {team, rank, {}});
  to->parts.push_back(std::move(contents));
}

void member_mail::flush() {
  if (!out_.carrier().sends_from_any_thread()) return out_.carrier().ring();
  send();
}

void member_mail::send() {
  do {
    const std::unique_lock sending(sending_, std::try_to_lock);
    if (!sending) return;
    send_all();
  } while (has_letters());
}

bool member_mail::has_letters() {
  const std::lock_guard lock(mutex_);
  return !letters_.empty();
}

void member_mail::send_all() {
  {
    const std::lock_guard lock(mutex_);
    leaving_.swap(letters_);
  }
  if (leaving_.empty()) return;
  for (letter& l : leaving_)
    if (l.team == team_)  // else members_ are others
      out_.tell(members_[l.rank], team_data{team_, std::move(l.parts)});
  leaving_.clear();
  out_.carrier().deliver();
}

}  // namespace cleave::net
