#include "protocol/message.hpp"

#include <cstring>
#include <limits>
#include <type_traits>

#include "protocol/encoding.hpp"

namespace cleave::net {
namespace {

void put(writer& w, const task_key& key) { w.number(key.task), w.number(key.attempt); }
void put(writer& w, const task_request& m) { w.number(m.request), put(w, m.wanted); }
void put(writer& w, const task& m) {
  w.number(m.request), put(w, m.key);
  w.number(m.type), w.number(m.depth), w.string(m.input), w.string(m.shared);
}
void put(writer& w, const none& m) { w.number(m.request), w.number(m.elsewhere); }
void put(writer& w, const task_result& m) {
  put(w, m.key), w.byte(static_cast<std::uint8_t>(m.how));
  w.string(m.result), w.string(m.shared);
}
void put(writer& w, const result_receipt& m) { put(w, m.key); }
void put(writer& w, const gathered_name& n) { w.fixed(n.maker), w.fixed(n.number); }
void put(writer& w, const heartbeat& m) {
  w.number(m.number), w.number(m.heard), w.byte(m.leaving ? 1 : 0);
  w.number(m.state.workers), w.number(m.state.busy), w.number(m.state.depth);
  w.number(m.held.size());
  for (const task_key& key : m.held) put(w, key);
  w.number(m.gathered.size());
  for (const gathered_version& one : m.gathered) put(w, one.name), w.number(one.version);
}
void put(writer& w, const leave& m) { w.byte(m.gone ? 1 : 0); }
void put(writer& w, const cancel& m) { put(w, m.key); }
void put(writer& w, const shared_update& m) { w.fixed(m.last), w.string(m.values); }
void put(writer& w, const fetch& m) {
  w.fixed(m.publisher), w.number(m.id), w.number(m.from), w.byte(m.again ? 1 : 0);
  w.fixed(m.without);
}
void put(writer& w, const published& m) {
  w.fixed(m.publisher), w.number(m.id), w.byte(static_cast<std::uint8_t>(m.how));
  w.fixed(m.elsewhere), w.number(m.at), w.number(m.size), w.string(m.contents);
}
void put(writer& w, const reject& m) { w.string(std::as_bytes(std::span(m.reason))); }
void put(writer& w, const inquiry& m) { w.number(m.number), w.byte(m.trace ? 1 : 0); }
void put(writer& w, const report& m) { w.number(m.number), w.string(m.contents); }
void put(writer& w, const team_begin& m) {
  w.number(m.team), w.number(m.members.size());
  for (const address who : m.members) w.number(who);
  w.number(m.type), w.string(m.input), w.string(m.shared);
}
void put(writer& w, const team_data& m) {
  w.number(m.team), w.number(m.parts.size());
  for (const bytes& part : m.parts) w.string(part);
}
void put(writer& w, const team_end& m) {
  w.number(m.team), w.byte(static_cast<std::uint8_t>(m.how)), w.number(m.ports);
  w.string(m.error), w.string(m.shared);
}
void put(writer& w, const team_cancel& m) { w.number(m.team); }
void put(writer& w, const gathered_updates& m) {
  put(w, m.name), w.number(m.first), w.number(m.updates.size());
  for (const bytes& update : m.updates) w.string(update);
}
void put(writer& w, const gathered_receipt& m) {
  put(w, m.name), w.number(m.number), w.number(m.version);
}
void put(writer& w, const gathered_news& m) {
  put(w, m.name), w.fixed(m.last), w.number(m.first), w.number(m.updates.size());
  for (const ordered_update& u : m.updates) w.fixed(u.from), w.number(u.number), w.string(u.update);
}
void put(writer& w, const gathered_ask& m) {
  put(w, m.name), w.byte(m.absent ? 1 : 0), w.number(m.version);
}
void put(writer& w, const gathered_value& m) {
  put(w, m.name), w.number(m.version), w.number(m.early), w.number(m.yours), w.string(m.value);
}

bool flag(reader& r) {
  const std::uint8_t value = r.byte();
  if (value > 1) r.fail("flag that is neither 0 nor 1");
  return value == 1;
}
std::uint32_t small(reader& r) {
  const std::uint64_t value = r.number();
  if (value > std::numeric_limits<std::uint32_t>::max()) r.fail("number above 32 bits");
  return static_cast<std::uint32_t>(value);
}

// The order of fields is that of the calls, each a full expression.
void get(reader& r, task_key& key) { key.task = r.number(), key.attempt = r.number(); }
void get(reader& r, task_request& m) { m.request = r.number(), get(r, m.wanted); }
void get(reader& r, task& m) {
  m.request = r.number(), get(r, m.key);
  m.type = r.number(), m.depth = r.number(), m.input = r.string(), m.shared = r.string();
}
void get(reader& r, none& m) { m.request = r.number(), m.elsewhere = r.number(); }
ending end_of_task(reader& r) {
  const std::uint8_t how = r.byte();
  if (how > static_cast<std::uint8_t>(ending::refused)) r.fail("unknown ending of a task");
  return static_cast<ending>(how);
}
void get(reader& r, task_result& m) {
  get(r, m.key), m.how = end_of_task(r);
  m.result = r.string(), m.shared = r.string();
}
void get(reader& r, result_receipt& m) { get(r, m.key); }
void get(reader& r, gathered_name& n) { n.maker = r.fixed(), n.number = r.fixed(); }
/// A list, whose elements get() reads.
template <class Element>
void get_list(reader& r, std::vector<Element>& all, void (*get_one)(reader&, Element&)) {
  const std::size_t count = r.count();
  for (std::size_t i = 0; i < count && r.failed() == nullptr; ++i) get_one(r, all.emplace_back());
}
void get(reader& r, gathered_version& one) { get(r, one.name), one.version = r.number(); }
void get(reader& r, ordered_update& u) {
  u.from = r.fixed(), u.number = r.number(), u.update = r.string();
}
void get(reader& r, bytes& b) { b = r.string(); }
void get(reader& r, heartbeat& m) {
  m.number = r.number(), m.heard = r.number(), m.leaving = flag(r);
  m.state.workers = small(r), m.state.busy = small(r), m.state.depth = small(r);
  get_list<task_key>(r, m.held, get);
  get_list<gathered_version>(r, m.gathered, get);
}
void get(reader& r, leave& m) { m.gone = flag(r); }
void get(reader& r, cancel& m) { get(r, m.key); }
void get(reader& r, shared_update& m) { m.last = r.fixed(), m.values = r.string(); }
void get(reader& r, fetch& m) {
  m.publisher = r.fixed(), m.id = r.number(), m.from = r.number(), m.again = flag(r);
  m.without = r.fixed();
}
void get(reader& r, published& m) {
  m.publisher = r.fixed(), m.id = r.number();
  const std::uint8_t how = r.byte();
  if (how > static_cast<std::uint8_t>(publishing::part)) r.fail("unknown answer to a fetch");
  m.how = static_cast<publishing>(how);
  m.elsewhere = r.fixed(), m.at = r.number(), m.size = r.number(), m.contents = r.string();
}
void get(reader& r, reject& m) {
  const bytes text = r.string();
  m.reason.assign(text.size(), '\0');
  if (!text.empty()) std::memcpy(m.reason.data(), text.data(), text.size());
}
void get(reader& r, inquiry& m) { m.number = r.number(), m.trace = flag(r); }
void get(reader& r, report& m) { m.number = r.number(), m.contents = r.string(); }
void get(reader& r, team_begin& m) {
  m.team = r.number();
  const std::size_t count = r.count();
  for (std::size_t i = 0; i < count && r.failed() == nullptr; ++i) m.members.push_back(r.number());
  m.type = r.number(), m.input = r.string(), m.shared = r.string();
}
void get(reader& r, team_data& m) {
  m.team = r.number();
  get_list<bytes>(r, m.parts, get);
}
void get(reader& r, team_end& m) {
  m.team = r.number(), m.how = end_of_task(r), m.ports = r.number();
  m.error = r.string(), m.shared = r.string();
}
void get(reader& r, team_cancel& m) { m.team = r.number(); }
void get(reader& r, gathered_updates& m) {
  get(r, m.name), m.first = r.number();
  get_list<bytes>(r, m.updates, get);
}
void get(reader& r, gathered_receipt& m) {
  get(r, m.name), m.number = r.number(), m.version = r.number();
}
void get(reader& r, gathered_news& m) {
  get(r, m.name), m.last = r.fixed(), m.first = r.number();
  get_list<ordered_update>(r, m.updates, get);
}
void get(reader& r, gathered_ask& m) { get(r, m.name), m.absent = flag(r), m.version = r.number(); }
void get(reader& r, gathered_value& m) {
  get(r, m.name), m.version = r.number(), m.early = r.number(), m.yours = r.number();
  m.value = r.string();
}

/// The kind of a reject, in every version.
constexpr std::size_t reject_kind = 11;
static_assert(std::is_same_v<std::variant_alternative_t<reject_kind, message_body>, reject>);
constexpr std::size_t team_data_kind = 15;
static_assert(std::is_same_v<std::variant_alternative_t<team_data_kind, message_body>, team_data>);

template <std::size_t Kind = 0>
void get_body(reader& r, std::size_t kind, message_body& body) {
  if constexpr (Kind < std::variant_size_v<message_body>) {
    if (kind != Kind) return get_body<Kind + 1>(r, kind, body);
    get(r, body.emplace<Kind>());
  } else {
    r.fail("unknown kind of message");
  }
}

}  // namespace

const char* name(const message_body& body) noexcept {
  static constexpr const char* names[] = {
      "task_request",  "task",         "none",          "task_result",      "result_receipt",
      "heartbeat",     "leave",        "cancel",        "shared",           "fetch",
      "published",     "reject",       "inquiry",       "report",           "team_begin",
      "team_data",     "team_end",     "team_cancel",   "gathered_updates", "gathered_receipt",
      "gathered_news", "gathered_ask", "gathered_value"};
  static_assert(std::size(names) == std::variant_size_v<message_body>);
  return names[body.index()];
}

namespace {

/// What is in front of a message's body.
void begin(writer& w, std::uint8_t version, std::size_t kind, std::uint64_t program,
           incarnation from, incarnation to) {
  w.byte(version), w.byte(static_cast<std::uint8_t>(kind));
  w.fixed(program), w.fixed(from), w.fixed(to);
}

}  // namespace

bytes encode(const message& m) {
  bytes out;
  constexpr std::size_t small = 64, length = 5;
  std::size_t size = small;
  if (const auto* data = std::get_if<team_data>(&m.body))
    for (const bytes& part : data->parts) size += length + part.size();
  out.reserve(size);
  writer w(out);
  begin(w, m.version, m.body.index(), m.program, m.from, m.to);
  std::visit([&](const auto& body) { put(w, body); }, m.body);
  return out;
}

namespace {

const char* read(reader r, message& m) {
  m.version = r.byte();
  const std::size_t kind = r.byte();
  m.program = r.fixed(), m.from = r.fixed(), m.to = r.fixed();
  if (m.version != wire_version && r.failed() == nullptr) {
    m.body = leave{};
    if (kind == reject_kind) m.body = reject{};
    r.skip();
  } else if (r.failed() == nullptr) {
    get_body(r, kind, m.body);
  }
  if (r.failed() == nullptr && m.from == 0) r.fail("no incarnation");
  r.end();
  return r.failed();
}

}  // namespace

void begin_team_data(bytes& out, std::uint64_t program, incarnation from, std::uint64_t team) {
  writer w(out);
  begin(w, wire_version, team_data_kind, program, from, 0);
  w.number(team);
}

bool is_team_data(std::span<const std::byte> in, std::uint64_t program) {
  reader r(in);
  return r.byte() == wire_version && r.byte() == team_data_kind && r.fixed() == program;
}

const char* decode(std::span<const std::byte> in, message& m) { return read(reader(in), m); }
const char* decode(bytes&& in, message& m) { return read(reader(&in), m); }

}  // namespace cleave::net
