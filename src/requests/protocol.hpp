#pragma once

#include "machine/bit_board.hpp"
#include "requests/mailbox.hpp"

#include <array>

/// What asking, serving and beginning to work do with mailboxes and boards, in which order. No step
/// blocks but open_request::wait. Templates, so that tests/model runs them; what a worker does in
/// between is left to the caller.
namespace cleave::detail {

using machine::bit_board;

/// Where the workers of a pool meet, and the one who speaks for other nodes (other_nodes.hpp). It
/// has no stack; it asks with a number of slots, each with a mailbox, whose numbers follow the
/// workers'.
template <class Platform>
struct exchange {
  static constexpr unsigned first_slot = Platform::most_workers;

  explicit exchange(unsigned workers) noexcept
      : askers(workers), computing(workers), crowd(workers), hungry(workers) {}

  mailbox<Platform>& box(unsigned i) const noexcept { return *boxes[i]; }
  bool anybody_asks() const noexcept { return askers.any() || slots.any(); }
  /// Has the CPU fetch what is read first of all to serve an asker, which is most often worker 0: a
  /// worker that is about to compute then waits for these lines at once, and not for one after the
  /// other.
  void fetch_first_asker() const noexcept { askers.fetch(), boxes[0]->fetch(); }

  bit_board<Platform> askers;     // workers with a request posted
  bit_board<Platform> computing;  // workers with a task: they poll, or wait for a part of it
  bit_board<Platform> crowd;      // workers that wait to ask: enough others do
  bit_board<Platform> hungry;     // workers that found nothing here
  bit_board<Platform> slots{Platform::most_slots};  // slots of other nodes with a request posted
  mailbox<Platform>* other_nodes = nullptr;         // speaks for other nodes; may be null
  std::array<mailbox<Platform>*, first_slot + Platform::most_slots> boxes{};
};

/// A worker and where it meets the others.
template <class Platform>
struct member {
  exchange<Platform>& of;
  mailbox<Platform>& box;
  unsigned id;
};

/// Tells one of those who wait for room that there may be some. Partner of wait_for_room(): one
/// clears a bit of the askers and then looks at the crowd, the other joins the crowd and then
/// counts askers, all with sequential consistency.
template <class Platform>
void call_from_crowd(const member<Platform>& self) noexcept {
  self.of.crowd.visit(self.id, [&](unsigned i) {
    self.of.box(i).ring(news);
    return true;
  });
}

/// A worker's request, from posting it to its end:
///
///     rung_one --press--> rung_all --press(insist)--> insisted
///                                                        | ask_other_nodes
///                                                        v
///                                                     asked_other_nodes
///
/// A request rings one worker that computes (and insists, where each has a CPU: what else would
/// keep it from an answer is a construct that runs undivided, and that may be a long one), soon
/// all, insists, and asks other nodes before it blocks for long; at once where nobody else
/// computes. Whatever is rung finds the request on the board: it was posted before.
template <class Platform>
class open_request {
public:
  /// Asks for a part of `wanted` (null: for anything): the worker `first`, or if that is not
  /// another one, some worker that computes. If `quiet`, nobody is rung before the first press:
  /// only who begins to compute finds the request until then.
  open_request(member<Platform> self, const scope* wanted, unsigned first, bool insist,
               bool quiet = false) noexcept
      : self_(self), what_(request_for(wanted)) {
    self_.box.post(wanted);
    self_.of.askers.set(self_.id);
    if (quiet) return;
    self_.of.computing.visit(first, [&](unsigned i) {
      if (i != self_.id) ring(i, insist);
      return i != self_.id;
    });
  }
  open_request(const open_request&) = delete;
  open_request& operator=(const open_request&) = delete;

  bool has_answer() const noexcept { return self_.box.has_answer(); }
  /// Whether nobody has taken the request on.
  bool is_open() const noexcept { return is_asking(self_.box.posted()); }

  /// Asks all that compute.
  void press(bool insist) noexcept {
    stage_ = insist ? stage::insisted : stage::rung_all;
    self_.of.computing.visit(0, [&](unsigned i) {
      if (i != self_.id) ring(i, insist);
      return false;
    });
  }
  /// Tells the one that speaks for other nodes that nothing was found here.
  void ask_other_nodes() noexcept {
    stage_ = stage::asked_other_nodes;
    self_.of.hungry.set(self_.id);
    self_.of.other_nodes->ring(asked);
  }
  /// What to do while there is no answer. `with` spins(), begins anew after restart(), and may be
  /// patient() beyond that, with workers that are off their CPU.
  template <class Persistence>
  waiting next(Persistence& with) noexcept {
    const bool others = self_.of.other_nodes != nullptr;
    if (others && stage_ != stage::asked_other_nodes && !anybody_to_ask()) ask_other_nodes();
    if (stage_ == stage::asked_other_nodes) return with.blocks(), waiting::sleep;
    if (with.spins()) return waiting::spin;
    if (stage_ == stage::insisted) {
      if (others) ask_other_nodes();
      return waiting::sleep;
    }
    const bool insist = stage_ == stage::rung_all;
    if (insist && with.patient()) return waiting::nap;
    press(insist);
    with.restart();
    return waiting::spin;
  }

  /// Takes the request back, if nobody has taken it on or answered it.
  bool withdraw() noexcept {
    const bool withdrawn = self_.box.withdraw(what_);
    if (withdrawn) leave();  // a victim that reopened the request has set the bit again
    return withdrawn;
  }
  /// Ends the request. Returns the task, or 0 if its owner has taken it back.
  request collect() noexcept {
    leave();
    return self_.box.collect();
  }

