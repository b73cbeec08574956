#include "net_run.hpp"

#include <fmt/format.h>

#include <algorithm>
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

class experiment : public passes<experiment, measured> {
public:
  experiment(const settings& asked, const listener& to) : passes(asked, to), starts_(asked.cleave) {
    if (asked.goes_on) {
      require_same_machine();
    } else {
      m_.what = plan_of(asked.what);
      m_.machine = apps::processor(), m_.cpus = static_cast<int>(cpus_allowed().size());
      find_networks(!asked.what.networks.empty());
    }
    begin();
  }

  std::vector<networks::run> runs(int pass) const { return runs_of(m_.what, pass); }
  static std::string name(const networks::run& r) {
    return fmt::format("{}, {} ranks", r.network, r.ranks);
  }
  bool is_left_out(const networks::run& r) const {
    return std::any_of(m_.failures.begin(), m_.failures.end(), [&r](const failure& f) {
      return f.network == r.network && f.ranks == r.ranks;
    });
  }
  std::vector<cell> measure(const networks::run& r, int) {
    auto got = outcome_of(r);
    if (!got.failed.empty()) m_.failures.push_back({r.network, r.ranks, got.failed});
    return std::move(got.cells);
  }
  static void add(std::vector<cell>& to, const cell& one) {
    cell* const same = same_cell(to, one);
    if (same == nullptr) return;
    for (auto part : {&cell::counts, &cell::seconds, &cell::low, &cell::high})
      (same->*part).push_back((one.*part)[0]);
  }
  std::string why_nothing() const {
    return m_.out_of_time        ? "the time was over before anything was measured"
           : m_.failures.empty() ? "nothing was asked for"
                                 : m_.failures[0].network + ": " + m_.failures[0].reason;
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

private:
  void require_same_machine() const {
    require_same_processor();
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

  outcome outcome_of(const networks::run& r) {
    try {
      return starts_.outcome_of(r, m_.what, last_);
    } catch (const out_of_time&) { throw; } catch (const std::runtime_error& e) {
      if (is_interrupted()) throw;
      return {{}, e.what()};
    }
  }

  starter starts_;
};

}  // namespace

measured run_study(const settings& asked, const listener& to) {
  const until_interrupted watching;
  return experiment(asked, to).run();
}

}  // namespace study::networks
