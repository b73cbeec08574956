#include "cosched_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>

#include "cosched_jobs.hpp"
#include "cpus.hpp"
#include "interrupt.hpp"
#include "measured.hpp"
#include "process.hpp"
#include "support/command_line.hpp"
#include "support/processor.hpp"

namespace study::sharing {
namespace {

using clock = std::chrono::steady_clock;

// The ranks of a job: CG and FT take powers of two, and the smallest FT 64 at most.
int ranks_of(int asked, std::size_t cpus) {
  if (asked == 0) return std::clamp(static_cast<int>(std::bit_floor(cpus)), 2, 64);
  if (std::has_single_bit(static_cast<unsigned>(asked))) return asked;
  throw apps::usage_error(fmt::format("--ranks: expected a power of two, got '{}'", asked));
}

// A job is to fill the CPUs that the study runs on.
void run_on_as_many(int ranks) {
  std::vector<int> cpus = cpus_allowed();
  if (cpus.size() <= static_cast<std::size_t>(ranks)) return;
  cpus.resize(static_cast<std::size_t>(ranks));
  run_only_on(cpus);
}

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

std::string in_minutes(double seconds) {
  const int s = static_cast<int>(seconds);
  return s < 60 ? fmt::format("{} s", s) : fmt::format("{} min {:02} s", s / 60, s % 60);
}

// How long a job takes alone, as plain MPI runs it. 0: not measured.
double alone(const std::vector<cell>& cells, const job& j) {
  for (const cell& c : cells) {
    if (c.part != "alone" || c.by.mode != "plain" || c.jobs[0].name() != j.name()) continue;
    std::vector<double> seconds;
    for (const auto& run : c.seconds) seconds.push_back(run[0]);
    return median(seconds);
  }
  return 0;
}

void take(cell& c, int pass, const std::vector<ended>& ends) {
  std::vector<double> begins, seconds;
  double cpu = 0;
  bool stopped = false;
  c.counts.clear();
  for (const ended& e : ends) {
    begins.push_back(e.begin), seconds.push_back(e.seconds);
    cpu += e.cpu_seconds;
    stopped = stopped || e.stopped;
    for (const auto& [name, n] : e.counts) c.counts[name] += n;
  }
  if (stopped) ++c.stopped;
  c.passes.push_back(pass);
  c.begins.push_back(begins), c.seconds.push_back(seconds);
  c.cpu_seconds.push_back(stopped ? std::numeric_limits<double>::quiet_NaN() : cpu);
}

// The mean over the jobs of one run of time by fair share, which follows from when they really
// began.
double by_fair_share(const std::vector<double>& seconds, const std::vector<double>& begins,
                     const std::vector<double>& lengths) {
  const auto fair = fair_seconds(begins, lengths);
  double sum = 0;
  for (std::size_t i = 0; i < seconds.size(); ++i) sum += seconds[i] / fair[i];
  return sum / static_cast<double>(seconds.size());
}

// Compares all cells with fair shares, which are known as soon as the jobs were measured alone, and
// better with each pass.
void compare_with_fair_shares(std::vector<cell>& cells) {
  for (cell& c : cells) {
    std::vector<double> lengths;
    for (const job& j : c.jobs) lengths.push_back(alone(cells, j));
    c.fair.clear();
    // The fair share is not known beside somebody else, or for another length.
    if (c.outsider || *std::min_element(lengths.begin(), lengths.end()) <= 0) continue;
    for (std::size_t i = 0; i < c.seconds.size(); ++i)
      c.fair.push_back(by_fair_share(c.seconds[i], c.begins[i], lengths));
  }
}

// How long runs take, with all around them: at first from what jobs take alone, then from the runs
// there were.
class forecast {
public:
  forecast(const std::vector<cell>& cells, double to_start)
      : cells_(&cells), took_(cells.size(), 0.0), to_start_(to_start) {}

  double of(std::size_t at) const {
    return took_[at] > 0 ? took_[at] : first(at) * (planned_ > 0 ? did_ / planned_ : 1);
  }
  void took(std::size_t at, double seconds) {
    if (took_[at] == 0) planned_ += first(at), did_ += seconds;
    took_[at] = seconds;
  }
  // Ranks that spin beside others take 2.2 to 5.2 times their share.
  double limit(std::size_t at) const { return 2 + 6 * fair_end((*cells_)[at]); }

private:
  double first(std::size_t at) const {
    const cell& c = (*cells_)[at];
    const bool many = c.jobs.size() > 1;
    const double slow = many && c.by.mode == "plain" ? 2.5 : 1.1;
    return fair_end(c) * slow + to_start_ * (many ? 1.5 : 1);
  }

