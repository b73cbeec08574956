#include "node/mail.hpp"

#include <algorithm>
#include <utility>

namespace cleave::net {

void member_mail::set_team(std::uint64_t number, std::vector<address> members) {
  const std::lock_guard sending(sending_);
  team_ = number;
  members_ = std::move(members);
}

void member_mail::put(std::uint64_t team, unsigned rank, std::span<const std::byte> contents) {
  const std::lock_guard lock(mutex_);
  const auto has_room = [&](const letter& l) {
    return l.team == team && l.rank == rank && !l.contents.is_full();
  };
  auto to = std::ranges::find_if(letters_, has_room);
  if (to == letters_.end()) {
    const identity& self = out_.self();
    to = letters_.insert(to, {team, rank, team_letter(self.program, self.process, team)});
  }
  to->contents.add(contents);
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
      on_their_way_.push_back({members_[l.rank], l.contents.take()});
  leaving_.clear();
  out_.carrier().send_all(on_their_way_);
  on_their_way_.clear();
}

}  // namespace cleave::net
