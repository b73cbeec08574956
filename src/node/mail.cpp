#include "node/mail.hpp"

#include <algorithm>
#include <utility>

namespace cleave::net {

/// The calling thread sends as long as this lives: if memory is lacking it ends by an exception.
struct member_mail::sending {
  std::atomic<bool>& flag;
  ~sending() { flag.store(false, std::memory_order_seq_cst); }
};

void member_mail::set_team(std::uint64_t number, std::vector<address> members) {
  const std::lock_guard lock(mutex_);
  letters_.clear();
  team_ = number;
  members_ = std::move(members);
}

/// Where a member is reached; nowhere, if that team is over. Called with the mutex.
std::optional<address> member_mail::member(std::uint64_t team, unsigned rank) const {
  if (team != team_) return {};
  return members_[rank];
}

std::optional<address> member_mail::where(std::uint64_t team, unsigned rank) const {
  const std::lock_guard lock(mutex_);
  return member(team, rank);
}

void member_mail::put(std::uint64_t team, unsigned rank, std::span<const std::byte> contents) {
  const std::lock_guard lock(mutex_);
  const auto whom = member(team, rank);
  if (!whom) return;
  const auto has_room = [&](const letter& l) { return l.to == *whom && !l.contents.is_full(); };
  auto to = std::ranges::find_if(letters_, has_room);
  if (to == letters_.end()) {
    const identity& self = out_.self();
    to = letters_.insert(to, {*whom, team_letter(self.program, self.process, team)});
  }
  to->contents.add(contents);
  any_.store(true, std::memory_order_seq_cst);
}

bytes member_mail::begin_letter(std::uint64_t team) const {
  bytes message;
  begin_only_part(message, out_.self().program, out_.self().process, team);
  return message;
}

void member_mail::send_letter(std::uint64_t team, unsigned rank, bytes& message,
                              std::size_t begun) {
  if (!out_.carrier().sends_from_any_thread() ||
      is_sending_.exchange(true, std::memory_order_seq_cst))
    return put(team, rank, std::span<const std::byte>(message).subspan(begun));
  {
    const sending ends{is_sending_};
    if (any_.load(std::memory_order_seq_cst)) send_all();
    end_only_part(message, begun);
    if (const auto to = where(team, rank)) {
      outgoing one{*to, std::move(message)};
      out_.carrier().send_all({&one, 1});
      message = std::move(one.message);
    }
  }
  send();  // what was put meanwhile
}

void member_mail::flush() {
  if (!out_.carrier().sends_from_any_thread()) return out_.carrier().ring();
  send();
}

void member_mail::send() {
  while (any_.load(std::memory_order_seq_cst)) {
    if (is_sending_.exchange(true, std::memory_order_seq_cst)) return;
    const sending ends{is_sending_};
    send_all();
  }
}

void member_mail::send_all() {
  {
    const std::lock_guard lock(mutex_);
    leaving_.swap(letters_);
    any_.store(false, std::memory_order_seq_cst);
  }
  for (letter& l : leaving_) on_their_way_.push_back({l.to, l.contents.take()});
  leaving_.clear();
  out_.carrier().send_all(on_their_way_);
  on_their_way_.clear();
}

}  // namespace cleave::net