  const std::vector<cell>* cells_;
  std::vector<double> took_;  // each cell's last run; 0: none yet
  double to_start_;           // what it takes to start one job
  double planned_ = 0, did_ = 0;
};

class experiment {
public:
  experiment(const settings& asked, const listener& to)
      : to_(&to),
        quick_(asked.what.quick),
        with_(find_launcher(asked.cleave, asked.mpi)),
        gang_(with_, work_.path()) {
    last_ =
        asked.time_limit > 0 ? begin_ + std::chrono::seconds(asked.time_limit) : deadline::max();
    m_.date = today(), m_.machine = apps::processor(), m_.mpi = with_.mpi;
    m_.cpus = static_cast<int>(cpus_allowed().size());
    m_.size = quick_ ? "quick" : "full";
    m_.seconds = asked.seconds > 0 ? asked.seconds : quick_ ? 0.2 : 1.2;
    m_.passes = asked.passes > 0 ? asked.passes : quick_ ? 1 : 3;
    machine_.measure_capacity();
    const auto& parts = asked.what.parts;
    draws_ = !asked.what.figures &&
             (parts.empty() || std::find(parts.begin(), parts.end(), "timeline") != parts.end());
  }

  measured run(const choice& what) {
    try {
      measure(what);
    } catch (const out_of_time&) { m_.out_of_time = true; } catch (const std::runtime_error&) {
      if (!is_interrupted()) throw;
    }
    to_->begins({all_, all_, 0, ""});
    m_.interrupted = is_interrupted();
    machine_.measure_capacity();
    const bool any =
        !m_.timelines.empty() || std::any_of(m_.cells.begin(), m_.cells.end(), [](const cell& c) {
          return !c.seconds.empty() || !c.failed.empty();
        });
    if (!any)
      throw std::runtime_error(m_.out_of_time ? "the time was over before anything was measured"
                                              : "interrupted before anything was measured");
    return so_far();
  }

private:
  std::vector<ended> run_once(const std::vector<job>& jobs, const way& by, bool outsider,
                              double limit) {
    if (clock::now() > last_) throw out_of_time();
    return run_jobs(with_, jobs, by, outsider, work_.path(), limit, last_);
  }

  // Finds how long each kernel takes, and how long a job takes to start.
  double calibrate(kernels& k) {
    double to_start = 0;
    for (job* j : {&k.cg, &k.ft}) {
      const auto begin = clock::now();
      const auto e = run_once({*j}, {"plain"}, false, 120)[0];
      if (e.stopped) throw std::runtime_error(j->name() + " takes more than two minutes");
      to_start = std::max(to_start, seconds_since(begin) - e.seconds);
      make_last(*j, e.seconds, m_.seconds);
    }
    return to_start;
  }

  void tell_forecast(const forecast& of, const std::vector<std::size_t>& pass,
                     const kernels& k) const {
    double sum = 0;
    for (const std::size_t at : pass) sum += of.of(at);
    to_->planned(
        fmt::format("{} runs in each of {} {}, with {}: {} a pass, {} in all; {} takes {:.1f} s "
                    "alone, {} {:.1f} s",
                    pass.size(), m_.passes, m_.passes == 1 ? "pass" : "passes", m_.mpi,
                    in_minutes(sum), in_minutes(sum * m_.passes + drawing(k)), k.cg.name(),
                    k.cg.expected, k.ft.name(), k.ft.expected));
  }
  // The seconds of the drawings: three jobs six times, two of them under plain MPI.
  double drawing(const kernels& k) const { return draws_ ? 40 * k.cg.expected : 0; }

