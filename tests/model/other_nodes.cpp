// labels: once
// Who speaks for other nodes, and one worker or two: the real slots_of_other_nodes, mailboxes and
// sequences of protocol.hpp through every interleaving. What is mirrored of worker.cpp and
// node/driver.cpp is short, and names it.
#include "requests/other_nodes.hpp"

#include "atomic.hpp"
#include "explorer.hpp"

#include <cleave/detail/task.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace {

using model::explorer;
using model::require;
using model::verdict;
using namespace cleave::detail;

enum class fault {
  none,
  slot_not_set,          // who asks for another node does not show it on the board
  slot_not_set_again,    // nor does a victim whose split failed
  collect_by_load,       // collect loads and stores instead of exchanging
  withdraw_by_load,      // withdraw loads and stores instead of comparing and swapping
  claim_by_load,         // so does claim
  reclaim_by_load,       // so does reclaim
  sleep_by_store,        // `sleeping` is stored instead of compared and swapped in
  hungry_not_rung,       // a worker that found nothing does not say so
  answer_not_rung,       // a victim does not say that it has answered
  not_pressed,           // nobody that computes is rung for another node
  feed_without_claim,    // a task is handed to a worker that may not ask any more
  bit_left_behind,       // the end of a request leaves its bit on the board
  hungry_not_rung_again  // a worker whose request is open again is forgotten
};
fault broken = fault::none;

/// Where in the world the atomics are that a fault is about.
const void* slots_begin = nullptr;
const void* slots_end = nullptr;
const void* word_of_driver = nullptr;

/// What is remembered of a thread, as part of the state: whether it is the driver, and whether it
/// has opened a request again.
constexpr std::uint64_t is_driver = 1, has_reopened = 2;
std::uint64_t& note() { return explorer::running()->note(); }

struct platform {
  static constexpr unsigned most_workers = 2, most_slots = 1;
  struct bell {};
  using depth = model::unread;
  template <class T>
  using pointer = model::owned_pointer<T>;
  using count = model::unread;  // here no mailbox changes hands
  static void await_change(count&, std::uint32_t) {}

  template <class T>
  struct atomic : model::atomic<T> {
    using base = model::atomic<T>;
    using base::base;
    static constexpr bool is_word = sizeof(T) == 4;

    bool is_slots() const { return this >= slots_begin && this < slots_end; }
    bool is_drivers() const { return this == word_of_driver; }
    T exchange(T v, std::memory_order o) {
      if (broken != fault::collect_by_load) return base::exchange(v, o);
      const T old = base::load();
      base::store(v);
      return old;
    }
    T fetch_or(T v, std::memory_order o) {
      const bool by_driver = (note() & is_driver) != 0;
      const bool omitted =
          is_slots() ? broken == (by_driver ? fault::slot_not_set : fault::slot_not_set_again)
          : !is_word ? false
          : is_drivers()
              ? (v == asked && broken == fault::hungry_not_rung) ||
                    (v == asked && !by_driver && broken == fault::hungry_not_rung_again &&
                     (note() & has_reopened) != 0) ||
                    (v == news && broken == fault::answer_not_rung)
              : v == asked && by_driver && broken == fault::not_pressed;
      return omitted ? T{0} : base::fetch_or(v, o);
    }
    T fetch_and(T v, std::memory_order o) {
      if (is_slots() && (note() & is_driver) != 0 && broken == fault::bit_left_behind) return 0;
      return base::fetch_and(v, o);
    }
    void store(T v, std::memory_order o = base::strongest) {
      if (broken == fault::hungry_not_rung_again && !is_word && is_asking(v))
        note() |= has_reopened;
      base::store(v, o);
    }
    bool compare_exchange_strong(T& expected, T v, std::memory_order a, std::memory_order b) {
      const bool plain = is_word ? broken == fault::sleep_by_store
                                 : (broken == fault::withdraw_by_load && v == resting) ||
                                       (broken == fault::claim_by_load && v == claimed) ||
                                       (broken == fault::reclaim_by_load && v == reclaimed);
      if (!plain) return base::compare_exchange_strong(expected, v, a, b);
      if (!is_word && base::load() != expected) return false;
      base::store(v);
      return true;
    }
  };
  struct cutoff {
    void store(std::uintptr_t, std::memory_order) {}
    std::uintptr_t load(std::memory_order) const { return 0; }
  };
  static void block(atomic<std::uint32_t>& word, std::uint32_t expected, bool) {
    word.block(expected);
  }
  static void wake(atomic<std::uint32_t>& word, bell) { word.wake(); }
};

