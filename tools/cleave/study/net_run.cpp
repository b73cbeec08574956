#include "net_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <stdexcept>
#include <tuple>

#include "cpus.hpp"
#include "interrupt.hpp"
#include "measured.hpp"
#include "net_jobs.hpp"
#include "support/command_line.hpp"
#include "support/processor.hpp"

namespace study::networks {
namespace {

using clock = std::chrono::steady_clock;

void add(std::vector<cell>& to, const cell& one) {
  const auto at =
      std::find_if(to.begin(), to.end(), [&one](const cell& c) { return c.is_same(one); });
  if (at == to.end()) return to.push_back(one);
  for (auto part : {&cell::counts, &cell::seconds, &cell::low, &cell::high})
    ((*at).*part).push_back((one.*part)[0]);
}

class experiment {
public:
  experiment(const settings& asked, const listener& to) : to_(&to), starts_(asked.cleave) {
    if (asked.time_limit > 0) last_ = clock::now() + std::chrono::seconds(asked.time_limit);
    if (asked.goes_on) {
      m_ = *asked.goes_on;
      m_.interrupted = m_.out_of_time = false;
      if (m_.whole == 0) m_.cells.clear();
      require_same_machine();
    } else {
      m_.what = plan_of(asked.what);
      m_.machine = apps::processor(), m_.cpus = static_cast<int>(cpus_allowed().size());
      find_networks(!asked.what.networks.empty());
    }
    m_.date = today();
    machine_.measure_capacity();
  }

  measured run() {
    try {
      while (m_.whole < m_.what.passes) run_pass();
    } catch (const out_of_time&) { m_.out_of_time = true; } catch (const std::runtime_error&) {
      if (!is_interrupted()) throw;
      m_.interrupted = true;
    }
    to_->begins({1, 1, 0, ""});
    machine_.measure_capacity();
    if (m_.cells.empty())
      throw std::runtime_error(m_.interrupted   ? "interrupted before anything was measured"
                               : m_.out_of_time ? "the time was over before anything was measured"
                               : m_.failures.empty()
                                   ? "nothing was asked for"
                                   : m_.failures[0].network + ": " + m_.failures[0].reason);
    return so_far();
  }

private:
  void require_same_machine() const {
    if (m_.machine != apps::processor())
      throw apps::usage_error(
          fmt::format("--resume: expected a study of this machine, got one of '{}'", m_.machine));
    for (const auto& network : m_.what.networks)
      if (const auto why = starts_.missing(network); !why.empty())
        throw apps::usage_error(fmt::format("--resume: {}: {}", network, why));
  }

  // Networks that were asked for must be here.
  void find_networks(bool asked) {
    std::vector<std::string> here;
    for (const auto& network : m_.what.networks) {
      const auto why = starts_.missing(network);
      if (why.empty()) here.push_back(network);
      else if (asked) throw apps::usage_error(fmt::format("--networks: {}: {}", network, why));
      else m_.missing.push_back(network + ": " + why);
    }
    if (here.empty()) throw std::runtime_error("no network to measure: " + m_.missing[0]);
    m_.what.networks = here;
  }

  bool has_failed(const networks::run& r) const {
    return std::any_of(m_.failures.begin(), m_.failures.end(), [&r](const failure& f) {
      return f.network == r.network && f.ranks == r.ranks;
    });
  }

  static std::string key(const networks::run& r) { return r.network + std::to_string(r.ranks); }

  // About the seconds that are left, as far as runs have been seen.
  double left(const std::vector<networks::run>& all, std::size_t from) const {
    double sum = 0, pass = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto known = took_.find(key(all[i]));
      const double one = known == took_.end() ? 0 : known->second;
      pass += one;
      if (i >= from) sum += one;
    }
    return sum + pass * (m_.what.passes - m_.whole - 1);
  }

  // What a pass has measured counts when all of it is there: so passes are the same for all cells,
  // and a study that goes on measures nothing twice.
  void run_pass() {
    const int pass = m_.whole + 1;
    const auto all = runs_of(m_.what, pass);
    std::vector<cell> found;
    const auto keep = [&] {
      for (const cell& c : found) add(m_.cells, c);
    };
    try {
      for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& r = all[i];
        const int done = m_.whole * static_cast<int>(all.size()) + static_cast<int>(i);
        to_->begins({done, m_.what.passes * static_cast<int>(all.size()), left(all, i),
                     fmt::format("{}, {} ranks", r.network, r.ranks)});
        if (has_failed(r)) continue;
        const auto begin = clock::now();
        const auto got = outcome_of(r);
        found.insert(found.end(), got.cells.begin(), got.cells.end());
        if (!got.failed.empty()) m_.failures.push_back({r.network, r.ranks, got.failed});
        took_[key(r)] = std::chrono::duration<double>(clock::now() - begin).count();
      }
    } catch (...) {
      if (m_.whole == 0) keep();  // better than nothing
      throw;
    }
    keep();
    ++m_.whole;
    to_->keep(so_far());
  }

  outcome outcome_of(const networks::run& r) {
    try {
      return starts_.outcome_of(r, m_.what, last_);
    } catch (const out_of_time&) { throw; } catch (const std::runtime_error& e) {
      if (is_interrupted()) throw;
      return {{}, e.what()};
    }
  }

  measured so_far() const {
    measured m = m_;
    m.beside = machine_.so_far();
    // What was measured on other hosts says nothing of this machine, nor this one of them.
    if (!m.what.where.hosts.empty())
      m.beside.others = m.beside.stolen = 0, m.beside.capacity.clear();
    std::sort(m.cells.begin(), m.cells.end(), [](const cell& a, const cell& b) {
      const auto place = [](const cell& c) {
        return std::tuple(c.what, c.ranks, c.bytes, c.pairs, c.algorithm, c.network);
      };
      return place(a) < place(b);
    });
    return m;
  }

  const listener* to_;
  deadline last_ = deadline::max();
  background_watch machine_;
  starter starts_;
  measured m_;
  std::map<std::string, double> took_;  // seconds of the last run of each kind
};

}  // namespace

measured run_study(const settings& asked, const listener& to) {
  const until_interrupted watching;
  return experiment(asked, to).run();
}

}  // namespace study::networks
