// Random programs of every construct, while nothing stays as it was: leaves take no time and then
// up to 200 us, so that a cutoff just learnt is wrong; whatever may throw does; scopes and groups
// are cancelled. The plain sequential program is the oracle: of the result, or of the exception. At
// every put and every leaf the workspace must be what the path from the root makes it, which each
// branch knows by value; every leaf is entered once, every task made is run once and freed.
#include "core/random_program.hpp"

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

namespace cleave::tests {
namespace {

using clock = std::chrono::steady_clock;

// ---- what is seen

tally twice, made, run, living, entered;
std::atomic<unsigned> clocked{0};

/// The leaves entered in one run of a program; none may be twice.
class leaves {
public:
  void clear() {
    for (auto& s : slots_) s.store(0, std::memory_order_relaxed);
  }
  void enter(std::uint64_t leaf) {
    for (std::size_t i = leaf;; ++i) {
      std::uint64_t empty = 0;
      if (slots_[i % slots].compare_exchange_strong(empty, leaf, std::memory_order_relaxed)) return;
      if (empty == leaf) return void(twice += 1);
    }
  }

private:
  static constexpr std::size_t slots = 1 << 16;  // some times as many as a program has leaves
  std::array<std::atomic<std::uint64_t>, slots> slots_{};
};
leaves seen;

/// Counts the tasks that live.
struct living_task {
  living_task() { living += 1; }
  living_task(const living_task&) { living += 1; }
  ~living_task() { living += -1; }
};

// ---- what throws

struct thrown {  // at a place of the program, also when it is run sequentially
  std::uint64_t where;
};
struct failed {};  // by chance, where only a divided program is
bool throws = false, fails = false;

void may_throw(std::uint64_t place) {
  if (throws && mix(place) % 300 == 0) throw thrown{place};
}
void may_fail() {
  static std::atomic<std::uint64_t> calls{0};
  if (fails && mix(calls.fetch_add(1, std::memory_order_relaxed)) % 100 == 0) throw failed{};
}

/// Takes its time or none, in turns of some hundred leaves.
void take_time() {
  const unsigned n = clocked.fetch_add(1, std::memory_order_relaxed);
  if ((n >> 9) % 2 == 0 || mix(n) % 8 != 0) return;
  const auto end = clock::now() + std::chrono::microseconds(mix(n) / 8 % 200);
  while (clock::now() < end) {}
}

// ---- the programs

struct place {
  std::uint64_t seed;            // of the program from here on
  int size;                      // about how many leaves it has
  workspace path;                // what the workspace must be here
  cancel_scope* stop = nullptr;  // what a leaf may cancel
  bool counts = true;            // what is cancelled may be left out

  place inner(int which, int size_of) const {
    place p = *this;
    p.seed = mix(seed * 31 + static_cast<std::uint64_t>(which)), p.size = size_of;
    return p;
  }
  place changed(std::uint64_t by) const {
    place p = *this;
    p.path.change(by);
    return p;
  }
  int iterations() const { return 2 + static_cast<int>(seed >> 16 & 3); }
  place iteration(int i) const { return inner(i, size / iterations()); }
};

template <class Mode>
digest program(workspace& w, const place& at);
template <class Mode, class Wind>
digest iteration(workspace& w, const place& at, int i, Wind wind);
template <class Mode, class Wind>
digest wound(workspace& w, const place& at, int which, Wind wind);

struct sequential : plain_constructs {
  static void pause(std::uint64_t) {}
  static void enter(const place& at) { entered += at.counts; }
  template <class B>
  static digest plain_loop(std::uint64_t, int n, B body) {
    digest d;
    for (int i = 0; i < n; ++i) d += body(i);
    return d;
  }
  template <class B>
  static digest group(const place&, int n, B task) {
    digest d;
    std::exception_ptr first;
    for (int i = 0; i < n; ++i) {
      try {
        d += task(i);
      } catch (const thrown&) {
        if (!first) first = std::current_exception();
      }
    }
    if (first) std::rethrow_exception(first);
    return d;
  }
  template <class F>
  static digest scope(F f) {
    return f();
  }
  template <class F>
  static digest cancelled_scope(const place&, F) {
    return digest::of(1);
  }
};

/// With what `piece` a part of the program is given away.
enum class part { whole, loop, nested };

template <class Mode>
struct piece {
  piece(const workspace& of, const place& p, part of_what = part::whole, int f = 0, int t = 0)
      : w(of), at(p), what(of_what), from(f), to(t) {
    made += at.counts;
  }
  digest run();

