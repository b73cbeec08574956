#pragma once

#include <map>
#include <optional>
#include <set>

#include "protocol/giving.hpp"
#include "protocol/ledger.hpp"
#include "protocol/neighbours.hpp"

namespace cleave::net {

/// Requests of this node: for which worker, to whom, and again when.
///
/// Invariant: a worker that starves is in `hungry_`, with one open request at most; a request is in
/// `sent_` until it is answered, its peer is lost, or it is forgotten.
class asking {
public:
  asking(const surroundings& all, neighbours& peers, giving& given)
      : all_(all), peers_(peers), given_(given) {}

  /// When pursue() or give_up() has something to do; requests are not made anew unless `asks`.
  instant next(bool asks) const;
  /// Asks for those that starve, where it is time.
  void pursue(instant now);
  /// Requests whose answer is late are not waited for; in the end they are forgotten.
  void give_up(instant now);

  /// `wanted`: 0 for anything, else a task that is out.
  void starving(instant now, asker who, std::uint64_t wanted);
  void satisfied(asker who);

  /// A task has come for a request, which ends.
  struct arrival {
    bool late = false;
    bool anything = true;           ///< the request was not for a part of some task
    std::optional<asker> for_whom;  ///< the worker that is to run it, if there is one
  };
  arrival on_task(std::uint64_t request);
  /// A worker has got the task that came.
  void fed(asker who, const arrival& how);
  void on_none(instant now, address from, const none& m);
  /// A peer that did nothing computes: there is somebody to ask.
  void somebody_computes(instant now);
  void lost(instant now, address who);
  /// Adds the peers that were asked and have not answered.
  void add_asked(std::set<address>& to) const;

private:
  struct hunger {
    std::uint64_t wanted = 0;
    std::uint64_t request = 0;  ///< 0: none is open
    instant retry_at{};
    instant late_until{};
    instant pause{};
  };
  /// Requests for anything: all workers together.
  struct for_anything {
    unsigned open = 0;
    unsigned misses = 0;  ///< in a row
    instant retry_at{};
    instant pause{};
    std::optional<address> hint;
  };

  void take_back(instant now, asker who, hunger& h);
  void ask_any(instant now, asker who, hunger& h);
  void request(instant now, asker who, hunger& h, address to, task_key wanted);
  std::optional<address> whom_to_ask(instant now);
  server_tree servers() const;
  bool may_have_work(instant now, address who, const peer& p) const;
  void in_vain(instant now, std::uint64_t number, const sent_request& r);
  instant longer(instant pause) const;

  const surroundings& all_;
  neighbours& peers_;
  giving& given_;
  std::map<std::uint64_t, sent_request> sent_;  ///< by the request's number
  std::map<asker, hunger> hungry_;
  std::uint64_t last_request_ = 0;
  for_anything any_;
};

}  // namespace cleave::net
