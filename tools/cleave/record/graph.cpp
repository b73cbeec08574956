// Makes a graph of a run that `cleave plan` reads. What a rank has done before a call is a subtask,
// what MPI has done in the call behind the wait is another one. The first one ends when the call
// begins, and what the call sends leaves at that time.
#include <algorithm>
#include <tuple>
#include <utility>

#include "record/analysis.hpp"

namespace record {
namespace {

using cleave::detail::access_mode;
using cleave::detail::recorded_graph;

class graph_maker {
public:
  graph_maker(const job& of, const transit& by) : of_(of), by_(by) {}

  recorded_graph make(const std::vector<std::string>& names) {
    g_.nodes = static_cast<unsigned>(of_.ranks.size());
    g_.of_ranks = true;
    g_.messages.transit = by_;
    g_.names = names;
    for (const std::string& name : names) g_.names.push_back("after " + name);
    g_.names.push_back("after Init");
    number_data();
    number_subtasks();
    for (const moment& m : order_) m.in_call ? add_call(m) : add_before(m);
    return std::move(g_);
  }

private:
  // The end of a subtask, by which subtasks are ordered: each one comes behind those it waits for.
  struct moment {
    double at = 0;
    bool in_call = false;
    std::uint32_t rank = 0;
    std::uint32_t step = 0;  // the number of steps: behind the last one
    bool operator<(const moment& b) const {
      return std::tie(at, in_call, rank, step) < std::tie(b.at, b.in_call, b.rank, b.step);
    }
  };
  struct numbers {
    std::uint32_t before = 0, in_call = 0;         // of the two subtasks
    std::uint32_t first_datum = 0, data_used = 0;  // what the call sends
  };

  numbers& of(std::uint32_t rank, std::uint32_t step) { return numbers_[rank][step]; }
  static bool carries(const dependence& d) { return d.of != dependence::kind::receiver; }

  // Each message is a datum. What a collective call sends to all is one.
  void number_data() {
    for (const rank_steps& r : of_.ranks) numbers_.emplace_back(r.steps.size() + 1);
    sent_.resize(of_.ranks.size());
    for (std::size_t r = 0; r < of_.ranks.size(); ++r) sent_[r].resize(of_.ranks[r].steps.size());
    for (const rank_steps& r : of_.ranks)
      for (const dependence& d : r.dependences)
        if (carries(d)) datum_of(d);
  }
  std::uint32_t datum_of(const dependence& d) {
    auto& sent = sent_[d.rank][d.call];
    for (const std::uint32_t datum : sent)
      if (g_.bytes[datum] == d.bytes) return datum;
    sent.push_back(static_cast<std::uint32_t>(g_.bytes.size()));
    g_.bytes.push_back(d.bytes);
    return sent.back();
  }
  void number_subtasks() {
    for (std::uint32_t r = 0; r < of_.ranks.size(); ++r) {
      const auto& steps = of_.ranks[r].steps;
      for (std::uint32_t i = 0; i < steps.size(); ++i)
        order_.push_back({steps[i].begin, false, r, i}),
            order_.push_back({steps[i].end, true, r, i});
      order_.push_back({of_.ranks[r].end, false, r, static_cast<std::uint32_t>(steps.size())});
    }
    std::sort(order_.begin(), order_.end());
    for (std::uint32_t k = 0; k < order_.size(); ++k) {
      numbers& n = of(order_[k].rank, order_[k].step);
      (order_[k].in_call ? n.in_call : n.before) = k;
    }
  }
  void add(std::uint32_t rank, std::uint32_t name, double duration) {
    recorded_graph::subtask s;
    s.name = name, s.asked = s.ran_on = rank, s.duration = std::max(0.0, duration);
    s.uses_end = static_cast<std::uint32_t>(g_.uses.size());
    s.after_end = static_cast<std::uint32_t>(g_.after.size());
    g_.subtasks.push_back(s);
  }
  void add_before(const moment& m) {
    const auto& steps = of_.ranks[m.rank].steps;
    if (m.step > 0) g_.after.push_back(of(m.rank, m.step - 1).in_call);
    if (m.step < steps.size())
      for (const std::uint32_t datum : sent_[m.rank][m.step])
        g_.uses.push_back({datum, access_mode::out});
    const auto sites = static_cast<std::uint32_t>(of_.sites.size());
    add(m.rank, m.step == 0 ? 2 * sites : sites + steps[m.step - 1].site,
        m.at - (m.step == 0 ? 0 : steps[m.step - 1].end));
  }
  void add_call(const moment& m) {
    const rank_steps& r = of_.ranks[m.rank];
    g_.after.push_back(of(m.rank, m.step).before);
    for (const dependence& d : r.dependences_of(m.step)) {
      if (carries(d)) g_.uses.push_back({datum_of(d), access_mode::in});
      else g_.after.push_back(of(d.rank, d.call).before);
    }
    add(m.rank, r.steps[m.step].site, m.at - parts_of(of_, by_, m.rank, m.step).ready);
  }

  const job& of_;
  const transit by_;
  recorded_graph g_;
  std::vector<std::vector<numbers>> numbers_;                  // by rank and step
  std::vector<std::vector<std::vector<std::uint32_t>>> sent_;  // data, likewise
  std::vector<moment> order_;
};

}  // namespace

recorded_graph graph_of(const job& of, const transit& by, const std::vector<std::string>& names) {
  return graph_maker(of, by).make(names);
}

}  // namespace record
