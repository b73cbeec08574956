#include "nats/presence.hpp"

#include <nlohmann/json.hpp>

#include "nats/json_line.hpp"

namespace cleave::net::nats {

using nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(presence, here, incarnation, workers, computing, tasks_in,
                                   tasks_out, every, asked)

std::string encode(const presence& p) { return json_line(p); }

const char* decode(std::string_view payload, presence& p) {
  json head;
  if (const char* wrong = read_json_line(payload, head)) return wrong;
  try {
    head.get_to(p);
    return nullptr;
  } catch (const std::exception&) { return incomplete; }
}

}  // namespace cleave::net::nats
