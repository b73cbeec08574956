#include "md_by_dependences.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "md_loans.hpp"

namespace study::dynamics {
namespace {

using cleave::detail::bytes_of;
using cleave::detail::dependences;
using numbers = std::vector<std::uint32_t>;

// Events in the order of time. A node that is free takes out the first value that has come, else
// begins the first subtask, in program order, that can begin.
class simulation {
public:
  simulation(const problem& p, bool lends)
      : p_(p),
        lends_(lends && p.nodes > 1),
        log_(p.nodes),
        unmet_(p.d.size()),
        runs_on_(p.node_of),
        nodes_(p.nodes),
        loans_(p) {}

  simulated_run run() {
    for (std::uint32_t i = 0; i < p_.d.size(); ++i) {
      for (const auto& e : p_.d.before(i)) unmet_[i] += !e.only_here || p_.is_here(e) ? 1u : 0u;
      if (unmet_[i] == 0) nodes_[p_.node_of[i]].ready.insert(i);
    }
    for (std::uint32_t n = 0; n < p_.nodes; ++n) begin_work(n, 0);
    double end = 0;
    while (!events_.empty()) {
      const event e = events_.top();
      events_.pop();
      if (e.what != word_comes) end = e.at;
      begin_work(happen(e), e.at);
    }
    return log_.ended(end);
  }

private:
  enum kind : std::uint8_t { subtask_ends, value_comes, value_is_out, node_is_free, word_comes };
  struct event {
    double at;
    kind what;
    std::uint32_t which;  // subtask, transfer, node or word
    bool operator>(const event& b) const {
      return std::tie(at, what, which) > std::tie(b.at, b.what, b.which);
    }
  };
  struct node {
    std::set<std::uint32_t> ready;                                       // subtasks
    std::priority_queue<std::uint32_t, numbers, std::greater<>> values;  // transfers that have come
    bool free = true;
    double owes = 0;  // what messages have cost it while it did something else
  };
  struct transfer {
    enum : std::uint8_t { values, lent, result } is = values;
    std::uint32_t from, to;
    double bytes;
    numbers data, readers;      // of values
    std::uint32_t subtask = 0;  // of what is lent, and of its result
  };
  struct word {  // a message of lending without values
    enum : std::uint8_t { asks, none, spare } says;
    std::uint32_t from, to;
  };

