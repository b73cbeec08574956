#include "cosched/turn_board.hpp"

#include "cosched/clock.hpp"
#include "machine/futex.hpp"

#include <algorithm>
#include <array>

namespace cleave::cosched {
namespace {

/// A job that was not seen for this long is thought to be gone.
constexpr nanoseconds gone_after = 1'000'000'000;

}  // namespace

std::uint64_t turn_board::encoded(const turn_of& t) noexcept {
  return static_cast<std::uint64_t>(t.until / 1'000) << 8 | t.whose;
}
turn_board::turn_of turn_board::decoded(std::uint64_t word) noexcept {
  return {static_cast<unsigned>(word & 0xff), static_cast<nanoseconds>(word >> 8) * 1'000};
}

bool turn_board::take(std::uint64_t from, const turn_of& to) noexcept {
  // Releases `ended` of the last job. Partner: the load in turns::stop().
  if (!turn.compare_exchange_strong(from, encoded(to), std::memory_order_acq_rel,
                                    std::memory_order_relaxed))
    return false;
  given.store(now(), std::memory_order_relaxed);
  return true;
}

void turn_board::tell() noexcept {
  bell.fetch_add(1, std::memory_order_release);  // after the turn; partners: stop(), watch()
  machine::wake_shared(bell);
}

bool turn_board::change(std::uint64_t from, const turn_of& to) noexcept {
  if (!take(from, to)) return false;
  usual.store(to.until - given.load(std::memory_order_relaxed), std::memory_order_relaxed);
  tell();
  return true;
}

bool turn_board::pass(std::uint64_t from, unsigned but, nanoseconds at, nanoseconds length,
                      nanoseconds longest) noexcept {
  const turn_of was = decoded(from);
  const unsigned last = was.whose;
  unsigned next = everybody, n = 1;
  std::array<unsigned, places> those{last};
  nanoseconds longest_ago = at;
  for (unsigned k = 1; k < places; ++k) {
    const nanoseconds paused = of[k].paused.load(std::memory_order_relaxed);
    // A job that stops says so at each turn. One that does not say it any more has been killed.
    if (k == but || paused == 0 || at - paused > 4 * longest) continue;
    if (k != last) those[n++] = k;
    const nanoseconds ended = of[k].ended.load(std::memory_order_relaxed);
    if (ended <= longest_ago) next = k, longest_ago = ended;
  }
  if (next == everybody) return false;
  // What the last job has had after the end of its turn nobody else wanted.
  const nanoseconds had = std::min(at, was.until) - given.load(std::memory_order_relaxed);
  const nanoseconds lacks = usual.load(std::memory_order_relaxed) - had;
  nanoseconds sum = lacks;
  for (unsigned i = 0; i < n; ++i) sum += of[those[i]].deficit.load(std::memory_order_relaxed);
  // The sum is that of the jobs that take turns now: others may have left with their deficits.
  const auto deficit = [&](unsigned k, nanoseconds most) {
    const nanoseconds all = of[k].deficit.load(std::memory_order_relaxed) + (k == last ? lacks : 0);
    return std::clamp(all - sum / n, -most / 2, most / 2);
  };
  of[last].ended.store(at, std::memory_order_relaxed);
  if (!take(from, {next, at + length + deficit(next, length)})) return false;
  usual.store(length, std::memory_order_relaxed);
  for (unsigned i = 0; i < n; ++i)
    of[those[i]].deficit.store(deficit(those[i], longest), std::memory_order_relaxed);
  tell();
  return true;
}

turn_board::present turn_board::who_is_there(nanoseconds at, unsigned me) const noexcept {
  present now_are;
  for (unsigned k = 1; k < places; ++k) {
    const place& p = of[k];
    if (k != me && at - p.seen.load(std::memory_order_relaxed) >= gone_after) continue;
    ++now_are.jobs;
    if (at - p.often.load(std::memory_order_relaxed) <= not_often_after)
      now_are.some_call_often = true;
    else if (at - p.seldom.load(std::memory_order_relaxed) < gone_after)
      now_are.some_call_seldom = true;
    else now_are.all_known = false;
  }
  return now_are;
}

}  // namespace cleave::cosched
