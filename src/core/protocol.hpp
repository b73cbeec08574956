#pragma once

#include "core/mailbox.hpp"

/// The sequences of mailbox and board operations that asking, serving and beginning to work consist of. They are
/// templates so that tests/model can run them, with what a worker does in between left to the caller.
namespace cleave::detail {

template <class Platform>
struct boards {
  explicit boards(unsigned workers) noexcept : askers(workers), computing(workers) {}

  bit_board<Platform> askers;     // workers with a request posted
  bit_board<Platform> computing;  // workers with a task: they poll, or wait for a part of it
};

/// Asks for `what` until ready() or there is an answer; returns the task handed, or 0. Rings the worker `first`, or
/// if that is not another one, some worker that computes; then all that compute. Insists with all before it blocks for
/// long, but takes naps while it is patient(). at(i) is the mailbox of worker i. While waiting runs serve() for
/// every signal; spin() says whether to go on spinning, and restart() begins a new spin.
template <class Platform, class At, class Ready, class Serve, class Spin, class Restart,
          class Patient>
request ask(mailbox<Platform>& box, boards<Platform>& board, unsigned id, request what,
            unsigned first, At at, Ready ready, Serve serve, Spin spin, Restart restart,
            Patient patient) {
  box.post(what);
  board.askers.set(id);
  board.computing.visit(first, [&](unsigned i) {
    if (i != id) at(i).ring(asked);
    return i != id;
  });
  enum { rung_one, rung_all, insisted_with_all } done = rung_one;
  auto to_all = [&](bool insist) {
    board.computing.visit(0, [&](unsigned i) {
      if (i != id) insist ? at(i).insist(asked) : at(i).ring(asked);
      return false;
    });
  };
  box.wait([&] { return box.answered() || (is_asking(box.posted()) && ready()); }, serve,
           [&] {
             if (spin()) return waiting::spin;
             if (done == insisted_with_all) return waiting::sleep;
             const bool insist = !patient();
             if (!insist && done == rung_all) return waiting::nap;
             done = insist ? insisted_with_all : rung_all;
             to_all(insist);
             restart();
             return waiting::spin;
           });
  board.askers.clear(id);
  while (!box.answered()) {
    if (box.withdraw(what)) {
      board.askers.clear(id);  // a victim that reopened the request has set it again
      return 0;
    }
    // Claimed at the last moment: it will be answered or reopened.
    box.wait([&] { return box.posted() != claimed; }, serve,
             [&] { return spin() ? waiting::spin : waiting::sleep; });
  }
  return box.collect();
}

enum class outcome { given, nothing, not_mine, failed };

/// Serves the request `seen` of worker `asker` if it can. look(wanted) says whether there is something to
/// give (given), nothing now, or nothing of what is wanted here; make() makes the task and returns it, or 0 if that failed.
template <class Platform, class Look, class Make>
outcome serve(mailbox<Platform>& own, boards<Platform>& board, mailbox<Platform>& asker_box,
              unsigned asker, request seen, Look look, Make make) {
  if (const outcome o = look(wanted_by(seen)); o != outcome::given) return o;
  if (!asker_box.claim(seen)) return outcome::not_mine;
  board.askers.clear(asker);
  if (const request task = make(); task != 0) {
    asker_box.hand(task);
    return outcome::given;
  }
  board.askers.set(asker);  // before it is rung: whoever looks for askers then finds it
  asker_box.reopen(seen);
  own.remind(parked);
  return outcome::failed;
}

/// Serves one of the workers that ask. try_serve(i, seen) is serve(), for worker i.
template <class Platform, class At, class TryServe>
outcome serve_one(mailbox<Platform>& own, boards<Platform>& board, unsigned id, At at,
                  TryServe try_serve) {
  bool nothing_now = false;
  outcome last = outcome::not_mine;
  board.askers.visit(id, [&](unsigned i) {
    const request seen = at(i).posted();
    if (i == id || !is_asking(seen)) return false;
    last = try_serve(i, seen);
    nothing_now |= last == outcome::nothing;
    return last == outcome::given || last == outcome::failed;
  });
  // One part for each poll: whoever got it helps to serve the others.
  if (last == outcome::given && board.askers.any()) {
    own.remind(asked);
  } else if (nothing_now) {
    own.remind(parked);
  }
  return last;
}

/// Called by a worker that begins a task, `idle` before: from now on askers ring it, and of those that asked
/// before it is reminded. Partner of ask(): post, then ring those that compute.
template <class Platform>
void begin_to_compute(mailbox<Platform>& own, boards<Platform>& board, unsigned id, bool idle) {
  if (idle) board.computing.set(id);
  if (board.askers.any()) own.remind(asked);
}

/// Tells the workers that ask for anything of work that is not on a stack (a root task), which
/// publish() makes visible with sequential consistency. Partner of ask(): post, then ready().
template <class Platform, class At, class Publish>
void announce(boards<Platform>& board, At at, Publish publish) {
  publish();
  board.askers.visit(0, [&](unsigned i) {
    at(i).ring(news);
    return false;
  });
}

}  // namespace cleave::detail
