// Collects different short tours over all workers of a job by a master and slaves: all search, the
// slaves send what they have found to the master, which alone knows what is new, and tells them how
// many tours are missing. Source: the paper that descent.hpp names, sections 4.4.4 and 4.4.6.
#pragma once

#include <cleave/cleave.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "collection.hpp"

namespace apps::tsp::parallel {

// What searchers have done.
struct searched {
  tally runs;
  letters told;
  searched& operator+=(const searched& b) {
    runs += b.runs;
    told += b.told;
    return *this;
  }
  auto fields() { return std::tie(runs, told); }
};

// From a node to the master: tours that a slave has found or, at its end, what its slaves have
// done.
struct to_master {
  std::vector<tour> tours;
  bool ended = false;
  searched done;
  auto fields() { return std::tie(tours, ended, done); }
};

// One node of the job. The master is on rank 0. All functions may be called by any worker.
class master_node {
public:
  master_node(const wanted_tours& wanted, const sharing& how, const cleave::team& all)
      : wanted_(wanted), how_(how), all_(all), found_(all), orders_(all), missing_(wanted.count) {}

  bool is_master() const { return all_.rank() == 0; }
  // How many tours are missing, as far as is known here.
  int missing() {
    hear();
    return missing_;
  }
  // Whether the tour is new to the master, on whose node this is.
  bool add(tour t) {
    const std::lock_guard lock(mutex_);
    return accept(std::move(t));
  }
  void tell(std::vector<tour> tours) {
    if (!is_master()) found_.send(0, {std::move(tours), false, {}});
    else
      for (tour& t : tours) take(std::move(t));
  }

  // Called on the master's node when its own searchers have ended: waits for the others'.
  collected end(searched own) {
    done_ += own;
    while (ended_ + 1 < all_.size())
      for (auto& letter : found_.wait()) read(std::move(letter.contents));
    done_.runs.found -= known_;
    done_.runs.same += known_;
    return {std::move(tours_), done_.runs, how_.searchers, done_.told};
  }
  // The same on another node.
  void end_here(const searched& own) { found_.send(0, {{}, true, own}); }

private:
  void hear() {
    if (found_.any())
      for (auto& letter : found_.take()) read(std::move(letter.contents));
    if (orders_.any())
      for (const auto& order : orders_.take()) {
        // Two workers may each have taken some.
        int least = missing_;
        while (order.contents < least && !missing_.compare_exchange_weak(least, order.contents)) {}
      }
  }
  void read(to_master letter) {
    for (tour& t : letter.tours) take(std::move(t));
    if (!letter.ended) return;
    const std::lock_guard lock(mutex_);
    ended_++;
    done_ += letter.done;
  }
  void take(tour t) {
    const std::lock_guard lock(mutex_);
    if (missing_ > 0 && !accept(std::move(t))) known_++;
  }
  // Called with the mutex.
  bool accept(tour t) {
    if (missing_ == 0 || !tours_.insert(std::move(t)).second) return false;
    missing_--;
    const telling rule(wanted_, how_);
    const int missing = missing_;
    const bool changes =
        how_.when == sending::remaining && rule.part_of(missing) != rule.part_of(missing + 1);
    if (missing > 0 && !changes) return true;
    for (unsigned to = 1; to < all_.size(); to++) orders_.send(to, missing);
    done_.told.messages += how_.searchers - 1;
    done_.told.bytes += (how_.searchers - 1) * std::int64_t{sizeof missing};
    return true;
  }

  const wanted_tours& wanted_;
  const sharing& how_;
  const cleave::team& all_;
  cleave::mailbox<to_master> found_;
  cleave::mailbox<int> orders_;  // from the master: how many tours are missing
  std::atomic<int> missing_;
  std::mutex mutex_;  // of the master's node; guards what follows
  std::set<tour> tours_;
  searched done_;           // by those that have ended, and what the master has told
  std::int64_t known_ = 0;  // tours that were new to a slave, but not to the master
  unsigned ended_ = 0;      // nodes
};

// A searcher makes the runs number, number + searchers and so on. Number 0 is the master.
inline searched search_for_master(const instance& cities, const wanted_tours& wanted,
                                  const sharing& how, int number, master_node& node) {
  searched own;
  telling rule(wanted, how);
  std::set<tour> known;
  std::vector<tour> untold;
  const auto take = [&](tour t) {
    if (length_of(cities, t) > wanted.length) own.runs.failed++;
    else if (number == 0) node.add(std::move(t)) ? own.runs.found++ : own.runs.same++;
    else if (!known.insert(t).second) own.runs.same++;
    else own.runs.found++, untold.push_back(std::move(t));
  };
  const auto tell = [&] {
    own.told.tell(untold.size(), cities.cities, 1);
    node.tell(std::exchange(untold, {}));
  };
  for (int i = number; i < wanted.most_runs; i += how.searchers) {
    cleave::poll();
    auto t = run_descent(cities, wanted, i, own.runs.seconds, [&node] {
      cleave::poll();
      return node.missing() == 0;
    });
    if (t) take(*std::move(t));
    const int missing = node.missing();
    if (missing == 0) break;
    if (untold.empty() || !rule.is_enough(static_cast<int>(untold.size()), missing)) continue;
    tell();
    rule.told();
  }
  if (!untold.empty() && node.missing() > 0) tell();
  return own;
}

// All members of the team call it; rank 0 has what was found.
inline collected collect_by_master(const instance& cities, const wanted_tours& wanted,
                                   const sharing& how, const cleave::team& all) {
  master_node node(wanted, how, all);
  const auto first = [&](unsigned rank) {
    return static_cast<int>(static_cast<std::int64_t>(how.searchers) * rank / all.size());
  };
  searched own = cleave::sum(first(all.rank()), first(all.rank() + 1), [&](int number) {
    return search_for_master(cities, wanted, how, number, node);
  });
  if (node.is_master()) return node.end(own);
  node.end_here(own);
  return {};
}

}  // namespace apps::tsp::parallel