  void measure(const choice& what) {
    kernels k(quick_, what.ranks);
    const double to_start = calibrate(k);
    const cases all = cases_of(what, with_.mpi, k, m_.seconds);
    m_.cells = all.cells;
    forecast of(m_.cells, to_start);
    all_ = m_.passes * static_cast<int>(all.pass.size()) + (draws_ ? 1 : 0);
    tell_forecast(of, all.pass, k);
    for (int pass = 0; pass < m_.passes; ++pass) {
      // Neighbours are the ways of one experiment; each pass begins elsewhere, every second runs
      // backwards.
      auto order = all.pass;
      std::rotate(order.begin(),
                  order.begin() + static_cast<std::ptrdiff_t>(order.size()) * pass / m_.passes,
                  order.end());
      if (pass % 2 == 1) std::reverse(order.begin(), order.end());
      double rest = drawing(k);
      for (const std::size_t at : all.pass) rest += of.of(at) * (m_.passes - 1 - pass);
      for (std::size_t i = 0; i < order.size(); ++i) {
        double left = rest;
        for (std::size_t n = i; n < order.size(); ++n) left += of.of(order[n]);
        const cell& next = m_.cells[order[i]];
        to_->begins({done_++, all_, left, next.title() + ", " + next.by.name()});
        run_cell(order[i], pass + 1, of);
      }
      const auto failed = [this](std::size_t at) { return !m_.cells[at].failed.empty(); };
      if (std::none_of(all.pass.begin(), all.pass.end(), failed)) ++m_.whole;
      to_->keep(so_far());
    }
    if (!draws_) return;
    to_->begins({done_++, all_, drawing(k), "timelines"});
    draw(k);
  }

  void run_cell(std::size_t at, int pass, forecast& of) {
    cell& c = m_.cells[at];
    if (!c.failed.empty()) return;
    const auto begin = clock::now();
    try {
      take(c, pass, run_once(c.jobs, c.by, c.outsider, of.limit(at)));
    } catch (const out_of_time&) { throw; } catch (const std::runtime_error& e) {
      if (is_interrupted()) throw;
      c.failed = e.what();
    }
    of.took(at, seconds_since(begin));
    to_->keep(so_far());
  }

  // What was measured so far, with fair shares.
  measured so_far() const {
    measured m = m_;
    m.beside = machine_.so_far();
    compare_with_fair_shares(m.cells);
    std::erase_if(m.cells, [](const cell& c) { return c.seconds.empty() && c.failed.empty(); });
    return m;
  }

  void draw(const kernels& k) {
    job steps = bsp(5'000, 50, k.cg.ranks, k.fill, quick_ ? 0.3 : 1.2);
    steps.arguments.insert(steps.arguments.end(), {"--marks", "200"});
    std::vector<std::vector<job>> shown = {{steps, steps, steps}};
    if (!quick_) shown.insert(shown.begin(), {k.cg, k.cg, k.cg});
    for (const auto& jobs : shown)
      for (const char* mode : {"plain", "gang", "two-phase"}) {
        m_.timelines.push_back(timeline_of(jobs, {mode}));
        to_->keep(so_far());
      }
  }

  timeline timeline_of(const std::vector<job>& jobs, const way& by) {
    constexpr int shown = 300;  // milliseconds
    timeline t;
    double from = 0;
    const double limit = 2 + 6 * jobs[0].expected * static_cast<double>(jobs.size());
    const auto ends = run_jobs(with_, jobs, by, false, work_.path(), limit, last_,
                               [&](const std::vector<int>& launchers, double begin) {
                                 from = begin + 0.1;
                                 t = sample(with_, launchers, jobs, from, shown);
                               });
    t.by = by;
    std::vector<std::size_t> seen(jobs.size());  // ranks of each job
    for (auto& r : t.ranks) {
      const auto of = static_cast<std::size_t>(r.job), rank = seen[of]++;
      const auto& marks = ends[of].marks;
      const std::size_t n = marks.size() / static_cast<std::size_t>(jobs[of].ranks);
      for (std::size_t i = rank * n; i < (rank + 1) * n; ++i)
        if (marks[i] >= from && marks[i] < from + 0.001 * shown) r.marks.push_back(marks[i] - from);
    }
    return t;
  }

  const listener* to_;
  bool quick_, draws_ = false;
  clock::time_point begin_ = clock::now();
  deadline last_;
  background_watch machine_;
  launcher with_;
  scratch work_;
  gang_daemon gang_;
  measured m_;
  int done_ = 0, all_ = 0;
};

}  // namespace

measured run(const settings& as_asked, const listener& to) {
  settings asked = as_asked;
  // What was asked for wrongly is said before all else.
  asked.what.ranks = ranks_of(asked.what.ranks, cpus_allowed().size());
  (void)cases_of(asked.what, asked.mpi, kernels(true, asked.what.ranks), 1);
  run_on_as_many(asked.what.ranks);
  const until_interrupted watching;
  return experiment(asked, to).run(asked.what);
}

}  // namespace study::sharing
