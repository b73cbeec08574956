#include "tsp_findings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace study::tours {
namespace {

using found = std::vector<finding>;
using verdict = finding::verdict;
verdict judged(bool holds) { return holds ? verdict::holds : verdict::fails; }

// The most searchers that were measured.
int most(const measured& m) {
  int n = 0;
  for (const cell& c : m.cells) n = std::max(n, c.searchers);
  return n;
}

void add_alone(found& to, const measured& m) {
  const cell* const one = m.alone();
  if (one == nullptr) return;
  const double runs = median_of(*one, "runs"), failed = median_of(*one, "failed");
  to.push_back(
      {"one searcher: 5512 s, 227 runs, 64 new tours, 26 the same, 137 failed; so 40 % of "
       "the runs find a tour",
       fmt::format("{:.2f} s, {:.0f} runs, {:.0f} new, {:.0f} the same, {:.0f} failed: "
                   "{:.0f} % find one",
                   median_of(*one, "seconds"), runs, median_of(*one, "new"),
                   median_of(*one, "same"), failed, 100 * (runs - failed) / runs),
       verdict::unknown});
}

void add_apart(found& to, const measured& m, int n) {
  const cell* const c = m.find("apart", "", n);
  if (c == nullptr) return;
  const double times = speedup_by_work(m, *c);
  to.push_back({"searchers that are apart are hardly faster than one: 1.35 times with 32",
                fmt::format("{:.2f} times with {}", times, n), judged(times < 2)});
}

void add_together(found& to, const measured& m, int n) {
  const cell* const c = m.find("together", "one", n);
  if (c == nullptr) return;
  const double times = speedup_by_work(m, *c);
  to.push_back({"together, one by one: nearly 32 times as fast with 32, and alike with fewer",
                fmt::format("{:.1f} times with {}", times, n), judged(times > 0.8 * n)});
}

// What is before the other: `a` is said to be the faster one.
void add_faster(found& to, const measured& m, const std::string& said, const cell* a,
                const cell* b) {
  if (a == nullptr || b == nullptr) return;
  const double first = speedup_by_work(m, *a), second = speedup_by_work(m, *b);
  to.push_back({said,
                fmt::format("{}: {:.1f} times; {}: {:.1f} times, with {}", a->name(), first,
                            b->name(), second, a->searchers),
                judged(first > second)});
}

void add_rules(found& to, const measured& m, int n) {
  const auto cell = [&](const char* how, const char* rule) { return m.find(how, rule, n); };
  for (const char* how : {"together", "master"})
    add_faster(to, m, std::string(how) + ": one by one is faster than part by part",
               cell(how, "one"), cell(how, "part"));
  add_faster(to, m, "together is faster than a master", cell("together", "one"),
             cell("master", "one"));
  add_faster(to, m,
             "half as many each time should be faster than part by part (not measured there)",
             cell("master", "halving"), cell("master", "part"));
  add_faster(to, m, "so should a part of what remains, as the master says (not measured there)",
             cell("master", "remaining"), cell("master", "part"));
}

void add_messages(found& to, const measured& m, int n) {
  const cell *const all = m.find("together", "one", n), *const master = m.find("master", "one", n);
  if (all == nullptr || master == nullptr) return;
  // The orders of a master to end are messages, too, and were there.
  const double many = median_of(*all, "told_messages"), few = median_of(*master, "sent");
  to.push_back({fmt::format("together sends as many times the messages of a master as there are "
                            "other searchers: {} here",
                            n - 1),
                fmt::format("{:.0f} messages and {:.0f}: {:.1f} times as many", many, few,
                            many / std::max(few, 1.0)),
                judged(many > 0.7 * (n - 1) * few && many < 1.5 * (n - 1) * few)});
}

void add_bytes(found& to, const measured& m, int n) {
  const cell* largest = nullptr;
  for (const cell& c : m.cells)
    if (c.searchers == n &&
        (largest == nullptr || median_of(c, "told_bytes") > median_of(*largest, "told_bytes")))
      largest = &c;
  if (largest == nullptr || median_of(*largest, "told_bytes") == 0) return;
  to.push_back({"all messages together are 600 KB at most (together, part by part)",
                fmt::format("{:.0f} KB ({}): each sends all that it knows, not only what is new",
                            median_of(*largest, "told_bytes") / 1e3, largest->name()),
                verdict::unknown});
}

}  // namespace

std::string finding::in_words() const {
  return is == verdict::holds ? "yes" : is == verdict::fails ? "no" : "";
}

std::vector<finding> findings_of(const measured& m) {
  constexpr int enough = 8;
  found all;
  const int n = most(m);
  add_alone(all, m);
  if (n < 2) return all;
  add_apart(all, m, n);
  add_together(all, m, n);
  add_rules(all, m, n);
  add_messages(all, m, n);
  add_bytes(all, m, n);
  if (n < enough || !m.disturbance().empty())
    for (finding& f : all) f.is = verdict::unknown;
  return all;
}

}  // namespace study::tours