  // Returns the node that may begin something.
  std::uint32_t happen(const event& e) {
    switch (e.what) {
      case subtask_ends: return end_run(e.which, e.at);
      case value_comes: {
        const transfer& t = transfers_[e.which];
        nodes_[t.to].values.push(e.which);
        if (t.is == transfer::lent) loans_.got_loan(t.to, t.from);
        return t.to;
      }
      case value_is_out: return use(e.which, e.at);
      case node_is_free: nodes_[e.which].free = true; return e.which;
      case word_comes: return hear(words_[e.which], e.at);
    }
    return 0;
  }
  void is_free(std::uint32_t n, double at) {
    const double owes = std::exchange(nodes_[n].owes, 0);
    if (owes > 0) log_.tells(n, at, at + owes);
    events_.push({at + owes, node_is_free, n});
  }
  void meet(std::uint32_t i) {
    if (--unmet_[i] == 0) nodes_[p_.node_of[i]].ready.insert(i);
  }
  std::uint32_t end_run(std::uint32_t i, double at) {
    const std::uint32_t n = runs_on_[i], home = p_.node_of[i];
    if (n == home) {
      is_free(n, end_subtask(i, at));
      return n;
    }
    transfers_.push_back({transfer::result, n, home, loans_.bytes_back(i), {}, {}, i});
    is_free(n, send(transfers_.size() - 1, n, at));
    return n;
  }
  // A value has been taken out.
  std::uint32_t use(std::uint32_t k, double at) {
    const transfer t = transfers_[k];
    if (t.is == transfer::values) {
      for (const std::uint32_t i : t.readers) meet(i);
      if (nodes_[t.to].owes == 0) {
        nodes_[t.to].free = true;
        return t.to;
      }
    }
    if (t.is == transfer::lent) nodes_[t.to].ready.insert(t.subtask);
    if (t.is == transfer::result) {
      loans_.is_back(t.subtask, t.to, t.from);
      at = end_subtask(t.subtask, at);
    }
    is_free(t.to, at);
    return t.to;
  }
  // Its node sends what others wait for, once to each of them. Returns when it is free.
  double end_subtask(std::uint32_t i, double at) {
    const std::size_t first = transfers_.size();
    for (const std::uint32_t k : p_.d.after(i)) {
      const auto& e = p_.d.at(k);
      if (p_.is_here(e)) meet(e.to);
      else if (p_.crosses(e)) add(e, first);
    }
    for (std::size_t k = first; k < transfers_.size(); ++k) at = send(k, p_.node_of[i], at);
    return at;
  }
  // Returns when it is sent.
  double send(std::size_t k, std::uint32_t from, double at) {
    const double bytes = transfers_[k].bytes, sent = at + p_.messages.sending.of(bytes);
    log_.tells(from, at, sent);
    events_.push(
        {sent + p_.messages.transit.of(bytes), value_comes, static_cast<std::uint32_t>(k)});
    return sent;
  }
  // Adds an edge to a transfer from number `first` on.
  void add(const dependences::edge& e, std::size_t first) {
    const std::uint32_t to = p_.node_of[e.to];
    const auto at = std::find_if(transfers_.begin() + static_cast<std::ptrdiff_t>(first),
                                 transfers_.end(), [&](const transfer& t) { return t.to == to; });
    transfer& its = at != transfers_.end()
                        ? *at
                        : transfers_.emplace_back(
                              transfer{transfer::values, p_.node_of[e.from], to, 0, {}, {}});
    if (std::ranges::find(its.data, e.datum) == its.data.end()) {
      its.data.push_back(e.datum);
      its.bytes += bytes_of(p_.g, e.datum);
    }
    its.readers.push_back(e.to);
  }
  void begin_work(std::uint32_t n, double now) {
    node& of = nodes_[n];
    if (of.free && !of.values.empty()) {
      of.free = false;
      const std::uint32_t k = of.values.top();
      of.values.pop();
      const double end = now + p_.messages.receiving.of(transfers_[k].bytes);
      log_.tells(n, now, end);
      events_.push({end, value_is_out, k});
    } else if (of.free && !of.ready.empty()) {
      of.free = false;
      const std::uint32_t i = *of.ready.begin();
      of.ready.erase(of.ready.begin());
      const auto& s = p_.g.subtasks[i];
      log_.computes(n, static_cast<int>(s.name), now, now + s.duration);
      events_.push({now + s.duration, subtask_ends, i});
    }
    if (!lends_) return;
    if (of.free && of.ready.empty()) {
      if (const auto whom = loans_.asks(n)) say({word::asks, n, *whom}, now);
    } else if (!of.ready.empty()) {
      if (const auto whom = loans_.tells(n, of.ready)) say({word::spare, n, *whom}, now);
    }
  }
  void say(word w, double now) {
    words_.push_back(w);
    events_.push(
        {now + p_.messages.whole(0), word_comes, static_cast<std::uint32_t>(words_.size() - 1)});
  }
  // Its node answers at once, whatever its worker does, which loses the time.
  std::uint32_t hear(word w, double now) {
    if (w.says == word::none) loans_.got_none(w.to, w.from);
    if (w.says == word::spare) loans_.got_spare(w.to, w.from);
    if (w.says != word::asks) return w.to;
    node& of = nodes_[w.to];
    const auto given = loans_.lends(w.to, w.from, of.ready);
    if (!given) {
      say({word::none, w.to, w.from}, now);
      return w.to;
    }
    of.ready.erase(given->subtask);
    runs_on_[given->subtask] = w.from;
    transfers_.push_back({transfer::lent, w.to, w.from, given->bytes, {}, {}, given->subtask});
    const double sending = p_.messages.sending.of(given->bytes);
    of.owes += sending;
    events_.push({now + sending + p_.messages.transit.of(given->bytes), value_comes,
                  static_cast<std::uint32_t>(transfers_.size() - 1)});
    return w.to;
  }

  const problem& p_;
  bool lends_;
  node_log log_;
  numbers unmet_;    // how many others each subtask waits for
  numbers runs_on_;  // the node of each subtask, or of who is lent it
  std::vector<node> nodes_;
  std::vector<transfer> transfers_;
  std::vector<word> words_;
  std::priority_queue<event, std::vector<event>, std::greater<>> events_;
  loans loans_;
};

}  // namespace

simulated_run run_by_dependences(const problem& p, bool lends) {
  return simulation(p, lends).run();
}

}  // namespace study::dynamics
