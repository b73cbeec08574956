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
  std::erase_if(all, [this](const letter& l) { return l.team != team_; });  // members_ are others
  if (all.size() > 1) std::ranges::stable_sort(all, {}, &letter::rank);
  for (auto first = all.begin(); first != all.end();) {
    team_data message{team_, {}};
    const unsigned rank = first->rank;
    for (; first != all.end() && first->rank == rank; ++first)
      message.parts.push_back(std::move(first->contents));
    out_.tell(members_[rank], std::move(message));
  }
  out_.carrier().deliver();
}

}  // namespace cleave::net
