// Cancellation: stops within a poll, is scoped, undoes, and reaches what was given away.
#include "core/requests.hpp"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

namespace cleave::tests {
namespace {

using namespace std::chrono_literals;

class cancel_with : public every_runtime {};
CLEAVE_FOR_EVERY_RUNTIME(cancel_with);

TEST_P(cancel_with, not_cancelled_gives_the_result) {
  rt.run([] {
    cancel_scope s;
    EXPECT_EQ(s.run([] { return 5; }), 5);
    EXPECT_TRUE(s.run([] {}));
    EXPECT_FALSE(s.cancelled());
  });
}

TEST_P(cancel_with, stops_at_the_next_poll) {
  rt.run([] {
    cancel_scope s;
    int after = 0;
    const bool finished = s.run([&] {
      s.cancel();
      ++after;
      poll();
      ADD_FAILURE() << "a poll went on in a cancelled scope";
    });
    EXPECT_FALSE(finished);
    EXPECT_EQ(after, 1);
    EXPECT_FALSE(s.run([] { ADD_FAILURE() << "ran in a cancelled scope"; }));
    EXPECT_EQ(s.run([] { return 1; }), std::nullopt);
    poll();  // what is outside goes on
  });
}

/// What the scope runs may end without a poll: then nothing is thrown, and what follows goes on.
TEST_P(cancel_with, by_its_own_thread_and_left_without_a_poll) {
  const auto leaves = [] {
    for (int k = 0; k < 100; ++k) {
      cancel_scope s;
      EXPECT_TRUE(s.run([&s] { s.cancel(); }));  // it ran to its end
      EXPECT_TRUE(s.cancelled());
      EXPECT_FALSE(s.run([] { ADD_FAILURE() << "ran in a cancelled scope"; }));
      EXPECT_EQ(detail::rung_signals() & detail::own_cancel, 0u);
      EXPECT_EQ(sum(0, 10, [](int i) { return i; }), 45);
      poll();
    }
  };
  leaves();
  rt.run(leaves);
}

TEST_P(cancel_with, scopes_in_each_other_by_their_own_thread) {
  const auto nested = [] {
    for (int k = 0; k < 100; ++k) {
      cancel_scope outer, inner;
      // The inner one first: the outer one is still to be found when that is left.
      EXPECT_FALSE(outer.run([&] {
        inner.run([&] {
          inner.cancel();
          outer.cancel();
        });
        poll();
        ADD_FAILURE() << "the outer scope went on";
      }));
      cancel_scope around, within;
      EXPECT_FALSE(around.run([&] {
        around.cancel();
        within.run([&] { within.cancel(); });
        poll();
        ADD_FAILURE() << "the outer scope went on";
      }));
      poll();
    }
  };
  nested();
  rt.run(nested);
}

/// A mark that was this thread's alone is everybody's once something below it is given away.
TEST_P(cancel_with, by_its_own_thread_before_it_makes_a_task) {
  rt.run([] {
    for (int k = 0; k < 100; ++k) {
      cancel_scope outer, inner;
      EXPECT_FALSE(outer.run([&] {
        inner.run([&] {
          inner.cancel();
          try {
            task_group g;
            g.spawn([] { ADD_FAILURE() << "ran in a cancelled scope"; });
            g.wait();
          } catch (...) {
            outer.cancel();
            throw;
          }
        });
        poll();
        ADD_FAILURE() << "the outer scope went on";
      }));
      poll();
      EXPECT_FALSE(detail::stopped(detail::here.current));
    }
  });
}

struct solver {
  cancel_scope stop;
  bool search() {
    return stop.run([] {});
  }
};

TEST_P(cancel_with, it_belongs_to_what_it_runs_in_only_meanwhile) {
  const auto belongs = [] {
    cancel_scope a;
    solver s;
    {
      cancel_scope b;
      EXPECT_FALSE(b.run([&] {
        EXPECT_TRUE(a.run([] {}));
        EXPECT_TRUE(s.search());
        b.cancel();
        poll();
      }));
    }
    EXPECT_FALSE(a.cancelled());
    EXPECT_TRUE(a.run([] {}));
    EXPECT_TRUE(s.search());
  };
  belongs();
  rt.run(belongs);
}

TEST_P(cancel_with, every_construct_is_a_poll) {
  rt.run([] {
    const auto stopped_by = [](auto construct) {
      cancel_scope s;
      return !s.run([&] {
        s.cancel();
        construct();
        ADD_FAILURE() << "went on";
      });
    };
    const auto never = [] { ADD_FAILURE() << "began a branch"; };
    EXPECT_TRUE(stopped_by([&] { both(never, never); }));
    EXPECT_TRUE(stopped_by([&] { each(0, 2, [&](int) { never(); }); }));
    EXPECT_TRUE(stopped_by([&] {
      sum(0, 2, [&](int) {
        never();
        return 1;
      });
    }));
    EXPECT_TRUE(stopped_by([] { poll(); }));
  });
}

/// Counts what comes into it and what polls in it.
void endless(std::atomic<long>& polls) {
  both(
      [&polls] {
        for (;;) {
          ++polls;
          poll();
        }
      },
      [&polls] {
        for (;;) {
          ++polls;
          poll();
        }
      });
}

TEST_P(cancel_with, from_another_thread) {
  for (int k = 0; k < 5; ++k) {
    rt.run([] {
      cancel_scope s;
      std::atomic<long> polls{0};
      std::thread other([&] {
        while (polls < 100) std::this_thread::yield();
        s.cancel();
      });
      EXPECT_FALSE(s.run([&] { endless(polls); }));
      other.join();
      const long last = polls;
      std::this_thread::sleep_for(1ms);
      EXPECT_EQ(polls, last);  // nobody goes on in it
    });
  }
}

TEST_P(cancel_with, from_a_given_part) {
  for (int k = 0; k < 20; ++k) {
    rt.run([] {
      cancel_scope s;
      const auto found = s.run([&s] {
        return sum(0, 1000, [&s](int i) {
          disturb(static_cast<std::uint64_t>(i), 2);
          if (i == 777) s.cancel();
          poll();
          return 1;
        });
      });
      EXPECT_EQ(found, std::nullopt);
    });
  }
}

TEST_P(cancel_with, the_inner_scope_only) {
  const long total = rt.run([] {
    return sum(0, 100, [](int i) -> long {
      cancel_scope inner;
      const auto n = inner.run([&] {
        return sum(0, 10, [&inner, i](int j) {
          disturb(static_cast<std::uint64_t>(i * 10 + j));
          if (i % 2 == 0 && j == 5) {
            inner.cancel();
            poll();
          }
          return 1;
        });
      });
      EXPECT_EQ(n.has_value(), i % 2 != 0);
      return n.value_or(1000);
    });
  });
  EXPECT_EQ(total, 50 * 10 + 50 * 1000);
}

TEST_P(cancel_with, the_outer_scope_stops_the_inner) {
  rt.run([] {
    cancel_scope outer;
    bool inner_returned = false;
    EXPECT_FALSE(outer.run([&] {
      cancel_scope middle;
      middle.run([&] {
        cancel_scope inner;
        inner.run([&] {
          disturb(1, 1);
          outer.cancel();
          EXPECT_TRUE(inner.cancelled());
          poll();
          ADD_FAILURE();
        });
        inner_returned = true;
      });
      inner_returned = true;
    }));
    EXPECT_FALSE(inner_returned);
    poll();
  });
}

/// A scope that was made outside of another but runs inside of it stops with it.
TEST_P(cancel_with, scopes_made_side_by_side_and_run_inside_each_other) {
  rt.run([] {
    cancel_scope outer, inner;
    int polls = 0;
    EXPECT_FALSE(outer.run([&] {
      inner.run([&] {
        outer.cancel();
        for (; polls < 1000; ++polls) poll();
      });
      poll();
      ADD_FAILURE() << "the outer scope went on";
    }));
    EXPECT_LT(polls, 1000);
  });
}

struct marks {
  std::vector<int> stack;
  int depth, from, to;
  cancel_scope* s;
  std::atomic<long>* leaves;
  long run() { return down(stack, depth, from, to, *s, *leaves); }
  static long down(std::vector<int>& w, int depth, int from, int to, cancel_scope& s,
                   std::atomic<long>& leaves) {
    if (depth == 0) {
      if (++leaves == 300) s.cancel();
      return 1;
    }
    return sum(
        from, to,
        [&w, depth, &s, &leaves](int i) {
          step mark{[&w, i] { w.push_back(i); }, [&w] { w.pop_back(); }};
          disturb(static_cast<std::uint64_t>(i + depth), 3);
          return down(w, depth - 1, 0, 5, s, leaves);
        },
        [&w, depth, &s, &leaves](int f, int t) { return marks{w, depth, f, t, &s, &leaves}; });
  }
};

TEST_P(cancel_with, undoes_the_steps_while_parts_are_given_away) {
  for (int k = 0; k < 20; ++k) {
    rt.run([] {
      std::vector<int> w{41};
      cancel_scope s;
      std::atomic<long> leaves{0};
      EXPECT_EQ(s.run([&] { return marks::down(w, 5, 0, 5, s, leaves); }), std::nullopt);
      EXPECT_EQ(w, std::vector<int>{41});
      EXPECT_LT(leaves, 5 * 5 * 5 * 5 * 5);
    });
  }
}

TEST_P(cancel_with, an_exception_passes_through_a_scope) {
  EXPECT_THROW(rt.run([] {
    cancel_scope s;
    s.run([] { throw std::runtime_error("x"); });
  }),
               std::runtime_error);
}

TEST_P(cancel_with, a_scope_around_a_group) {
  rt.run([] {
    cancel_scope s;
    std::atomic<long> polls{0};
    EXPECT_FALSE(s.run([&] {
      task_group g;
      for (int i = 0; i < 8; ++i) {
        g.spawn([&] {
          for (;;) {
            if (++polls == 1000) s.cancel();
            poll();
          }
        });
      }
      EXPECT_FALSE(g.wait());
      poll();
    }));
  });
}

/// The attention that a cancellation calls for must not be spent by a group's task that is none of
/// its business.
TEST_P(cancel_with, while_waiting_for_a_group_from_outside_the_scope) {
  rt.run([] {
    task_group g;
    cancel_scope s;
    EXPECT_FALSE(s.run([&] {
      g.spawn([&] {
        s.cancel();
        for (int i = 0; i < 10; ++i) poll();
      });
      g.wait();
      poll();
      ADD_FAILURE() << "the scope went on";
    }));
  });
}

/// What a scope runs cannot run it again: it would be inside itself.
void run_again_inside() {
  cancel_scope s, between;
  int runs = 0;
  EXPECT_TRUE(s.run([&] {
    ++runs;
    EXPECT_THROW(s.run([&runs] { ++runs; }), std::logic_error);
    EXPECT_TRUE(between.run([&] { EXPECT_THROW(s.run([&runs] { ++runs; }), std::logic_error); }));
    poll();
  }));
  EXPECT_EQ(runs, 1);
  EXPECT_THROW(s.run([] { throw std::runtime_error("x"); }), std::runtime_error);
  EXPECT_TRUE(s.run([&runs] { ++runs; }));
  EXPECT_EQ(runs, 2);
}

TEST_P(cancel_with, not_inside_itself) { rt.run(run_again_inside); }
TEST(cancel_outside, not_inside_itself) { run_again_inside(); }

struct one {
  int run() { return 1; }
};

/// A poll finds a cancellation, and divides: the put throws. The cancellation is still to be found.
TEST(cancel_alone, and_a_put_throws_at_the_same_poll) {
  runtime rt(options{.workers = 1});  // another may be given the branch
  rt.run([] {
    cancel_scope s;
    EXPECT_FALSE(s.run([&s] {
      both(
          [&s] {
            s.cancel();
            EXPECT_THROW(force_split(), std::runtime_error);
            poll();
            ADD_FAILURE() << "a poll went on in a cancelled scope";
            return 0;
          },
          [] { return 1; }, []() -> one { throw std::runtime_error("x"); });
    }));
    poll();
  });
}

TEST(cancel_outside, while_a_group_made_outside_the_scope_runs_a_task) {
  task_group g;
  cancel_scope s;
  EXPECT_FALSE(s.run([&] {
    g.spawn([&s] {
      s.cancel();
      poll();
    });
    poll();
    ADD_FAILURE() << "the scope went on";
  }));
  EXPECT_TRUE(g.wait());
}

/// Helps with tasks of a group that was made outside: a poll in one of them takes the signal that
/// was meant for the scope.
TEST(cancel_alone, while_a_group_made_outside_the_scope_is_helped) {
  struct cancels final : detail::group_task {
    cancels(detail::group_scope& g, cancel_scope& s) : group_task(g), of(s) {}
    void execute() noexcept override {
      of.cancel();
      poll();
    }
    cancel_scope& of;
  };
  runtime rt(options{.workers = 1});
  rt.run([] {
    detail::group_scope g;
    cancel_scope s;
    EXPECT_FALSE(s.run([&] {
      detail::spawn(*new cancels(g, s));
      EXPECT_TRUE(detail::help(g));
      poll();
      ADD_FAILURE() << "the scope went on";
    }));
    detail::wait(g);
  });
}

/// Whoever spawns into another thread's group runs the task, and is told like that thread.
TEST(cancel_outside, a_group_of_another_thread_in_which_it_is) {
  task_group g;
  std::thread([&g] {
    g.spawn([&g] {
      g.cancel();
      poll();
      ADD_FAILURE() << "a poll went on in a cancelled group";
    });
  }).join();
  EXPECT_FALSE(g.wait());
}

/// Once left, whatever way, the thread is not rung.
TEST(cancel_outside, a_scope_left_by_an_exception_knows_its_thread_no_more) {
  cancel_scope s;
  poll();  // takes what other tests have left
  EXPECT_THROW(s.run([] { throw 1; }), int);
  std::thread([&s] { s.cancel(); }).join();
  EXPECT_EQ(detail::here.word, 0u);
  EXPECT_FALSE(s.run([] {}));
}

TEST(cancel_outside, sequential_programs_can_be_cancelled) {
  cancel_scope s;
  int i = 0;
  EXPECT_FALSE(s.run([&] {
    for (; i < 1000; ++i) {
      if (i == 500) s.cancel();
      poll();
    }
  }));
  EXPECT_EQ(i, 500);
}

TEST(cancel_outside, a_scope_around_run_reaches_into_it) {
  runtime rt(options{.workers = 2});
  cancel_scope s;
  std::atomic<long> polls{0};
  const auto give_up = std::chrono::steady_clock::now() + 5s;
  EXPECT_FALSE(s.run([&] {
    rt.run([&] {
      while (std::chrono::steady_clock::now() < give_up) {
        if (++polls == 1000) s.cancel();
        poll();
      }
    });
  }));
  EXPECT_LT(std::chrono::steady_clock::now(), give_up);
}

TEST(cancel_outside, another_thread_cancels_a_sequential_program) {
  cancel_scope s;
  std::atomic<long> polls{0};
  std::thread other([&] {
    while (polls < 100) std::this_thread::yield();
    s.cancel();
  });
  const auto give_up = std::chrono::steady_clock::now() + 5s;
  EXPECT_FALSE(s.run([&] {
    while (std::chrono::steady_clock::now() < give_up) {
      ++polls;
      poll();
    }
  }));
  other.join();
}

TEST(cancel, a_scope_is_in_another_one_while_it_runs_there_only) {
  cancel_scope s, around;
  EXPECT_TRUE(around.run([&s] { EXPECT_TRUE(s.run([] {})); }));
  around.cancel();
  EXPECT_FALSE(s.cancelled());
  EXPECT_TRUE(s.run([] {}));
}

/// What it was made in may be gone when it runs, and afterwards.
TEST(cancel, a_scope_outlives_the_one_that_it_was_made_in) {
  runtime rt(options{.workers = 2});
  std::unique_ptr<cancel_scope> made;
  rt.run([&made] {
    auto outer = std::make_unique<cancel_scope>();
    outer->run([&made] { made = std::make_unique<cancel_scope>(); });
  });
  EXPECT_TRUE(rt.run([&made] { return made->run([] {}); }));
  EXPECT_TRUE(rt.run([&made] { return made->run([] {}); }));
}

/// The scope is marked and nobody is rung yet, as stop() leaves it for a while. Told of it in some
/// way, the thread finds it at every poll from then on.
template <class Way>
void told_by(Way way) {
  cancel_scope elsewhere;  // a scope is asked for marks only while there are some
  elsewhere.cancel();
  detail::scope marked(detail::here.current);
  {
    detail::scope_frame inside(marked);
    poll();  // takes the ring for the other one
    marked.stopped = true;
    way();
    for (int k = 0; k < 3; ++k) EXPECT_THROW(poll(), detail::cancelled);
    const auto never = [] { ADD_FAILURE() << "began a branch"; };
    EXPECT_THROW(both(never, never), detail::cancelled);
    EXPECT_THROW(each(0, 2, [=](int) { never(); }), detail::cancelled);
  }
  marked.stopped = false;
  poll();
}

void told_in_every_way() {
  told_by([] { EXPECT_EQ(cancel_scope().run([] { return 1; }), std::nullopt); });
  told_by([] { EXPECT_TRUE(cancel_scope().cancelled()); });
  told_by([] {
    task_group g;
    EXPECT_FALSE(g.wait());
  });
  told_by([] {
    graph g;
    EXPECT_FALSE(g.wait());
  });
  told_by([] {
    detail::interrupt(detail::here);
    EXPECT_THROW(poll(), detail::cancelled);
  });
}

TEST_P(cancel_with, told_once_told_at_every_poll) { rt.run(told_in_every_way); }
TEST(cancel_outside, told_once_told_at_every_poll) { told_in_every_way(); }

TEST(cancel_alone, a_task_that_is_dropped_tells_who_joins_it) {
  runtime rt(options{.workers = 1});
  rt.run([] {
    told_by([] {
      task_group g;
      g.spawn([] { ADD_FAILURE() << "ran in a cancelled scope"; });
      EXPECT_FALSE(g.wait());
    });
  });
}

/// A destructor that runs while `cancelled` unwinds may use constructs.
TEST_P(cancel_with, constructs_of_destructors_run_to_their_end) {
  rt.run([] {
    int done = 0;
    struct sums_up_at_exit {
      int& done;
      ~sums_up_at_exit() {
        done = static_cast<int>(sum(0, 1000, [](int) {
          poll();
          return 1;
        }));
      }
    };
    cancel_scope s;
    EXPECT_FALSE(s.run([&] {
      sums_up_at_exit at_exit{done};
      s.cancel();
      poll();
    }));
    EXPECT_EQ(done, 1000);
  });
}

// ---- loops of which no iteration has taken long so far: what comes next may

/// Cancels in one iteration and counts those that come after it.
struct late {
  static constexpr int cancels = 20'000, last = 40'000;
  cancel_scope* scope;
  int* after;
  void operator()(int i) const {
    if (i > cancels) ++*after;
    if (i == cancels) scope->cancel();
  }
};

struct late_piece {
  late body;
  int from, to;
  long run() { return to - from; }
};

template <class Form>
int iterations_after(Form form) {
  cancel_scope s;
  int after = 0;
  const late body{&s, &after};
  const auto put = [body](int f, int t) { return late_piece{body, f, t}; };
  EXPECT_FALSE(s.run([&] { form(body, put); }));
  return after;
}

void expect_loops_left_at_once(bool undivided) {
  EXPECT_EQ(iterations_after([](late b, auto) { each(0, late::last, [b](int i) { b(i); }); }), 0);
  EXPECT_EQ(
      iterations_after([](late b, auto) { sum(0, late::last, [b](int i) { return b(i), 1; }); }),
      0);
  EXPECT_EQ(iterations_after([](late b, auto) {
              reduce(
                  0, late::last, 0, [b](int i) { return b(i), 1; },
                  [](int x, int y) { return x + y; });
            }),
            0);
  EXPECT_EQ(iterations_after([](late b, auto) {
              each(0, 2, [b](int) { each(0, late::last, [b](int i) { b(i); }); });
            }),
            0);
  EXPECT_EQ(iterations_after([](late b, auto put) {
              each(
                  0, late::last, [b](int i) { b(i); }, put, [](long) {});
            }),
            0);
  EXPECT_EQ(iterations_after([](late b, auto put) {
              sum(
                  0, late::last, [b](int i) { return b(i), 1L; }, put);
            }),
            0);
  EXPECT_EQ(iterations_after([](late b, auto put) {
              sum(
                  0, late::last, [b](int i, long& total) { b(i), ++total; }, put);
            }),
            0);
  EXPECT_EQ(iterations_after([](late b, auto put) {
              reduce(
                  0, late::last, 0L, [b](int i) { return b(i), 1L; },
                  [](long x, long y) { return x + y; }, put);
            }),
            0);
  int steps = 0;
  EXPECT_EQ(iterations_after([&steps](late b, auto put) {
              sum(
                  0, late::last,
                  [b, &steps](int i) {
                    step counted{[&steps] { ++steps; }, [&steps] { --steps; }};
                    return b(i), 1L;
                  },
                  put);
            }),
            0);
  if (undivided) return;  // there, a loop that winds looks in inner constructs alone
  EXPECT_EQ(iterations_after([&steps](late b, auto put) {
              sum(
                  0, late::last,
                  [b, &steps](int i, long& total, auto wind) {
                    wind([&steps] { ++steps; }, [b, i] { b(i); }, [&steps] { --steps; });
                    ++total;
                  },
                  put);
            }),
            0);
}

TEST(cancel_alone, loops_are_left_after_the_iteration) {
  runtime rt(options{.workers = 1});
  rt.run([] { expect_loops_left_at_once(false); });
}
TEST(cancel_outside, loops_are_left_after_the_iteration) { expect_loops_left_at_once(true); }

}  // namespace
}  // namespace cleave::tests
