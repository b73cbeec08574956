#include "nats/json_line.hpp"

#include <nlohmann/json.hpp>

namespace cleave::net::nats {

using nlohmann::json;

std::string json_line(json head) {
  head["cleave"] = control_version;
  return head.dump();
}

namespace {

// The most bytes of a line: what is read of it takes several times as much.
constexpr std::size_t longest_head = 4 << 20;

}  // namespace

const char* read_json_line(std::string_view line, json& head) {
  if (line.size() > longest_head) return "longer than anything that is said";
  // No field is a fraction, and one of 9e300 does not fit into an integer.
  bool fractions = false;
  head = json::parse(
      line,
      [&](int, json::parse_event_t, json& value) {
        fractions |= value.is_number_float();
        return true;
      },
      false);
  if (fractions || !head.is_object()) return "no object of JSON, or with fractions in it";
  const auto version = head.find("cleave");
  if (version == head.end() || *version != control_version) return "of another version of Cleave";
  return nullptr;
}

}  // namespace cleave::net::nats
