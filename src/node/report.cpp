#include "node/report.hpp"

#include <bit>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/encoding.hpp"

namespace cleave::net {
namespace {

void put(writer& w, double d) { w.fixed(std::bit_cast<std::uint64_t>(d)); }
double get_double(reader& r) { return std::bit_cast<double>(r.fixed()); }

void put_text(writer& w, std::string_view text) { w.string(std::as_bytes(std::span(text))); }
std::string get_text(reader& r) {
  const bytes text = r.string();
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

/// Names of tasks have numbers from 1 on; 0 is none.
using name_numbers = std::map<std::string_view, std::uint64_t>;

name_numbers names_in(const trace::node_trace& t) {
  name_numbers names;
  for (const auto& worker : t.workers)
    for (const trace::span& s : worker.spans)
      if (s.name != nullptr) names.try_emplace(s.name, names.size() + 1);
  return names;
}
void put(writer& w, const name_numbers& names) {
  std::vector<std::string_view> in_order(names.size());
  for (const auto& [name, number] : names) in_order[number - 1] = name;
  w.number(in_order.size());
  for (const auto name : in_order) put_text(w, name);
}
std::shared_ptr<const std::deque<std::string>> get_names(reader& r) {
  std::deque<std::string> names;
  for (std::size_t n = r.count(); n > 0 && r.failed() == nullptr; --n) names.push_back(get_text(r));
  return std::make_shared<const std::deque<std::string>>(std::move(names));
}

void put(writer& w, const std::vector<stayed_task>& all) {
  w.number(all.size());
  for (const stayed_task& t : all) put_text(w, t.task), put_text(w, t.why), w.number(t.times);
}
std::vector<stayed_task> get_stayed(reader& r) {
  std::vector<stayed_task> all;
  for (std::size_t n = r.count(); n > 0 && r.failed() == nullptr; --n) {
    stayed_task& t = all.emplace_back();
    t.task = get_text(r), t.why = get_text(r), t.times = r.number();
  }
  return all;
}

void put(writer& w, const trace::span& s, std::uint64_t first, const name_numbers& names) {
  w.number(s.name == nullptr ? 0 : names.at(s.name));
  w.number(s.begin - first), w.number(s.end - s.begin);
  w.number(s.made), w.number(s.maker), w.number(s.node);
  w.byte(static_cast<std::uint8_t>(static_cast<unsigned>(s.what) << 1 | (s.found ? 1U : 0U)));
}
trace::span get_span(reader& r, std::uint64_t first, const std::deque<std::string>& names) {
  trace::span s{};
  const std::uint64_t name = r.number();
  if (name > names.size()) r.fail("unknown name");
  else if (name != 0) s.name = names[name - 1].c_str();
  s.begin = first + r.number();
  s.end = s.begin + r.number();
  s.made = r.number();
  s.maker = static_cast<std::uint32_t>(r.number());
  s.node = static_cast<std::uint32_t>(r.number());
  const std::uint8_t kind = r.byte();
  if (kind >> 1 > static_cast<unsigned>(trace::activity::join)) r.fail("unknown activity");
  s.what = static_cast<trace::activity>(kind >> 1);
  s.found = (kind & 1) != 0;
  return s;
}

void put(writer& w, const trace::node_trace& t) {
  w.number(t.first_tick);
  put(w, t.first_us), put(w, t.us_per_tick);
  put(w, t.spent.work), put(w, t.spent.dividing), put(w, t.spent.stealing);
  const name_numbers names = names_in(t);
  put(w, names);
  w.number(t.workers.size());
  for (const auto& worker : t.workers) {
    w.number(worker.left_out), w.number(worker.shortest), w.number(worker.spans.size());
    for (const trace::span& s : worker.spans) put(w, s, t.first_tick, names);
  }
}
trace::node_trace get_trace(reader& r) {
  trace::node_trace t;
  t.first_tick = r.number();
  t.first_us = get_double(r), t.us_per_tick = get_double(r);
  t.spent.work = get_double(r), t.spent.dividing = get_double(r), t.spent.stealing = get_double(r);
  t.names = get_names(r);
  for (std::size_t workers = r.count(); workers > 0 && r.failed() == nullptr; --workers) {
    auto& worker = t.workers.emplace_back();
    worker.left_out = r.number(), worker.shortest = r.number();
    for (std::size_t spans = r.count(); spans > 0 && r.failed() == nullptr; --spans)
      worker.spans.push_back(get_span(r, t.first_tick, *t.names));
  }
  return t;
}

}  // namespace

bytes encode(const node_report& n) {
  bytes out;
  writer w(out);
  put(w, n.clock_us);
  w.number(n.workers), w.number(n.splits), w.number(n.requests);
  put(w, n.cpu_seconds);
  w.number(n.tasks_in), w.number(n.tasks_out);
  w.number(n.carried.sent), w.number(n.carried.received);
  w.number(n.carried.sent_bytes), w.number(n.carried.received_bytes);
  put(w, n.stayed);
  w.byte(n.trace ? 1 : 0);
  if (n.trace) put(w, *n.trace);
  return out;
}

std::optional<node_report> decode_report(std::span<const std::byte> in) {
  reader r(in);
  node_report n;
  n.clock_us = get_double(r);
  n.workers = r.number(), n.splits = r.number(), n.requests = r.number();
  n.cpu_seconds = get_double(r);
  n.tasks_in = r.number(), n.tasks_out = r.number();
  n.carried.sent = r.number(), n.carried.received = r.number();
  n.carried.sent_bytes = r.number(), n.carried.received_bytes = r.number();
  n.stayed = get_stayed(r);
  if (r.byte() == 1) n.trace = get_trace(r);
  r.end();
  if (r.failed() != nullptr) return std::nullopt;
  return n;
}

}  // namespace cleave::net