using meeting_type = exchange<platform>;

/// A part of a program: who runs it counts. Who waits for it: a worker, or the driver.
struct part : scope {
  part() : scope(nullptr) {}
  platform::atomic<std::uint32_t> progress{0};
  int runs = 0;
  bool handed = false;
  bool done() const { return progress.load(std::memory_order_acquire) == 1; }
};
request as_request(part& p) { return reinterpret_cast<request>(&p); }
part* as_part(request r) { return reinterpret_cast<part*>(r); }

struct impatient {  // worker::persistence
  bool spins() const { return false; }
  void restart() const {}
  void blocks() const {}
  bool patient() const { return false; }
};

struct worker {
  worker(meeting_type& m, unsigned number) : of(m), id(number) { m.boxes[number] = &box; }

  meeting_type& of;
  unsigned id;
  platform::atomic<std::uint32_t> word{0};
  platform::cutoff cutoff{};
  mailbox<platform> box{word, cutoff};
  part* to_give = nullptr;  // what its frame holds
  int failures = 0;         // how many splits throw

  member<platform> self() { return {of, box, id}; }

  void serve() {  // worker::serve
    auto find = [&](const scope*, std::uint32_t, bool) {
      const bool any = to_give != nullptr && !to_give->handed;
      return any ? cleave::detail::search_end::given : cleave::detail::search_end::nothing;
    };
    auto make = [&](unsigned) -> request {
      if (failures > 0) return --failures, 0;
      to_give->handed = true;
      return as_request(*to_give);
    };
    serve_askers(self(), find, make, [] { return false; });
  }
  [[gnu::noinline]] void respond() {  // worker::answer_while_waiting
    const std::uint32_t signals = box.take_signals();
    if ((signals & (asked | parked)) != 0) serve();
  }
  [[gnu::noinline]] void poll() {
    if (word.load(std::memory_order_relaxed) != 0) respond();
  }
  /// Until it has given: it hangs if a request was lost.
  [[gnu::noinline]] void poll_until_given() {
    while (!to_give->handed) {
      word.await(~0u);
      respond();
    }
  }
  template <class Finished>
  part* obtain(const scope* wanted, Finished finished) {  // worker::obtain
    impatient with;
    open_request<platform> asking(self(), wanted, id, true);
    return as_part(asking.wait(
        finished, [this] { respond(); }, with));
  }
  [[gnu::noinline]] void join(part& p, unsigned box_of_runner) {  // worker::join
    if (of.box(box_of_runner).reclaim(as_request(p))) return execute(p, true);
    while (!p.done()) {
      if (part* t = obtain(&p, [&] { return p.done(); })) execute(*t, t == &p);
    }
  }
  [[gnu::noinline]] void execute(part& p, bool mine) {  // worker::execute
    require(p.runs++ == 0, "a task was executed twice");
    p.progress.store(1, std::memory_order_release);
    if (!mine) of.other_nodes->ring(news);  // other_nodes::finished_here
  }
};

/// Workers and who speaks for other nodes, which is the last thread.
template <unsigned Workers>
struct world {
  static constexpr unsigned slot = meeting_type::first_slot;

  meeting_type of{Workers};
  std::array<worker, Workers> workers;
  platform::atomic<std::uint32_t> word{0};
  platform::cutoff cutoff{};
  mailbox<platform> own{word, cutoff};
  mailbox<platform> box_of_slot{word, cutoff};
  slots_of_other_nodes<platform> slots{of, own};
  std::array<part, 2> parts;
  unsigned made = 1;  // how many of the parts must have run in the end
  bool rests = true;  // in the end nothing is on the board of slots

  world() : world(std::make_integer_sequence<unsigned, Workers>{}) {}
  template <unsigned... I>
  explicit world(std::integer_sequence<unsigned, I...>) : workers{{worker{of, I}...}} {
    of.boxes[slot] = &box_of_slot;
    of.other_nodes = &own;
    slots_begin = &of.slots, slots_end = &of.slots + 1, word_of_driver = &word;
  }
  static constexpr unsigned threads() { return Workers + 1; }
  void check() const {
    for (unsigned i = 0; i < made; ++i) require(parts[i].runs == 1, "a task was not executed");
    require(!of.slots.any(), "a slot that does not ask is on the board");
    require(!of.hungry.any(), "a worker that does not ask is hungry");
  }

  // ---- driver::loop

