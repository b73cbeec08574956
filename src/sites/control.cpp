#include "sites/control.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "nats/json_line.hpp"

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

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, std::variant_size_v<control>> kinds = {
    "who", "offer", "start", "refusal", "beat", "alive", "cancel", "part", "jobs"};

/// A message with a field that may be missing: Cleave's earlier versions do not have it.
template <class Message>
constexpr bool says_whom_to_ask = requires(const Message& m) {
  m.ask;
};

json head_of(const who&) { return json::object(); }
template <class Message>
json head_of(const Message& m) {
  json head = m;
  if constexpr (says_whom_to_ask<Message>)
    if (!m.ask.empty()) head["ask"] = m.ask;
  return head;
}

void read(const json&, std::string_view, who&) {}
template <class Message>
void read(const json& head, std::string_view, Message& m) {
  head.get_to(m);
  if constexpr (says_whom_to_ask<Message>) m.ask = head.value("ask", "");
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
  std::string text = json_line(std::visit([](const auto& m) { return head_of(m); }, message));
  if (const auto* p = std::get_if<part>(&message)) text += '\n' + p->text;
  return text;
} catch (const json::exception&) { throw std::invalid_argument("expected UTF-8"); }

const char* decode(std::string_view kind, std::string_view payload, control& message) {
  const std::size_t line = std::min(payload.find('\n'), payload.size());
  json head;
  if (const char* wrong = read_json_line(payload.substr(0, line), head)) return wrong;
  try {
    const auto at = std::find(kinds.begin(), kinds.end(), kind);
    return decode_one(static_cast<std::size_t>(at - kinds.begin()), head,
                      payload.substr(std::min(line + 1, payload.size())), message);
  } catch (const std::exception&) { return incomplete; }
}

}  // namespace cleave::net::nats
