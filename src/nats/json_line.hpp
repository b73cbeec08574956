#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

/// All that machines say to each other, except the messages of nodes, is one line of JSON, an
/// object.
namespace cleave::net::nats {

/// The version, which grows by one whenever a message changes (presence.hpp, sites/control.hpp).
/// Messages of another version are not understood.
inline constexpr int control_version = 3;

/// The line that says `head`, with the version. Throws nlohmann::json::exception if a text in it is
/// not UTF-8.
std::string json_line(nlohmann::json head);
/// The object in a line of this version. Returns nullptr, or what is wrong with the line.
const char* read_json_line(std::string_view line, nlohmann::json& head);

inline constexpr const char* incomplete = "something in it is missing, or is something else";

}  // namespace cleave::net::nats