  void sleep() {
    if (slots.fall_asleep()) word.block(sleeping);
    slots.wake_up();
  }
  /// Until the slot is answered; runs what it was given in another node, so to speak.
  void collect() {
    while (!slots.has_answer(0)) sleep();
    if (const request r = slots.collect(0)) finish(*as_part(r));
  }
  void finish(part& p) {  // other_nodes::complete
    require(p.runs++ == 0, "a task was executed twice");
    p.progress.store(1, std::memory_order_release);
    workers[0].box.ring(news);
  }
  /// Whether that worker is hungry, and with what request.
  bool is_hungry(unsigned who, request& seen) const {
    bool found = false;
    slots.each_hungry([&](unsigned i, request r) {
      if (i == who) found = true, seen = r;
    });
    return found;
  }
  bool feed(unsigned who, request seen, part& p) {
    if (broken != fault::feed_without_claim) return slots.feed(who, seen, as_request(p));
    workers[who].box.hand(as_request(p));
    return true;
  }

  std::string name(const void* at) const {
    auto in = [at](const auto& object) {
      const auto* begin = reinterpret_cast<const char*>(&object);
      return at >= begin && at < begin + sizeof object;
    };
    for (unsigned i = 0; i < Workers; ++i) {
      const std::string number = std::to_string(i);
      if (in(workers[i].word)) return "word of " + number;
      if (in(workers[i].box)) return "request of " + number;
    }
    for (unsigned i = 0; i < parts.size(); ++i)
      if (in(parts[i])) return "part " + std::to_string(i);
    return in(word)           ? "the driver's word"
           : in(box_of_slot)  ? "request of the slot"
           : in(of.askers)    ? "askers"
           : in(of.computing) ? "computing"
           : in(of.hungry)    ? "hungry"
           : in(of.slots)     ? "slots"
                              : "something";
  }
};

/// The worker computes, and gives or keeps its part; the driver asks.
struct asking : world<1> {
  asking() { workers[0].to_give = &parts[0]; }
  template <class Polls>
  void compute(Polls polls) {
    worker& w = workers[0];
    begin_to_compute(w.self(), true);
    polls(w);
    if (parts[0].handed) w.join(parts[0], slot);
    else w.to_give = nullptr, w.execute(parts[0], true);
    w.to_give = nullptr;
    of.computing.clear(0);
  }
};

/// A request finds the part, whether the worker has begun before or begins afterwards. The worker
/// takes it back, or not.
struct ask_or_begin : asking {
  void run(unsigned i) {
    if (i == 0) return compute([](worker& w) { w.poll_until_given(); });
    note() |= is_driver;
    slots.ask(0, nullptr);
    collect();
  }
};
/// Its first split throws.
struct split_fails : ask_or_begin {
  split_fails() { workers[0].failures = 1; }
};

/// The request is withdrawn while the worker may be taking it on; then the slot asks again, and
/// withdraws again.
struct withdraw_or_claim : asking {
  void run(unsigned i) {
    if (i == 0) {
      return compute([](worker& w) {
        w.poll();
        w.poll();
      });
    }
    note() |= is_driver;
    for (int k = 0; k < 2; ++k) {
      slots.ask(0, nullptr);
      if (!slots.withdraw(0, nullptr)) collect();
    }
  }
};
struct withdraw_or_fail : withdraw_or_claim {
  withdraw_or_fail() { workers[0].failures = 1; }
  void run(unsigned i) {
    if (i == 0) return withdraw_or_claim::run(0);
    note() |= is_driver;
    slots.ask(0, nullptr);
    while (!slots.withdraw(0, nullptr)) {  // taken on: answered, or open again
      if (slots.has_answer(0)) return collect();
      sleep();
    }
  }
};

/// A worker that finds nothing is fed.
struct hungry_is_fed : world<1> {
  void run(unsigned i) {
    if (i == 0) {
      part* const p = workers[0].obtain(nullptr, [] { return false; });
      return workers[0].execute(*p, false);
    }
    note() |= is_driver;
    request seen = 0;
    while (!is_hungry(0, seen) || !feed(0, seen, parts[0])) sleep();
    while (!parts[0].done()) sleep();
  }
};

/// It is fed when what it waits for may be done already: then the task is still the driver's.
struct fed_too_late : world<1> {
  fed_too_late() { made = 2; }
  void run(unsigned i) {
    if (i == 0) {
      worker& w = workers[0];
      while (!parts[0].done()) {
        if (part* p = w.obtain(&parts[0], [this] { return parts[0].done(); })) w.execute(*p, false);
      }
      return;
    }
    note() |= is_driver;
    request seen = 0;
    while (!is_hungry(0, seen)) sleep();
    finish(parts[0]);
    if (!feed(0, seen, parts[1])) ++parts[1].runs;
  }
};

