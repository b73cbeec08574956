#include "sim/faults.hpp"

#include <algorithm>

namespace sim {
namespace {

using random = net::random_numbers;

/// A number from a to b, both included.
std::int64_t between(random& r, std::int64_t a, std::int64_t b) {
  return a + static_cast<std::int64_t>(r.below(static_cast<std::size_t>(b - a + 1)));
}
/// A number from a to b that is as often near the small end as near the large one, in proportion.
std::int64_t scaled(random& r, std::int64_t a, std::int64_t b) {
  std::int64_t top = a;
  while (top < b && r.below(3) != 0) top = std::min(b, top * 3);
  return between(r, a, top);
}

net::settings protocol_settings(random& r, instant latency) {
  net::settings s;
  // The times are in proportion to the network, as a user would set them; sometimes they are too
  // short for it.
  s.heartbeat_every = std::max(instant(5'000), latency * between(r, 1, 4));
  s.lost_after = 6 * s.heartbeat_every + 4 * latency;
  s.give_up_after = between(r, 0, 3) == 0 ? latency : 4 * latency + instant(20'000);
  s.give_up_soon = s.give_up_after;
  s.forget_after = 20 * s.heartbeat_every;
  s.short_life = 10 * s.lost_after;
  s.resend_after = 3 * latency + instant(2'000);
  s.nothing_for = instant(scaled(r, 1'000, 20'000));
  s.whom = static_cast<net::strategy>(between(r, 1, 4));
  s.any_requests = static_cast<unsigned>(between(r, 1, 4));
  s.hints = r.below(2) == 0;
  return s;
}

/// Published data of 1000 bytes go in one to twenty parts.
void add_publishing(random& r, net::settings& s) {
  s.small_bytes = r.below(4) == 0 ? 2'000 : 300;
  s.part_bytes = static_cast<std::size_t>(between(r, 50, 600));
  s.parts_ahead = static_cast<unsigned>(between(r, 1, 8));
  s.readers = static_cast<unsigned>(between(r, 1, 3));
  s.keep_published = s.heartbeat_every * between(r, 1, 20);
}

instant moment(random& r, instant span) {
  const std::int64_t most = std::max<std::int64_t>(span.count(), 2);
  return instant(r.below(2) == 0 ? scaled(r, 1, most) : between(r, 1, most));
}

/// What happens to nodes other than the root's.
std::vector<happening> faults(random& r, unsigned nodes, instant span, bool steady) {
  using kind = happening::kind;
  std::vector<happening> happenings;
  for (unsigned n = 0; n < nodes; ++n) {
    const bool late = n != 0 && r.below(5) == 0;
    const bool foreign = n > 1 && r.below(20) == 0;
    happenings.push_back({kind::join, late ? moment(r, span) : instant{}, n, 0, {}, foreign});
    if (n == 0 || steady) continue;
    for (std::size_t again = r.below(3); again > 0; --again) {
      const instant at = moment(r, span);
      if (r.below(5) < 2) {
        happenings.push_back({kind::leave, at, n, 0, 2 * moment(r, span), false});
      } else {
        happenings.push_back({kind::crash, at, n, 0, {}, false});
      }
      if (r.below(2) != 0) continue;
      const instant away = moment(r, span / (r.below(2) == 0 ? 4 : 100) + instant(500));
      happenings.push_back({kind::restart, at + away, n, 0, {}, r.below(20) == 0});
    }
  }
  for (std::size_t parts = steady ? 0 : r.below(6) / 4; parts > 0; --parts) {
    const instant at = moment(r, span);
    happenings.push_back({kind::part, at, 0, r.next(), {}, false});
    happenings.push_back({kind::heal, at + moment(r, span / 2), 0, 0, {}, false});
  }
  return happenings;
}

}  // namespace

schedule random_schedule(std::uint64_t seed) {
  random r(seed * 0x9e3779b97f4a7c15U + 1);
  schedule s;
  const bool search = r.below(2) == 0;
  const auto size = static_cast<std::uint32_t>(scaled(r, 100, 3'000));
  // One after the other: compilers do not agree on which argument is evaluated first.
  const bool with_errors = !search && r.below(2) == 0;
  s.work = random_tree(r.next(), size, with_errors);
  const auto nodes = static_cast<unsigned>(between(r, 2, 6));
  const instant latency(scaled(r, 20, 20'000));

  world_settings& w = s.world;
  w.seed = r.next();
  w.core.workers = static_cast<unsigned>(between(r, 1, 3));
  // The work takes from a few to a hundred times what a message does.
  const std::int64_t all_workers = std::int64_t{nodes} * w.core.workers;
  const instant work = latency * between(r, 10, 200);
  w.core.node_cost =
      instant(std::clamp<std::int64_t>(work.count() * all_workers / s.work.nodes(), 20, 20'000));
  w.core.poll_every = instant(scaled(r, 10, 2'000));
  w.core.search = search;
  w.protocol = protocol_settings(r, latency);
  if (r.below(2) == 0) w.loss = static_cast<double>(r.below(200)) / 1000;
  if (r.below(2) == 0) w.duplication = static_cast<double>(r.below(200)) / 1000;
  if (r.below(2) == 0) w.jitter = 2 * latency;
  w.reorders = r.below(2) == 0;
  w.tells_losses = r.below(2) == 0;
  const instant near = latency / between(r, 1, 20) + instant(1);
  const bool sites = r.below(2) == 0;
  w.site = [sites](net::address node) { return sites ? static_cast<unsigned>(node % 2) : 0U; };
  const double megabits = r.below(3) == 0 ? static_cast<double>(between(r, 1, 100)) : 0.0;
  w.between = [=](unsigned a, unsigned b) {
    return a == b ? link{near, 0} : link{latency, megabits};
  };

  const instant span = w.core.node_cost * s.work.nodes() * 2 / all_workers + 20 * latency;
  s.happenings = faults(r, nodes, span, r.below(4) == 0);
  random publishing(seed + 1'000'000'007);
  add_publishing(publishing, w.protocol);
  s.limit = w.core.node_cost * s.work.nodes() * 4 + 300 * w.protocol.lost_after + 10 * span;
  return s;
}

report run_schedule(std::uint64_t seed, net::mutation planted, bool logs) {
  schedule s = random_schedule(seed);
  s.world.protocol.planted = planted;
  s.world.logs = logs;
  return world(s.work, s.world).run(s.happenings, s.limit);
}

summary run_schedules(std::uint64_t first, std::uint64_t count, net::mutation planted,
                      bool stop_at_first) {
  summary all;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const report r = run_schedule(seed, planted);
    ++all.run;
    all.events += r.events;
    all.messages += r.messages;
    all.tasks += r.tasks;
    if (r.violation.empty()) continue;
    if (all.failed++ == 0) all.first_failed = seed, all.violation = r.violation;
    if (stop_at_first) break;
  }
  return all;
}

const std::vector<named_mutation>& planted_mutations() {
  using net::mutation;
  static const std::vector<named_mutation> all = {
      {mutation::takeback_of_finished, "takeback-of-finished"},
      {mutation::merge_twice, "merge-twice"},
      {mutation::forget_lost_thief, "forget-lost-thief"},
      {mutation::keep_taken_back, "keep-taken-back"},
      {mutation::forget_lost_twice, "forget-lost-twice"},
      {mutation::ignore_leave, "ignore-leave"},
      {mutation::answer_twice, "answer-twice"},
      {mutation::split_outside, "split-outside"},
      {mutation::result_without_shared, "result-without-shared"},
      {mutation::trust_old_incarnation, "trust-old-incarnation"},
      {mutation::drop_late_task, "drop-late-task"},
      {mutation::send_result_once, "send-result-once"},
      {mutation::ignore_missing, "ignore-missing"},
      {mutation::keep_orphans, "keep-orphans"},
      {mutation::forget_cancel, "forget-cancel"},
      {mutation::late_answer_lost, "late-answer-lost"},
      {mutation::append_any_part, "append-any-part"},
      {mutation::keep_silent_source, "keep-silent-source"},
      {mutation::forget_updates, "forget-updates"},
      {mutation::take_updates_twice, "take-updates-twice"},
      {mutation::pass_over_gap, "pass-over-gap"},
      {mutation::silent_none, "silent-none"},
  };
  return all;
}

}  // namespace sim
