#include "node/driver.hpp"

#include <algorithm>
#include <utility>

// What a driver tells people, and asks other nodes for them.
namespace cleave::net {
namespace {

using namespace std::chrono_literals;

constexpr int clock_readings = 8;
constexpr auto answer_within = 1s;
constexpr auto trace_within = 10s;

double clock_us() noexcept {
  using microseconds = std::chrono::duration<double, std::micro>;
  return microseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::vector<driver::answer> driver::inquire(bool trace, std::chrono::milliseconds at_most) {
  std::lock_guard one(one_inquiry_);
  open_inquiry asked{++last_inquiry_, trace, false, {}, {}};
  std::unique_lock lock(mutex_);
  if (stopping_) return {};
  inquiry_ = &asked;
  carries_->ring();
  changed_.wait_for(lock, at_most, [&] { return asked.sent && asked.awaited.empty(); });
  inquiry_ = nullptr;
  return std::move(asked.answers);
}

/// Those that are gone are not waited for.
void driver::send_inquiries() {
  std::lock_guard lock(mutex_);
  if (inquiry_ == nullptr) return;
  const bool first = !std::exchange(inquiry_->sent, true);
  for (const auto& [who, p] : protocol_->peers()) {
    if (!p.reachable || p.foreign) {
      inquiry_->awaited.erase(who);
    } else if (first) {
      inquiry_->awaited[who] = clock_us();
      send(who,
           {self_.program, self_.process, p.process, inquiry{inquiry_->number, inquiry_->trace}});
    }
  }
  if (inquiry_->awaited.empty()) changed_.notify_all();
}

void driver::hear_of_reports(address from, const message& m) {
  if (m.to != 0 && m.to != self_.process) return;
  if (const auto* asked = std::get_if<inquiry>(&m.body)) {
    node_report r = report_ ? report_(asked->trace) : node_report{};
    r.tasks_in = tasks_in_, r.tasks_out = last_out_;
    r.carried = carries_->counted();
    r.clock_us = clock_us();
    send(from, {self_.program, self_.process, m.from, report{asked->number, encode(r)}});
  } else if (const auto* told = std::get_if<report>(&m.body)) {
    std::lock_guard lock(mutex_);
    if (inquiry_ == nullptr || inquiry_->number != told->number) return;
    const auto at = inquiry_->awaited.find(from);
    if (at == inquiry_->awaited.end()) return;
    if (auto r = decode_report(told->contents)) {
      clock_offset clock;
      // On one host there is one clock.
      if (carries_->how_far(from) == distance::same_host) clock = {0, 0};
      clock.improve(at->second, r->clock_us, clock_us());
      inquiry_->answers.push_back({from, *std::move(r), clock});
    }
    inquiry_->awaited.erase(at);
    if (inquiry_->awaited.empty()) changed_.notify_all();
  }
}

std::vector<trace::node_trace> driver::traces() {
  std::map<address, clock_offset> clocks;
  auto note = [&](const answer& a) {
    clock_offset& known = clocks[a.from];
    if (a.clock.error_us < known.error_us) known = a.clock;
  };
  for (int i = 0; i < clock_readings; ++i)
    for (const answer& a : inquire(false, answer_within)) note(a);
  std::vector<trace::node_trace> all;
  for (answer& a : inquire(true, trace_within)) {
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