/// A part that another node had comes back, and its owner waits for it, or is about to.
struct comes_back : asking {
  void run(unsigned i) {
    if (i == 0) return compute([](worker& w) { w.poll_until_given(); });
    note() |= is_driver;
    slots.ask(0, nullptr);
    while (!slots.has_answer(0)) sleep();
    if (slots.collect(0) == 0) return;
    request seen = 0;
    while (!is_hungry(0, seen) || !feed(0, seen, parts[0])) sleep();
  }
};

/// Worker 0 takes on the request of worker 1, and cannot split; worker 1 is hungry, before or
/// afterwards.
struct open_again : world<2> {
  open_again() { workers[0].to_give = &parts[1], workers[0].failures = 1; }
  void run(unsigned i) {
    if (i == 0) {
      begin_to_compute(workers[0].self(), true);
      workers[0].poll();
      workers[0].to_give = nullptr;
      parts[0].progress.await(1);
      of.computing.clear(0);
    } else if (i == 1) {
      part* const p = workers[1].obtain(nullptr, [] { return false; });
      workers[1].execute(*p, false);
    } else {
      note() |= is_driver;
      request seen = 0;
      while (!is_hungry(1, seen) || !feed(1, seen, parts[0])) sleep();
    }
  }
};

template <class World>
verdict explore(fault f) {
  broken = f;
  const bool two = World::threads() == 2;
  const verdict found = explorer().explore<World>(two ? explorer::unbounded : 2);
  broken = fault::none;
  std::printf("%zu states, %zu steps%s\n", found.states, found.steps,
              two ? "" : ", at most 2 preemptions");
  return found;
}
template <class World>
void holds() {
  const verdict found = explore<World>(fault::none);
  EXPECT_EQ(found.violation, "") << found.schedule;
  EXPECT_GT(found.states, 100u);
}
template <class World>
void finds(fault f) {
  const verdict found = explore<World>(f);
  EXPECT_NE(found.violation, "");
  std::printf("%s. A shortest schedule:\n%s", found.violation.c_str(), found.schedule.c_str());
}

TEST(other_nodes, ask_or_begin) { holds<ask_or_begin>(); }
TEST(other_nodes, split_fails) { holds<split_fails>(); }
TEST(other_nodes, withdraw_or_claim) { holds<withdraw_or_claim>(); }
TEST(other_nodes, withdraw_or_fail) { holds<withdraw_or_fail>(); }
TEST(other_nodes, hungry_is_fed) { holds<hungry_is_fed>(); }
TEST(other_nodes, fed_too_late) { holds<fed_too_late>(); }
TEST(other_nodes, comes_back) { holds<comes_back>(); }
TEST(other_nodes, open_again) { holds<open_again>(); }

TEST(broken_other_nodes, slot_not_set) { finds<ask_or_begin>(fault::slot_not_set); }
TEST(broken_other_nodes, slot_not_set_again) { finds<split_fails>(fault::slot_not_set_again); }
TEST(broken_other_nodes, collect_by_load) { finds<ask_or_begin>(fault::collect_by_load); }
TEST(broken_other_nodes, reclaim_by_load) { finds<ask_or_begin>(fault::reclaim_by_load); }
TEST(broken_other_nodes, not_pressed) { finds<ask_or_begin>(fault::not_pressed); }
TEST(broken_other_nodes, sleep_by_store) { finds<ask_or_begin>(fault::sleep_by_store); }
TEST(broken_other_nodes, answer_not_rung) { finds<ask_or_begin>(fault::answer_not_rung); }
TEST(broken_other_nodes, withdraw_by_load) { finds<withdraw_or_claim>(fault::withdraw_by_load); }
TEST(broken_other_nodes, claim_by_load) { finds<withdraw_or_claim>(fault::claim_by_load); }
TEST(broken_other_nodes, bit_left_behind) { finds<withdraw_or_claim>(fault::bit_left_behind); }
TEST(broken_other_nodes, hungry_not_rung) { finds<hungry_is_fed>(fault::hungry_not_rung); }
TEST(broken_other_nodes, hungry_sleeps_by_store) { finds<hungry_is_fed>(fault::sleep_by_store); }
TEST(broken_other_nodes, feed_without_claim) { finds<fed_too_late>(fault::feed_without_claim); }
TEST(broken_other_nodes, returned_but_not_rung) { finds<comes_back>(fault::hungry_not_rung); }
TEST(broken_other_nodes, hungry_not_rung_again) { finds<open_again>(fault::hungry_not_rung_again); }

}  // namespace
