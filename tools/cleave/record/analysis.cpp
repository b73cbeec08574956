#include "record/analysis.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

namespace record {
namespace {

// Messages up to this size tell what each one costs, from the other size on what a byte costs.
constexpr double small = 1024, large = 16384;

struct sample {
  double bytes, time;
};

// Messages for which their receiver has waited.
std::vector<sample> samples_of(const job& of, dependence::kind kind) {
  std::vector<sample> all;
  for (const rank_steps& r : of.ranks)
    for (std::size_t i = 0; i < r.steps.size(); ++i) {
      const step& s = r.steps[i];
      double latest = s.begin;
      const dependence* last = nullptr;
      for (const dependence& d : r.dependences_of(i))
        if (const double begun = of.ranks[d.rank].steps[d.call].begin; begun > latest)
          latest = begun, last = &d;
      if (last != nullptr && last->of == kind) all.push_back({last->bytes, s.end - latest});
    }
  return all;
}

// A tenth of them took less time.
double fast_one(std::vector<double>& times) {
  const auto at = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 10);
  std::nth_element(times.begin(), at, times.end());
  return *at;
}

// Walks back from the end: from each call that has waited to the one that it has waited for.
class path_walk {
public:
  path_walk(const job& of, const transit& by) : of_(of), by_(by) {}

  std::vector<path_part> walk() {
    std::uint32_t rank = 0;
    for (std::uint32_t r = 0; r < of_.ranks.size(); ++r)
      if (of_.ranks[r].end > of_.ranks[rank].end) rank = r;
    double until = of_.ranks[rank].end;
    for (std::size_t next = of_.ranks[rank].steps.size();;) {
      if (next == 0) {
        add(rank, no_site, path_part::kind::computing, until);
        break;
      }
      const std::size_t i = next - 1;
      const step& s = of_.ranks[rank].steps[i];
      add(rank, s.site, path_part::kind::computing, until - s.end);
      const parts p = parts_of(of_, by_, rank, i);
      if (p.last) {
        add(rank, s.site, path_part::kind::communicating, s.end - p.reached);
        until = p.reached, rank = p.last->rank, next = p.last->call;
      } else {
        add(rank, s.site, path_part::kind::communicating, s.end - s.begin);
        until = s.begin, next = i;
      }
    }
    std::vector<path_part> all;
    for (const auto& [key, time] : found_)
      all.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), time});
    std::ranges::sort(all, std::greater<>(), &path_part::time);
    return all;
  }

private:
  void add(std::uint32_t rank, std::uint32_t site, path_part::kind kind, double time) {
    if (time > 0) found_[{rank, site, kind}] += time;
  }
  const job& of_;
  const transit& by_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, path_part::kind>, double> found_;
};

}  // namespace

transit transit_of(const job& of) {
  auto samples = samples_of(of, dependence::kind::message);
  if (samples.empty()) samples = samples_of(of, dependence::kind::collective);
  if (samples.empty()) return {};
  const double smallest = std::ranges::min(samples, {}, &sample::bytes).bytes;
  std::vector<double> fixed, per_byte;
  for (const sample& s : samples)
    if (s.bytes <= std::max(small, smallest)) fixed.push_back(s.time);
  const double t = fast_one(fixed);
  for (const sample& s : samples)
    if (s.bytes >= large) per_byte.push_back(std::max(0.0, s.time - t) / s.bytes);
  return {t, per_byte.empty() ? 0 : fast_one(per_byte)};
}

parts parts_of(const job& of, const transit& by, std::uint32_t rank, std::size_t i) {
  const rank_steps& r = of.ranks[rank];
  const step& s = r.steps[i];
  parts p{s.begin, s.begin, {}};
  for (const dependence& d : r.dependences_of(i)) {
    const double begun = of.ranks[d.rank].steps[d.call].begin;
    p.ready = std::max(p.ready, begun + by.of(d.bytes));
    if (begun <= p.reached || d.rank == rank) continue;
    p.reached = begun, p.last = d;
  }
  p.ready = std::min(p.ready, s.end);
  return p;
}

analysis analysis_of(const job& of) {
  analysis a;
  a.by = transit_of(of);
  std::uint32_t last = 0;
  for (std::uint32_t r = 0; r < of.ranks.size(); ++r)
    if (of.ranks[r].end > of.ranks[last].end) last = r;
  for (std::uint32_t r = 0; r < of.ranks.size(); ++r) {
    shares share;
    std::vector<double> waits(of.ranks.size());
    double computed_from = of.ranks[r].begin;
    share.communicating = computed_from;  // in MPI_Init
    for (std::size_t i = 0; i < of.ranks[r].steps.size(); ++i) {
      const step& s = of.ranks[r].steps[i];
      const parts p = parts_of(of, a.by, r, i);
      share.computing += s.begin - computed_from;
      share.waiting += p.reached - s.begin;
      share.communicating += s.end - p.reached;
      if (p.last) waits[p.last->rank] += p.reached - s.begin;
      computed_from = s.end;
    }
    share.computing += of.ranks[r].end - computed_from;
    share.waiting += of.end - of.ranks[r].end;  // in MPI_Finalize
    if (r != last) waits[last] += of.end - of.ranks[r].end;
    a.ranks.push_back(share);
    a.waits.push_back(std::move(waits));
  }
  a.path = path_walk(of, a.by).walk();
  return a;
}

}  // namespace record
