#include "net/nats/control.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace cleave::net::nats {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(job_here, job, arguments, root, is_root, submitter, seconds,
                                   workers, computing, tasks_in, tasks_out)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(offer, program, hash, workers, leaving, jobs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(start, job, hash, arguments, patience)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(refusal, job, why)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(beat, job, have)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(alive, job, sent)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(cancel, job)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(part, job, number, what, status)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(notice, job, program, hash, arguments, over)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(presence, here, incarnation, workers, computing, tasks_in,
                                   tasks_out, every, asked)

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, std::variant_size_v<control>> kinds = {
    "who", "offer", "start", "refusal", "beat", "alive", "cancel", "part", "jobs"};

json head_of(const who&) { return json::object(); }
template <class Message>
json head_of(const Message& m) {
  return m;
}

void read(const json&, std::string_view, who&) {}
template <class Message>
void read(const json& head, std::string_view, Message& m) {
  head.get_to(m);
}
void read(const json& head, std::string_view rest, part& m) {
  head.get_to(m);
  if (m.what > part::of::end) throw std::invalid_argument("what");
  m.text = rest;
}

template <class Message>
constexpr bool of_a_job = requires(const Message& m) {
  m.job;
};

template <std::size_t I = 0>
const char* decode_one(std::size_t kind, const json& head, std::string_view rest,
                       control& message) {
  if constexpr (I < kinds.size()) {
    if (kind != I) return decode_one<I + 1>(kind, head, rest, message);
    auto& m = message.emplace<I>();
    read(head, rest, m);
    if constexpr (of_a_job<std::remove_reference_t<decltype(m)>>)
      if (!is_job_name(m.job)) return "its job's name is none";
    return nullptr;
  } else {
    return "an unknown kind";
  }
}

}  // namespace

bool is_job_name(std::string_view text) noexcept {
  constexpr std::size_t length = 16;
  return text.size() == length && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string_view kind_of(const control& message) noexcept { return kinds[message.index()]; }

std::string encode(const control& message) try {
  json head = std::visit([](const auto& m) { return head_of(m); }, message);
  head["cleave"] = control_version;
  std::string text = head.dump();
  if (const auto* p = std::get_if<part>(&message)) text += '\n' + p->text;
  return text;
} catch (const json::exception&) { throw std::invalid_argument("expected UTF-8"); }

namespace {

constexpr std::size_t longest_head = 4 << 20;  // bytes; what is read takes several times as much

/// The object in the first line of this version; otherwise what is wrong.
const char* read_head(std::string_view line, json& head) {
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

constexpr const char* incomplete = "something in it is missing, or is something else";

}  // namespace

const char* decode(std::string_view kind, std::string_view payload, control& message) {
  const std::size_t line = std::min(payload.find('\n'), payload.size());
  json head;
  if (const char* wrong = read_head(payload.substr(0, line), head)) return wrong;
  try {
    const auto at = std::find(kinds.begin(), kinds.end(), kind);
    return decode_one(static_cast<std::size_t>(at - kinds.begin()), head,
                      payload.substr(std::min(line + 1, payload.size())), message);
  } catch (const std::exception&) { return incomplete; }
}

std::string encode(const presence& p) {
  json head = p;
  head["cleave"] = control_version;
  return head.dump();
}

const char* decode(std::string_view payload, presence& p) {
  json head;
  if (const char* wrong = read_head(payload, head)) return wrong;
  try {
    head.get_to(p);
    return nullptr;
  } catch (const std::exception&) { return incomplete; }
}

}  // namespace cleave::net::nats
