#include "node/inquiries.hpp"

#include <algorithm>
#include <utility>

namespace cleave::net {
namespace {

using namespace std::chrono_literals;

constexpr int clock_readings = 8;
constexpr auto trace_within = 10s;

double clock_us() noexcept {
  using microseconds = std::chrono::duration<double, std::micro>;
  return microseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::vector<inquiries::answer> inquiries::ask(bool trace, std::chrono::milliseconds at_most) {
  std::lock_guard one(one_);
  open_inquiry asked{++last_, trace, false, {}, {}};
  std::unique_lock lock(mutex_);
  open_ = &asked;
  out_.carrier().ring();
  changed_.wait_for(lock, at_most, [&] { return asked.sent && asked.awaited.empty(); });
  open_ = nullptr;
  return std::move(asked.answers);
}

void inquiries::send() {
  std::lock_guard lock(mutex_);
  if (open_ == nullptr) return;
  const bool first = !std::exchange(open_->sent, true);
  for (const auto& [who, p] : tasks_.protocol().peers()) {
    if (!neighbours::is_open(p)) {
      open_->awaited.erase(who);
    } else if (first) {
      open_->awaited[who] = clock_us();
      out_.tell(who, inquiry{open_->number, open_->trace}, p.process);
    }
  }
  if (open_->awaited.empty()) changed_.notify_all();
}

void inquiries::hear(address from, const message& m) {
  if (m.to != 0 && m.to != out_.self().process) return;
  if (const auto* asked = std::get_if<inquiry>(&m.body)) answer_to(from, m, *asked);
  if (const auto* told = std::get_if<net::report>(&m.body)) keep(from, *told);
}

void inquiries::answer_to(address from, const message& m, const inquiry& asked) {
  node_report r = report_ ? report_(asked.trace) : node_report{};
  r.tasks_in = tasks_.tasks_in(), r.tasks_out = tasks_.tasks_out();
  r.carried = out_.carrier().counted();
  r.clock_us = clock_us();
  out_.tell(from, net::report{asked.number, encode(r)}, m.from);
}

void inquiries::keep(address from, const net::report& told) {
  std::lock_guard lock(mutex_);
  if (open_ == nullptr || open_->number != told.number) return;
  const auto at = open_->awaited.find(from);
  if (at == open_->awaited.end()) return;
  if (auto r = decode_report(told.contents)) {
    clock_offset clock;
    // On one host there is one clock.
    if (out_.carrier().how_far(from) == distance::same_host) clock = {0, 0};
    clock.improve(at->second, r->clock_us, clock_us());
    open_->answers.push_back({from, *std::move(r), clock});
  }
  open_->awaited.erase(at);
  if (open_->awaited.empty()) changed_.notify_all();
}

std::vector<trace::node_trace> inquiries::traces() {
  std::map<address, clock_offset> clocks;
  auto note = [&](const answer& a) {
    clock_offset& known = clocks[a.from];
    if (a.clock.error_us < known.error_us) known = a.clock;
  };
  for (int i = 0; i < clock_readings; ++i)
    for (const answer& a : ask(false, answer_within)) note(a);
  std::vector<trace::node_trace> all;
  for (answer& a : ask(true, trace_within)) {
    note(a);
    if (!a.what.trace) continue;
    a.what.trace->node = static_cast<std::uint32_t>(a.from);
    a.what.trace->first_us -= clocks[a.from].us;
    all.push_back(*std::move(a.what.trace));
  }
  std::ranges::sort(all, {}, &trace::node_trace::node);
  return all;
}

}  // namespace cleave::net