  living_task alive;
  workspace w;
  place at;
  part what;
  int from, to;
};

struct divided : divided_constructs<may_fail> {
  static void pause(std::uint64_t seed) {
    if (seed % 64 == 0) {
      force_split();
    } else if (seed % 8 == 1) {
      poll();
    }
  }
  static void enter(const place& at) {
    take_time();
    seen.enter(at.seed);
    entered += at.counts;
    if (at.stop != nullptr && at.seed % 16 == 0) at.stop->cancel();
  }
  template <class B>
  static digest plain_loop(std::uint64_t kind, int n, B body) {
    return kind % 2 == 0 ? sum(0, n, body) : reduce(0, n, digest{}, body, merge);
  }
  template <class B>
  static digest group(const place& at, int n, B task) {
    std::vector<digest> results(static_cast<std::size_t>(n));
    {
      task_group g;
      // Which one threw first is told by the order of spawns, which tasks that spawn would change.
      if (throws || at.seed % 3 != 0) {
        for (int i = 0; i < n; ++i) spawn_one(g, results, task, i);
      } else {
        spawn_range(g, results, task, 0, n);
      }
      pause(at.seed);
      g.wait();
    }
    digest all;
    for (const digest& d : results) all += d;
    return all;
  }
  template <class F>
  static digest scope(F f) {
    cancel_scope s;
    return *s.run(f);
  }
  /// Is cancelled by one of its leaves, by its end, or by another thread.
  template <class F>
  static digest cancelled_scope(const place& at, F f) {
    cancel_scope s;
    place inside = at;
    inside.stop = &s, inside.counts = false;
    const auto d = s.run([&] {
      cleave::both([&] { return f(inside); }, [&s] { s.cancel(); });
      for (;;) poll();
      return digest();
    });
    return digest::of(d.has_value() ? 2 : 1);
  }

private:
  template <class B>
  static void spawn_one(task_group& g, std::vector<digest>& results, const B& task, int i) {
    g.spawn([&results, task, i] { results[static_cast<std::size_t>(i)] = task(i); });
  }
  template <class B>
  static void spawn_range(task_group& g, std::vector<digest>& results, const B& task, int from,
                          int to) {
    for (; to - from > 1; to = (from + to) / 2) {
      const int half = (from + to) / 2;
      g.spawn([&g, &results, task, half, to] { spawn_range(g, results, task, half, to); });
    }
    spawn_one(g, results, task, from);
  }
};

template <class Mode>
digest piece<Mode>::run() {
  tests::run += at.counts;
  if (what == part::whole) return program<Mode>(w, at);
  if constexpr (std::is_same_v<Mode, divided>) {
    workspace& own = w;
    auto body = [&own, this](int i, auto wind) {
      return what == part::loop ? iteration<Mode>(own, at, i, wind) : wound<Mode>(own, at, i, wind);
    };
    return Mode::range(at.seed >> 8, from, to, body, [&own, this](int f, int t) {
      verify(own, at.path);
      may_fail();
      return piece(own, at, what, f, t);
    });
  }
  return {};
}

/// A step and what comes after it.
template <class Mode, class Wind>
digest wound(workspace& w, const place& at, int which, Wind wind) {
  const std::uint64_t by = mix(at.seed + static_cast<std::uint64_t>(which));
  return wind(
      [&w, by] {
        may_throw(by ^ 1);
        w.change(by);
      },
      [&w, at, which, by] { return program<Mode>(w, at.changed(by).inner(which, at.size / 2)); },
      [&w, by] { w.restore(by); });
}

/// The loop's wind at once, in a construct, or in another loop that has one of its own.
template <class Mode, class Wind>
digest iteration(workspace& w, const place& loop, int i, Wind wind) {
  const place at = loop.iteration(i);
  Mode::pause(at.seed);
  may_throw(at.seed);
  switch (at.seed >> 40 & 3) {
    case 0:
      return Mode::both([=, &w] { return wound<Mode>(w, at, 0, wind); },
                        [=, &w] { return wound<Mode>(w, at, 1, wind); },
                        [&w, at] {
                          verify(w, at.path);
                          may_fail();
                          return piece<Mode>(w, at, part::nested, 1, 2);
                        });
    case 1:
      return Mode::loop(
          at.seed >> 8, 2, [=, &w](int j, auto) { return wound<Mode>(w, at, j, wind); },
          [&w, at](int f, int t) {
            verify(w, at.path);
            may_fail();
            return piece<Mode>(w, at, part::nested, f, t);
          });
    default: return wound<Mode>(w, at, 0, wind);
  }
}

/// More than fits in registers, which the caller takes off its stack when it likes to.
struct large {
  std::uint64_t words[5];
};
using on_the_stack = std::uint64_t(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                   std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                   large);
std::uint64_t add_some(std::uint64_t a, std::uint64_t b, std::uint64_t, std::uint64_t,
                       std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t h, large l) {
  return a + b + h + l.words[4];
}
on_the_stack* volatile with_stack_arguments = &add_some;

template <class Mode>
digest loop_at(workspace& w, const place& at) {
  return Mode::loop(
      at.seed >> 8, at.iterations(),
      [&w, at](int i, auto wind) { return iteration<Mode>(w, at, i, wind); },
      [&w, at](int f, int t) {
        verify(w, at.path);
        may_fail();
        return piece<Mode>(w, at, part::loop, f, t);
      });
}

template <class Mode>
digest caught(workspace& w, const place& at) {
  try {
    return program<Mode>(w, at);
  } catch (const thrown& t) {
    verify(w, at.path);
    return digest::of(t.where);
  }
}

/// Two branches; `kind` says whose workspace the second one has.
template <class Mode>
digest branches(workspace& w, const place& at, std::uint64_t kind) {
  const int first = 1 + static_cast<int>((at.seed >> 8) % static_cast<unsigned>(at.size - 1));
  const place second = at.inner(2, at.size - first);
  if (kind == 0)
    return Mode::both([&w, at, first] { return program<Mode>(w, at.inner(1, first)); },
                      [own = w, second]() mutable { return program<Mode>(own, second); });
  return Mode::both(
      [&w, at, first] { return wound<Mode>(w, at.inner(1, 2 * first), 0, Mode::with_step); },
      [&w, second] { return program<Mode>(w, second); },
      [&w, second] {
        verify(w, second.path);
        may_fail();
        return piece<Mode>(w, second);
      });
}

template <class Mode>
digest program(workspace& w, const place& at) {
  verify(w, at.path);
  Mode::pause(at.seed);
  may_throw(at.seed);
  if (at.size <= 1) {
    Mode::enter(at);
    return digest::of(at.seed ^ w.cells[at.seed % 8]);
  }
  const place inside = at.inner(0, at.size - 1);
  switch (const std::uint64_t kind = at.seed % 16) {
    case 0:
    case 1: return branches<Mode>(w, at, kind);
    case 2: return branches<Mode>(w, at, kind);
    case 3: return wound<Mode>(w, at.inner(0, 2 * at.size - 2), 0, Mode::with_step);
    case 4: return Mode::scope([&w, inside] { return program<Mode>(w, inside); });
    case 5:
      return Mode::cancelled_scope(at, [&w](const place& p) {
        return caught<Mode>(w, p.inner(0, std::min(p.size - 1, 50)));
      });
    case 6: return caught<Mode>(w, inside);
    case 7:
      return Mode::group(at, at.iterations(), [own = w, at](int i) {
        workspace mine = own;
        return program<Mode>(mine, at.iteration(i));
      });
    case 8:
      return Mode::plain_loop(at.seed >> 8, at.iterations(), [own = w, at](int i) {
        workspace mine = own;
        return program<Mode>(mine, at.iteration(i));
      });
    case 9:
    case 10: {
      const std::uint64_t n = with_stack_arguments(1, 2, 3, 4, 5, 6, 7, kind, {});
      return digest::of(n) + loop_at<Mode>(w, at);
    }
    default: return loop_at<Mode>(w, at);
  }
}

// ---- running them

struct outcome {
  digest result;
  std::uint64_t where = 0;  // something was thrown there
  bool by_chance = false;   // or something failed
  friend bool operator==(const outcome&, const outcome&) = default;
  friend void PrintTo(const outcome& o, std::ostream* out) {
    *out << (o.by_chance    ? "a failure"
             : o.where != 0 ? "an exception"
                            : "a result")
         << ' ' << o.result.hash << ' ' << o.where;
  }
};

template <class F>
outcome outcome_of(F f) {
  try {
    return {.result = f()};
  } catch (const thrown& t) { return {.result = {}, .where = t.where}; } catch (const failed&) {
    return {.result = {}, .by_chance = true};
  }
}

void run_one(runtime& rt, std::uint64_t seed) {
  throws = seed % 4 == 1 || seed % 4 == 3, fails = seed % 4 >= 2;
  const place root{.seed = random_at(seed), .size = 50 << seed % 7, .path = {}};
  workspace w;
  entered = 0;
  const outcome expected = outcome_of([&] { return program<sequential>(w, root); });
  const long leaves_of_it = entered;
  for (tally* t : {&mismatches, &twice, &made, &tests::run, &entered}) *t = 0;
  seen.clear();
  const outcome got = outcome_of([&] {
    return rt.run([&root] {
      workspace own;
      struct at_exit {
        workspace& w;
        ~at_exit() { verify(w, {}); }
      } checked{own};
      return program<divided>(own, root);
    });
  });
  const std::string at = "seed " + std::to_string(seed);
  ASSERT_TRUE(got == expected || (fails && got.by_chance))
      << at << ": " << testing::PrintToString(got);
  ASSERT_EQ(mismatches, 0) << at << ": the workspace was not as it should be";
  ASSERT_EQ(twice, 0) << at << ": a leaf was entered twice";
  ASSERT_EQ(living, 0) << at << ": a task was not freed, or freed twice";
  if (throws || fails) {
    ASSERT_LE(tests::run, made) << at;
  } else {
    ASSERT_EQ(tests::run, made) << at << ": a task was not run";
    ASSERT_EQ(entered, leaves_of_it) << at;
  }
}

struct shape {
  int workers;
  bool cutoff;
  friend void PrintTo(const shape& s, std::ostream* out) {
    *out << s.workers << (s.cutoff ? " workers" : " workers without a cutoff");
  }
};
class random_programs : public testing::TestWithParam<shape> {};

TEST_P(random_programs, give_what_the_sequential_ones_give) {
  const bool soak = std::getenv("CLEAVE_SOAK") != nullptr;
  runtime rt(options{.workers = GetParam().workers,
                     .stack_bytes = std::size_t{64} << 20,
                     .cutoff = GetParam().cutoff});
  const auto end = clock::now() + std::chrono::milliseconds(soak ? 30'000 : 700);
  std::uint64_t seed = static_cast<std::uint64_t>(GetParam().workers) << 20;
  for (int k = 0; (clock::now() < end || k < 20) && !HasFatalFailure(); ++k) run_one(rt, seed++);
  const counters c = rt.statistics();
  std::printf("%llu programs, %llu splits, %llu steps undone\n",
              static_cast<unsigned long long>(seed & 0xfffff),
              static_cast<unsigned long long>(c.splits), static_cast<unsigned long long>(c.undone));
  EXPECT_GT(c.splits, 100u);
  EXPECT_GT(c.undone, 100u);
}

INSTANTIATE_TEST_SUITE_P(with, random_programs,
                         testing::Values(shape{2, true}, shape{3, true}, shape{8, true},
                                         shape{64, true}, shape{2, false}, shape{8, false},
                                         shape{64, false}),
                         [](const testing::TestParamInfo<shape>& i) {
                           return "workers_" + std::to_string(i.param.workers) +
                                  (i.param.cutoff ? "" : "_without_cutoff");
                         });

}  // namespace
}  // namespace cleave::tests
