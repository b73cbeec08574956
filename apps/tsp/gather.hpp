// Collects different short tours over all workers of a job, in one variable that all nodes have and
// change: what share.hpp does by a collection of each searcher's own. Source: the paper that
// descent.hpp names, section 4.4.7.
#pragma once

#include <cleave/cleave.hpp>
#include <cleave/gathered.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

#include "collection.hpp"
#include "share.hpp"

namespace apps::tsp::parallel {

// Returns whether the tour is new.
struct add_tour {
  static constexpr bool commutative = true, idempotent = true;
  bool operator()(std::set<tour>& all, const tour& t) const { return all.insert(t).second; }
};
using gathered_tours = cleave::gathered<std::set<tour>, add_tour>;

class gathering_searcher {
public:
  gathering_searcher(const instance& cities, const wanted_tours& wanted, const sharing& how,
                     gathered_tours& tours)
      : cities_(cities), wanted_(wanted), how_(how), tours_(tours) {
    look();
  }

  // Makes the runs number, number + searchers and so on, until all tours are there.
  findings run(int number) {
    for (int i = number; i < wanted_.most_runs && !complete(); i += how_.searchers) {
      cleave::poll();
      auto t = run_descent(cities_, wanted_, i, own_.runs.seconds, [this] {
        cleave::poll();
        return complete();
      });
      if (t) take(*t);
    }
    return std::move(own_);
  }

private:
  void look() {
    known_ = tours_.read([](const std::set<tour>& all) { return all.size(); });
  }
  bool complete() {
    if (tours_.has_news()) look();
    return known_ >= static_cast<std::size_t>(wanted_.count);
  }
  void take(const tour& t) {
    if (length_of(cities_, t) > wanted_.length) {
      own_.runs.failed++;
    } else if (!tours_.update(t)) {
      own_.runs.same++;
    } else {
      own_.runs.found++;
      own_.told.tell(1, cities_.cities, how_.searchers - 1);
    }
    look();
  }

  const instance& cities_;
  const wanted_tours& wanted_;
  const sharing& how_;
  gathered_tours& tours_;
  std::size_t known_ = 0;
  findings own_;
};

inline findings search_gathering(const cleave::published<instance>& cities,
                                 const wanted_tours& wanted, const sharing& how, int first,
                                 int last, const cleave::gathered_ref<gathered_tours>& tours) {
  return cleave::sum(
      first, last,
      [&](int number) { return gathering_searcher(*cities, wanted, how, *tours).run(number); },
      [&](int from, int to) {
        return cleave::call<search_gathering>(cities, wanted, how, from, to, tours);
      });
}

inline cleave::telling telling_of(const wanted_tours& wanted, const sharing& how) {
  const auto part = static_cast<std::size_t>(std::max(1, wanted.count / how.searchers));
  return how.when == sending::part       ? cleave::telling::together(part)
         : how.when == sending::halving  ? cleave::telling::halving(part)
         : how.when == sending::doubling ? cleave::telling::doubling()
                                         : cleave::telling::one_by_one();
}

inline collected collect_gathering(const cleave::published<instance>& cities,
                                   const wanted_tours& wanted, const sharing& how) {
  gathered_tours tours({}, telling_of(wanted, how));
  findings all = search_gathering(cities, wanted, how, 0, how.searchers, tours);
  all.tours = tours.get();
  while (all.tours.size() > std::size_t(wanted.count)) all.tours.erase(std::prev(all.tours.end()));
  return {std::move(all.tours), all.runs, how.searchers, all.told};
}

}  // namespace apps::tsp::parallel
