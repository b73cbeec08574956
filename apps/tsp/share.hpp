// Collects different short tours over all workers of a job. Each searcher has a collection of its
// own, and tells others what it has found by a shared value, or only that it has all. Source: the
// paper that descent.hpp names, sections 4.4.3 and 4.4.5 to 4.4.7.
#pragma once

#include <cleave/cleave.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "collection.hpp"

namespace apps::tsp::parallel {

// The largest collection, and how many tours are in it.
using known_tours = cleave::shared<int, cleave::max, std::vector<tour>>;

// What searchers have found.
struct findings {
  tally runs;
  letters told;
  std::set<tour> tours;
  findings& operator+=(const findings& b) {
    runs += b.runs;
    told += b.told;
    tours.insert(b.tours.begin(), b.tours.end());
    return *this;
  }
  auto fields() { return std::tie(runs, told, tours); }
};

class searcher {
public:
  searcher(const instance& cities, const wanted_tours& wanted, const sharing& how,
           known_tours& known)
      : cities_(cities), wanted_(wanted), how_(how), known_(known), telling_(wanted, how) {}

  // Makes the runs number, number + searchers and so on, until somebody has all tours.
  findings run(int number) {
    for (int i = number; i < wanted_.most_runs && !complete(); i += how_.searchers) {
      cleave::poll();
      learn();
      if (complete()) break;
      auto t = run_descent(cities_, wanted_, i, own_.runs.seconds, [this] {
        cleave::poll();
        return complete();
      });
      if (t) take(*std::move(t));
    }
    if (how_.when == sending::never) offer();
    return std::move(own_);
  }

private:
  bool complete() const {
    return known_.get() >= wanted_.count || own_.tours.size() >= std::size_t(wanted_.count);
  }

  void learn() {
    if (how_.when == sending::never || known_.get() <= seen_) return;
    auto [count, tours] = known_.best();
    seen_ = count;
    if (tours) own_.tours.insert(tours->begin(), tours->end());
  }

  void take(tour t) {
    if (length_of(cities_, t) > wanted_.length) {
      own_.runs.failed++;
    } else if (!own_.tours.insert(std::move(t)).second) {
      own_.runs.same++;
    } else {
      own_.runs.found++;
      const bool is_enough = telling_.is_enough(++untold_, wanted_.count);
      if (how_.when != sending::never && (is_enough || complete())) tell();
    }
  }
  void tell() {
    learn();
    untold_ = 0;
    own_.told.tell(own_.tours.size(), cities_.cities, how_.searchers - 1);
    offer();
    telling_.told();
  }
  void offer() {
    known_.offer(static_cast<int>(own_.tours.size()), {own_.tours.begin(), own_.tours.end()});
  }

  const instance& cities_;
  const wanted_tours& wanted_;
  const sharing& how_;
  known_tours& known_;
  telling telling_;
  int untold_ = 0;  // new tours that were not told yet
  int seen_ = 0;    // how many tours the largest collection had that is known here
  findings own_;
};

inline findings search_tours(const cleave::published<instance>& cities, const wanted_tours& wanted,
                             const sharing& how, int first, int last,
                             const cleave::shared_ref<known_tours>& known) {
  return cleave::sum(
      first, last, [&](int number) { return searcher(*cities, wanted, how, *known).run(number); },
      [&](int from, int to) {
        return cleave::call<search_tours>(cities, wanted, how, from, to, known);
      });
}

// Where a searcher tells others nothing, the largest of their collections is what was found.
inline collected collect_sharing(const cleave::published<instance>& cities,
                                 const wanted_tours& wanted, const sharing& how) {
  known_tours known(0);
  findings all = search_tours(cities, wanted, how, 0, how.searchers, known);
  if (how.when == sending::never) {
    const auto most = known.best().second.value_or(std::vector<tour>());
    all.tours = {most.begin(), most.end()};
  }
  while (all.tours.size() > std::size_t(wanted.count)) all.tours.erase(std::prev(all.tours.end()));
  return {std::move(all.tours), all.runs, how.searchers, all.told};
}

}  // namespace apps::tsp::parallel