  /// Waits for an answer until finished(); returns the task, or 0. While waiting runs serve() for
  /// every signal.
  template <class Finished, class Serve, class Persistence>
  request wait(Finished finished, Serve serve, Persistence& with) {
    self_.box.wait([&] { return has_answer() || (is_open() && finished()); }, serve,
                   [&] { return next(with); });
    while (!has_answer()) {
      if (withdraw()) return 0;
      // Claimed at the last moment: it will be answered or reopened.
      self_.box.wait([&] { return self_.box.posted() != claimed; }, serve,
                     [&] { return with.spins() ? waiting::spin : waiting::sleep; });
    }
    return collect();
  }

private:
  void ring(unsigned i, bool insist) noexcept {
    insist ? self_.of.box(i).insist(asked) : self_.of.box(i).ring(asked);
  }
  bool anybody_to_ask() const noexcept {
    return self_.of.computing.visit(0, [&](unsigned i) { return i != self_.id; });
  }
  enum class stage { rung_one, rung_all, insisted, asked_other_nodes };

  void leave() noexcept {
    if (stage_ == stage::asked_other_nodes) self_.of.hungry.clear(self_.id);
    self_.of.askers.clear(self_.id);
    call_from_crowd(self_);
  }

  member<Platform> self_;
  const request what_;
  stage stage_ = stage::rung_one;
};

/// Waits until fewer than `most` ask, or finished(): where many more wait than there are CPUs,
/// asking would only cut the work of those that run into crumbs.
template <class Platform, class Finished, class Serve>
void wait_for_room(member<Platform> self, unsigned most, Finished finished, Serve serve) {
  if (self.of.askers.count() < most) return;
  self.of.crowd.set(self.id);
  self.box.wait([&] { return finished() || self.of.askers.count() < most; }, serve,
                [] { return waiting::sleep; });
  self.of.crowd.clear(self.id);
  // Several that left the board may have called the same one: it calls the next.
  if (self.of.askers.count() + 1 < most) call_from_crowd(self);
}

enum class search_end { given, nothing, not_mine, failed };

/// The request `seen` in mailbox `asker`, shown at `place` on that board.
template <class Platform>
struct shown_request {
  bit_board<Platform>& board;
  unsigned place, asker;
  request seen;
  std::uint32_t depth;  // the depth of the wanted scope
};

/// Serves a request, if it can. find(wanted, depth, for_other_node) says whether there is something
/// to give (given), nothing now, or nothing of what is wanted here; make(asker) makes the task and
/// returns it, or 0 if that failed.
template <class Platform, class Find, class Make>
search_end serve(member<Platform> self, const shown_request<Platform>& r, Find find, Make make) {
  const bool for_other_node = &r.board == &self.of.slots;
  if (const search_end o = find(wanted_by(r.seen), r.depth, for_other_node); o != search_end::given)
    return o;
  auto& box = self.of.box(r.asker);
  if (!box.claim(r.seen)) return search_end::not_mine;
  r.board.clear(r.place);
  if (const request task = make(r.asker); task != 0) {
    box.hand(task, !for_other_node);
    return search_end::given;
  }
  r.board.set(r.place);  // before it is rung: whoever looks for askers then finds it
  box.reopen(r.seen);
  // Nobody fed the hungry asker while its request was claimed.
  if (self.of.other_nodes != nullptr) self.of.other_nodes->ring(asked);
  self.box.remind(parked);
  return search_end::failed;
}

/// Serves one of those that ask, if it can, and others as long as there is more(): workers, or if
/// none of them can be served, slots. Returns whether one was.
template <class Platform, class Find, class Make, class More>
bool serve_askers(member<Platform> self, Find find, Make make, More more) {
  bool given = false, failed = false, nothing_now = false;
  auto visit = [&](bit_board<Platform>& board, unsigned first) {
    board.visit(self.id % board.size(), [&](unsigned i) {
      const mailbox<Platform>& box = self.of.box(first + i);
      const request seen = box.posted();
      if (first + i == self.id || !is_asking(seen)) return false;
      const search_end o = serve(
          self, shown_request<Platform>{board, i, first + i, seen, box.wanted_depth()}, find, make);
      given |= o == search_end::given, failed |= o == search_end::failed;
      nothing_now |= o == search_end::nothing;
      return failed || (o == search_end::given && !more());
    });
  };
  visit(self.of.askers, 0);
  if (!given && !failed) visit(self.of.slots, exchange<Platform>::first_slot);
  // Whoever got a part helps to serve the others.
  if (given && self.of.anybody_asks()) {
    self.box.remind(asked);
  } else if (nothing_now) {
    self.box.remind(parked);
  }
  return given;
}

/// Called by a worker that begins a task; `idle`: it is not on the board of those that compute, and
/// is put there. From then on askers ring it, and of those that asked before it is reminded, by the
/// signal `of_earlier`: `parked`, if it has nothing to give at first. Partner of open_request:
/// post, then ring those that compute. Returns whether this call has put it there, and nobody
/// computed before (of 64 workers).
template <class Platform>
bool begin_to_compute(member<Platform> self, bool idle, std::uint32_t of_earlier = asked) {
  const bool first = idle && self.of.computing.set(self.id);
  if (self.of.anybody_asks()) self.box.remind(of_earlier);
  return first;
}

/// Tells the workers that ask for anything of work that is not on a stack (a root task), which
/// publish() makes visible with sequential consistency. Partner of open_request: post, then
/// finished(); and of wait_for_room().
template <class Platform, class Publish>
void announce(exchange<Platform>& to, Publish publish) {
  publish();
  to.askers.visit(0, [&](unsigned i) {
    to.box(i).ring(news);
    return false;
  });
}

}  // namespace cleave::detail
