#include "protocol/team_letter.hpp"

#include "protocol/message.hpp"

namespace cleave::net {
namespace {

/// The bytes of a length that is written when what follows is known: each has seven bits of it.
constexpr std::size_t length_bytes = 9;

}  // namespace

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

void begin_only_part(bytes& letter, std::uint64_t program, std::uint64_t from, std::uint64_t team) {
  begin_team_data(letter, program, from, team);
  letter.push_back(std::byte{1});
  letter.resize(letter.size() + length_bytes, std::byte{0x80});
  letter.back() = {};
}

void end_only_part(bytes& letter, std::size_t begun) noexcept {
  std::uint64_t length = letter.size() - begun;
  for (std::size_t at = begun - length_bytes; at != begun; ++at, length >>= 7)
    letter[at] = (letter[at] & std::byte{0x80}) | static_cast<std::byte>(length & 0x7f);
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
