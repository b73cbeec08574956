#include "gang/messages.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace gang {
namespace {

using nlohmann::json;

constexpr std::size_t longest_name = 80, most_turns = 8;
// The latest moment: it is far beyond any clock, and no sum of a few such moments overflows.
constexpr std::int64_t latest = std::int64_t{1} << 60;

void bound(bool holds) {
  if (!holds) throw std::invalid_argument("more than it can be");
}

std::string name_in(const json& j, const char* field) {
  auto text = j.at(field).get<std::string>();
  bound(is_printable(text));
  return text;
}

std::string job_in(const json& j) {
  auto text = j.at("job").get<std::string>();
  bound(is_job_name(text));
  return text;
}

std::uint64_t version_in(const json& j) {
  const auto version = j.at("version").get<std::uint64_t>();
  bound(version <= most_version);
  return version;
}

json in_json(const turn& t) { return {{"n", t.number}, {"at", t.at.count()}, {"jobs", t.jobs}}; }

turn turn_in(const json& j) {
  turn t{j.at("n"), moment(j.at("at").get<std::int64_t>()), j.at("jobs")};
  bound(t.jobs.size() <= round_robin::most_together && t.at.count() >= 0 && t.at.count() < latest);
  return t;
}

// The object in a text, if it is of this version. No field is a fraction, and one of 9e300 does not
// fit into an integer.
json object_in(std::string_view text) {
  const auto whole = [](int, json::parse_event_t, json& value) {
    bound(!value.is_number_float());
    return true;
  };
  auto j = json::parse(text, whole, false);
  bound(j.is_object() && j.value("gang", 0) == messages_version);
  return j;
}

std::string in_text(const json& j) {
  return j.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string encode(const heartbeat& h) {
  json j{{"gang", messages_version}, {"leads", h.may_lead},
         {"slice", h.slice_ms},      {"trip", h.round_trip_us},
         {"error", h.error_us},      {"late", {h.late.median_us, h.late.most_us, h.late.counted}},
         {"parts", json::array()},   {"orders", json::array()}};
  for (const part& p : h.parts)
    j["parts"].push_back({{"user", p.user},
                          {"job", p.job},
                          {"command", p.command},
                          {"paused", p.paused},
                          {"version", p.version}});
  for (const order& o : h.orders)
    j["orders"].push_back({{"n", o.number},
                           {"do", o.what},
                           {"job", o.job},
                           {"user", o.user},
                           {"by", o.by},
                           {"version", o.version}});
  return in_text(j);
}

std::string encode(const announcement& a) {
  json j{{"gang", messages_version}, {"led", a.led}, {"turns", json::array()}};
  for (const turn& t : a.turns) j["turns"].push_back(in_json(t));
  return in_text(j);
}

std::optional<heartbeat> decode_heartbeat(std::string_view text) try {
  const json j = object_in(text);
  heartbeat h;
  h.may_lead = j.at("leads"), h.slice_ms = j.at("slice");
  h.round_trip_us = j.at("trip"), h.error_us = j.at("error");
  bound(h.slice_ms >= 1 && h.slice_ms <= 3'600'000 && h.round_trip_us >= 0 &&
        h.round_trip_us < latest);
  h.late = {j.at("late").at(0), j.at("late").at(1), j.at("late").at(2)};
  for (const json& p : j.at("parts"))
    h.parts.push_back(
        {name_in(p, "user"), job_in(p), name_in(p, "command"), p.at("paused"), version_in(p)});
  for (const json& o : j.at("orders"))
    h.orders.push_back({o.at("n"), name_in(o, "do"), job_in(o), name_in(o, "user"),
                        name_in(o, "by"), version_in(o)});
  bound(h.parts.size() <= most_parts && h.orders.size() <= most_orders);
  return h;
} catch (const std::exception&) { return std::nullopt; }

std::optional<announcement> decode_announcement(std::string_view text) try {
  const json j = object_in(text);
  announcement a;
  j.at("led").get_to(a.led);
  for (const json& t : j.at("turns")) a.turns.push_back(turn_in(t));
  bound(a.led.size() <= most_nodes && a.turns.size() <= most_turns);
  return a;
} catch (const std::exception&) { return std::nullopt; }

bool is_job_name(std::string_view text) {
  return !text.empty() && text.size() <= longest_name &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
         });
}

bool is_printable(std::string_view text) {
  return text.size() <= longest_name &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::string shortened(const std::string& command) {
  std::string text = command.substr(0, longest_name);
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text;
}

}  // namespace gang
