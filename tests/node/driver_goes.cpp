// labels: once slow
// Several nodes in one process, which come, leave and die while tasks of others run on them.
#include "node/travelling.hpp"

#include <set>
#include <string>
#include <vector>

namespace cleave::tests {
namespace {

// ---- nodes that go

/// A task on node 1 has given a part of itself to node 2, and both run on and on.
struct two_deep {
  auto input() { return std::tie(); }
  int run() {
    note_arrival();
    return both([] { return endless_task{}.run(); }, endless_task{}).first;
  }
};

TEST_F(nodes, one_goes_whose_task_has_parts_elsewhere) {
  job j(3, 1);
  static std::atomic<bool> over;
  over = false;
  std::thread goes([&] {
    EXPECT_TRUE(soon([] { return running == 2; }));
    // Both go, one after the other: whichever has the part, the other waits for it.
    j.nodes[1].reset();
    j.nodes[2].reset();
    over = true;
  });
  EXPECT_EQ(run(j,
                [] {
                  cancel_scope s;
                  s.run([&] {
                    both(
                        [&] {
                          const auto end = clock::now() + 20s;
                          while (!over && clock::now() < end) poll();
                          EXPECT_TRUE(over) << "a node that goes waits for others";
                          s.cancel();
                          poll();
                          return 0;
                        },
                        two_deep{});
                  });
                  return 1;
                }),
            1);
  goes.join();
  EXPECT_EQ(running, 0);
}

TEST_F(nodes, the_task_of_a_dead_node_runs_again) {
  for (const bool told : {true, false}) {
    travelled = 0;
    job j(2, 1);
    static std::atomic<int> there;
    there = 0;
    struct lost_once {
      auto input() { return std::tie(); }
      int run() {
        note_arrival();
        while (elsewhere() && there == 0) std::this_thread::yield();
        return 7;
      }
    };
    EXPECT_EQ(run(j,
                  [&j, told] {
                    return both(
                               [&] {
                                 await_travellers();
                                 j.network.kill(1, told);
                                 return 0;
                               },
                               lost_once{})
                        .second;
                  }),
              7);
    there = 1;
  }
}

/// It takes longer than its nodes live: who waits for it runs it, and nobody gets it whole again.
TEST_F(nodes, what_was_lost_with_two_nodes_stays) {
  constexpr unsigned count = 6;
  job j(count, 1);
  static std::atomic<int> over;
  over = 0;
  struct lost_always {
    auto input() { return std::tie(); }
    bool run() {
      note_arrival();
      const auto end = clock::now() + 10s;
      while (elsewhere() && over == 0 && clock::now() < end) std::this_thread::yield();
      return elsewhere();
    }
  };
  // Whoever has it dies.
  std::thread reaper([&] {
    std::set<net::address> dead;
    while (dead.size() < 2 && over == 0) {
      for (net::address i = 1; i < count; ++i) {
        if (j.nodes[i]->link().counted().tasks_in == 0 || !dead.insert(i).second) continue;
        j.network.kill(i, true);
      }
      std::this_thread::sleep_for(100us);
    }
  });
  const bool ran_elsewhere = run(j, [] {
    return both(
               [] {
                 await_travellers(2);
                 // The others go on asking, and would get it.
                 const auto end = clock::now() + 300ms;
                 while (clock::now() < end) poll();
                 return 0;
               },
               lost_always{})
        .second;
  });
  EXPECT_FALSE(ran_elsewhere);
  EXPECT_EQ(travelled, 2);
  over = 1;
  reaper.join();
}

/// While tasks of others still run, in any order.
TEST_F(nodes, all_go_while_tasks_run) {
  for (unsigned k = 0; k < 20; ++k) {
    travelled = 0;
    job j(3, 2, {.seed = k, .delay = microseconds(100)});
    EXPECT_THROW(run(j,
                     [] {
                       both(
                           []() -> int {
                             await_travellers();
                             throw std::runtime_error("end");
                           },
                           two_deep{});
                       return 0;
                     }),
                 std::runtime_error);
    for (unsigned i = 0; i < 3; ++i) j.nodes[(i + k) % 3].reset();
  }
  EXPECT_EQ(running, 0);
}

/// The pool of a node could not be made: the others do not wait for it.
TEST_F(nodes, one_goes_that_never_began) {
  loopback network(2, {});
  auto never_begins = net::driver::open([&] { return network.open(0); }, quick());
  test_node other(network, 1, 1);
  std::atomic<bool> over{false};
  std::thread waits([&] {
    other.link().wait_until_over();
    over = true;
  });
  never_begins.reset();
  EXPECT_TRUE(soon([&] { return over.load(); }));
  if (!over) std::abort();  // nothing would end it
  waits.join();
}

/// A node that speaks another version of the protocol, in the place of the first: nobody waits for
/// it.
TEST_F(nodes, the_first_speaks_another_version) {
  loopback network(2, {});
  const auto first = network.open(0);
  test_node other(network, 1, 1);
  std::atomic<bool> over{false};
  std::thread waits([&] {
    other.link().wait_until_over();
    over = true;
  });
  net::message hello{1, 2, 0, net::heartbeat{}};
  hello.version = net::wire_version + 1;
  first->send(1, net::encode(hello));
  EXPECT_TRUE(soon([&] { return over.load(); }));
  if (!over) std::abort();  // nothing would end it
  waits.join();
  bool told = false;  // the waiter may go before the answer does
  EXPECT_TRUE(soon([&] {
    const auto m = first->receive();
    net::message answer;
    told = told || (m && net::decode(m->message, answer) == nullptr &&
                    std::holds_alternative<net::reject>(answer.body));
    return told;
  }));
}

/// A node comes while a task runs, gets a part of it, and leaves when that is done; another one
/// comes after it.
TEST_F(nodes, come_and_leave_while_tasks_run) {
  loopback network(3, {});
  network.kill(1, false), network.kill(2, false);  // they are not there yet
  test_node root(network, 0, 1);
  EXPECT_EQ(root.link().nodes(), 1u);
  root_pool = root.pool();
  static std::atomic<bool> leaving;
  leaving = false;
  struct part {
    auto input() { return std::tie(); }
    long run() {
      note_arrival();
      while (elsewhere() && !leaving) std::this_thread::yield();
      return 5;
    }
  };
  std::thread others([&] {
    network.join(1);
    {
      test_node one(network, 1, 1);
      EXPECT_TRUE(soon([] { return travelled == 1; }));
      EXPECT_TRUE(soon([&] { return root.link().nodes() == 2; }));
      one.link().leave(20s);
      leaving = true;
      one.link().wait_until_over();
    }
    network.kill(1, true);
    EXPECT_TRUE(soon([&] { return root.link().nodes() == 1; }));
    network.join(2);
    test_node two(network, 2, 1);
    EXPECT_TRUE(soon([] { return travelled == 2; }));
  });
  const auto give = [] {
    const int before = travelled;
    return both([=] { return await_travellers(before + 1) ? 1L : 0L; }, part{});
  };
  EXPECT_EQ(root.run([=] {
    const auto first = give();
    const auto second = give();
    return first.first + first.second + second.first + second.second;
  }),
            12);
  others.join();
  EXPECT_EQ(root.link().counted().tasks_out, 2u);  // none was given again
}

/// What a node that leaves has not done in time runs again.
TEST_F(nodes, leave_at_the_deadline) {
  job j(2, 1);
  static std::atomic<bool> over;
  over = false;
  struct part {
    auto input() { return std::tie(); }
    long run() {
      note_arrival();
      while (elsewhere() && !over) poll();
      return 5;
    }
  };
  std::thread leaver([&] {
    EXPECT_TRUE(soon([] { return travelled == 1; }));
    j.nodes[1]->link().leave(50ms);
    j.nodes[1]->link().wait_until_over();
  });
  EXPECT_EQ(run(j, [] { return both([] { return await_travellers(); }, part{}).second; }), 5);
  over = true;
  leaver.join();
}

std::atomic<bool> busy{false}, waiting{false};
long say_begun() {
  travelled.fetch_add(1);
  return 1;
}
/// Keeps the other worker until there is one that waits.
long be_busy() {
  busy = true;
  EXPECT_TRUE(soon([] { return waiting.load(); }));
  return 1;
}

/// A worker that waits for published data gives away what it can.
TEST_F(nodes, worker_that_waits_for_data_answers_requests) {
  using table = std::vector<int>;
  static constexpr detail::publication::functions functions{
      nullptr, [](detail::byte_reader&) -> std::shared_ptr<const void> {
        return std::make_shared<table>();
      }};
  job j(2, 2);
  constexpr detail::value_name nobodys{2, 1'000'000};  // of the second node, which does not have it
  const auto data = detail::replicas_of_process().published(nobodys, functions);
  std::thread looks([&] {
    EXPECT_TRUE(soon([] { return travelled > 0; })) << "nobody got the other half";
    j.network.hold(false);
  });
  j.network.hold(true);  // what it asks for does not come
  busy = waiting = false;
  const auto look = [&] {
    waiting = true;
    EXPECT_THROW(data->value(), std::runtime_error);
    return 1L;
  };
  const auto sum = run(j, [&] {
    const auto [halves, other] = both(
        [&] {
          while (!busy) poll();
          return both(look, call<say_begun>());
        },
        call<be_busy>());
    return halves.first + halves.second + other;
  });
  looks.join();
  EXPECT_EQ(sum, 3);
}

/// What nodes have done is asked for; who does not answer is not waited for.
TEST_F(nodes, answer_what_they_have_done) {
  job j(3, 1);
  const auto sum = run(j, [] {
    const auto [here, there] = both(
        [] {
          while (travelled == 0) poll();
          return 1L;
        },
        call<say_begun>());
    return here + there;
  });
  EXPECT_EQ(sum, 2);
  const auto before = std::chrono::steady_clock::now();
  const auto answers = j.root().link().inquire(false, 20s);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
  ASSERT_EQ(answers.size(), 2u);
  std::uint64_t in = 0;
  for (const auto& a : answers) {
    in += a.what.tasks_in;
    EXPECT_GT(a.what.carried.sent, 0u);
  }
  EXPECT_GT(in, 0u);
  j.network.kill(1, false);
  EXPECT_EQ(j.root().link().inquire(false, 200ms).size(), 1u);
  j.network.kill(2, true);
  EXPECT_TRUE(soon([&] { return j.root().link().inquire(false, 200ms).empty(); }));
  EXPECT_EQ(j.root().link().counted().nodes, 3u);  // of which two are silent
}

}  // namespace
}  // namespace cleave::tests
