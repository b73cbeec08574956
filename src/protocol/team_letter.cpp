#include "protocol/team_letter.hpp"

#include "protocol/message.hpp"

namespace cleave::net {

team_letter::team_letter(std::uint64_t program, std::uint64_t from, std::uint64_t team) {
  constexpr std::size_t usual = 256;
  wire_.reserve(usual);
  begin_team_data(wire_, program, from, team);
  count_at_ = wire_.size();
  wire_.push_back({});
}

void team_letter::add(std::span<const std::byte> part) {
  writer(wire_).string(part);
  ++parts_;
}

bytes team_letter::take() noexcept {
  wire_[count_at_] = static_cast<std::byte>(parts_);
  return std::move(wire_);
}

team_parts::team_parts(bytes in) : in_(std::move(in)) {
  reader_.byte(), reader_.byte(), reader_.fixed();  // is_team_data() knows them
  if (reader_.fixed() == 0) reader_.fail("no incarnation");
  to_ = reader_.fixed(), team_ = reader_.number();
  left_ = reader_.count();
}

std::optional<bytes> team_parts::next() {
  if (wrong() != nullptr) return {};
  if (left_ == 0) {
    reader_.end();
    return {};
  }
  --left_;
  bytes part = reader_.string();
  if (wrong() != nullptr) return {};
  return part;
}

}  // namespace cleave::net
