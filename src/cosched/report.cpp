#include "cosched/report.hpp"

#include <cstdio>

namespace cleave::cosched {
namespace {

double seconds(nanoseconds t) { return static_cast<double>(t) * 1e-9; }
double microseconds(nanoseconds t) { return static_cast<double>(t) * 1e-3; }

/// The pattern with what was counted. Every pattern names the same values in the same order.
std::string filled(const char* pattern, const report& r) {
  const counts& c = r.total;
  const auto n = [](std::int64_t v) { return static_cast<long long>(v); };
  char text[1024];
  std::snprintf(text, sizeof text, pattern, name_of(r.by), microseconds(r.spin),
                microseconds(r.context_switch), microseconds(r.wake), r.ranks, n(c.calls),
                n(c.waits), n(c.spun), n(c.slept), n(c.late), n(c.sleeps), n(c.events),
                n(c.for_nothing), n(c.timeouts), n(c.rings), n(c.longer), n(c.yields),
                seconds(c.yield_time), n(c.stops), seconds(c.stop_time), seconds(c.spin_time),
                seconds(c.sleep_time));
  return text;
}

}  // namespace

std::string as_text(const report& r) {
  return filled(
      "cosched: %s, spin time %.1f us (a context switch takes %.1f us, a wake-up %.1f us), %d "
      "ranks\n"
      "  %lld blocking calls, %lld waits: %lld ended while spinning, %lld after sleeping, %lld of "
      "them late\n"
      "  %lld sleeps, %lld ended by other nodes, %lld for nothing, %lld after the longest time; "
      "%lld rings\n"
      "  %lld waits spun longer, on a free CPU\n"
      "  %lld times left the CPU to the job's other ranks, %.3f s\n"
      "  %lld stops in other jobs' turns, %.3f s\n"
      "  %.3f s spun, %.3f s slept\n",
      r);
}

std::string as_json(const report& r) {
  return filled(
      "{\"policy\":\"%s\",\"spin_time_us\":%.3f,\"context_switch_us\":%.3f,\"wake_us\":%.3f,"
      "\"ranks\":%d,\"calls\":%lld,\"waits\":%lld,\"ended_spinning\":%lld,\"ended_sleeping\":%lld,"
      "\"ended_late\":%lld,\"sleeps\":%lld,\"by_other_nodes\":%lld,\"for_nothing\":%lld,"
      "\"timeouts\":%lld,\"rings\":%lld,"
      "\"spun_longer\":%lld,\"yields\":%lld,\"yielded_s\":%.6f,\"stops\":%lld,\"stopped_s\":%.6f,"
      "\"spun_s\":%.6f,\"slept_s\":%.6f}",
      r);
}

}  // namespace cleave::cosched
