// labels: once slow
// Several nodes in one process: tasks travel between their pools, over a network that delays, loses
// and doubles messages, and between nodes that die.
#include "node/driver.hpp"

#include "core/pool.hpp"
#include "core/requests.hpp"
#include "node/nodes/loopback.hpp"
#include "node/other_nodes.hpp"

#include <cleave/call.hpp>
#include <cleave/remote_error.hpp>

#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cleave::tests {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

std::atomic<const detail::pool*> root_pool{nullptr};
bool elsewhere() {
  const detail::worker* const w = detail::here.self;
  return w != nullptr && &w->of != root_pool;
}

/// Tasks that began on another node than the root's.
std::atomic<int> travelled{0};
void note_arrival() {
  if (elsewhere()) travelled.fetch_add(1);
}
/// Polls until so many have begun there: a request of another node finds something to give.
bool await_travellers(int n = 1) {
  const auto end = clock::now() + 20s;
  while (travelled < n && clock::now() < end) poll();
  return travelled >= n;
}
template <class Holds>
bool soon(Holds holds) {
  const auto end = clock::now() + 20s;
  while (!holds() && clock::now() < end) std::this_thread::sleep_for(100us);
  return holds();
}

class nodes : public testing::Test {
protected:
  void SetUp() override { travelled = 0; }
  template <class F>
  static auto run(job& j, F f) {
    root_pool = j.root().pool();
    return j.root().run(std::move(f));
  }
};

// ---- programs

/// Takes about so long.
void compute(microseconds some) {
  const auto end = clock::now() + some;
  while (clock::now() < end) {}
}

long fib(int n) {
  struct rest {
    int n = 0;
    auto input() { return std::tie(n); }
    long run() {
      note_arrival();
      return fib(n);
    }
  };
  if (n < 2) {
    compute(2us);
    return n;
  }
  auto [x, y] = both([n] { return fib(n - 1); }, rest{n - 2});
  return x + y;
}

long fib_by_call(int n) {
  note_arrival();
  if (n < 2) return n;
  auto [x, y] = both([n] { return fib_by_call(n - 1); }, call<fib_by_call>(n - 2));
  return x + y;
}

struct rows {
  int n = 0;
  std::vector<int> queens;
  bool free(int column) const {
    const int row = static_cast<int>(queens.size());
    for (int i = 0; i < row; ++i) {
      const int c = queens[static_cast<std::size_t>(i)];
      if (c == column || c - column == row - i || column - c == row - i) return false;
    }
    return true;
  }
  auto fields() { return std::tie(n, queens); }
};
long solutions(rows& b, int first, int last);
struct piece {
  rows b;
  int first = 0, last = 0;
  auto input() { return std::tie(b, first, last); }
  long run() {
    note_arrival();
    return solutions(b, first, last);
  }
};
long solutions(rows& b, int first, int last) {
  if (static_cast<int>(b.queens.size()) == b.n) return 1;
  return sum(
      first, last,
      [&b](int i) -> long {
        if (!b.free(i)) return 0;
        step placed{[&b, i] { b.queens.push_back(i); }, [&b] { b.queens.pop_back(); }};
        return solutions(b, 0, b.n);
      },
      [&b](int from, int to) {
        return piece{b, from, to};
      });
}
long solutions(int n) {
  rows b{n, {}};
  return solutions(b, 0, n);
}

std::unique_ptr<ledger> items;
/// Each item once, wherever.
long visit(int first, int last) {
  note_arrival();
  return sum(
      first, last,
      [](int i) -> long {
        items->enter(static_cast<std::size_t>(i));
        compute(20us);
        poll();
        return i;
      },
      [](int from, int to) { return call<visit>(from, to); });
}

// ---- what arrives

TEST_F(nodes, a_struct_with_input_travels) {
  job j(2, 1);
  EXPECT_EQ(run(j,
                [] {
                  struct there {
                    int n = 0;
                    auto input() { return std::tie(n); }
                    long run() {
                      note_arrival();
                      return fib(n);
                    }
                  };
                  auto [arrived, f] = both([] { return await_travellers(); }, there{12});
                  EXPECT_TRUE(arrived);
                  return f + fib(15);
                }),
            144 + 610);
  EXPECT_GE(j.crossed(), 1u);
  EXPECT_TRUE(soon([&] { return j.nodes[1]->link().counted().tasks_in >= 1; }));
  EXPECT_EQ(j.root().link().counted().nodes, 2u);
}

TEST_F(nodes, a_call_travels) {
  job j(2, 1);
  EXPECT_EQ(run(j,
                [] {
                  auto [arrived, f] =
                      both([] { return await_travellers(); }, call<fib_by_call>(14));
                  EXPECT_TRUE(arrived);
                  return f;
                }),
            377);
}

TEST_F(nodes, what_has_no_input_stays) {
  job j(3, 2);
  EXPECT_EQ(run(j,
                [] {
                  return sum(0, 400, [](int i) -> long {
                    EXPECT_FALSE(elsewhere());
                    compute(20us);
                    return i;
                  });
                }),
            400 * 399 / 2);
  EXPECT_EQ(j.crossed(), 0u);
}

TEST_F(nodes, a_workspace_travels_as_it_was) {
  for (unsigned k = 0; k < 5; ++k) {
    travelled = 0;
    job j(3, 1, {.seed = k, .delay = microseconds(200)});
    EXPECT_EQ(run(j, [] { return solutions(9); }), 352);
  }
}

TEST_F(nodes, each_item_exactly_once) {
  std::uint64_t crossed = 0;
  for (unsigned count = 2; count <= 4; ++count) {
    for (unsigned workers = 1; workers <= 3; ++workers) {
      items = std::make_unique<ledger>(1500);
      net::settings how = quick();
      how.lost_after = 60s;  // who is slow is not taken for dead
      job j(count, workers, {.seed = workers, .delay = microseconds(300)}, how);
      EXPECT_EQ(run(j, [] { return visit(0, 1500); }), 1500 * 1499 / 2);
      EXPECT_EQ(items->wrong(), 0u) << count << " nodes of " << workers;
      crossed += j.crossed();
    }
  }
  EXPECT_GT(crossed, 9u);
}

TEST_F(nodes, a_part_of_what_is_awaited_is_taken_back) {
  job j(2, 1);
  static std::atomic<bool> taken_back;
  taken_back = false;
  struct part {
    auto input() { return std::tie(); }
    long run() {
      taken_back = !elsewhere();
      return 2;
    }
  };
  struct awaited {
    auto input() { return std::tie(); }
    long run() {
      note_arrival();
      auto [a, b] = both(
          [] {
            const auto end = clock::now() + 20s;
            while (!taken_back && clock::now() < end) poll();
            return 1L;
          },
          part{});
      return a + b;
    }
  };
  EXPECT_EQ(run(j,
                [] {
                  auto [arrived, n] = both([] { return await_travellers(); }, awaited{});
                  return arrived ? n : 0;
                }),
            3);
  EXPECT_TRUE(taken_back);
}

TEST_F(nodes, work_is_found_when_it_begins) {
  net::settings how = quick();
  how.heartbeat_every = how.idle_for = how.lost_after = how.ask_again_at_most = 100s;
  job j(2, 1, {}, how);
  std::this_thread::sleep_for(20ms);  // both have said that they have nothing
  EXPECT_EQ(run(j,
                [] {
                  auto [arrived, f] = both([] { return await_travellers(); }, call<fib_by_call>(5));
                  return arrived ? f : 0;
                }),
            5);
}

TEST_F(nodes, thousands_of_short_runs) {
  job j(3, 2);
  root_pool = j.root().pool();
  for (int k = 0; k < 2000; ++k)
    ASSERT_EQ(j.root().run([k] { return fib(k % 8); }), fib(k % 8)) << k;
}

// ---- exceptions

struct odd_error {};  // registered nowhere

template <class E>
struct throws {
  auto input() { return std::tie(); }
  int run() {
    note_arrival();
    throw E{"seven"};
  }
};
template <>
struct throws<odd_error> {
  auto input() { return std::tie(); }
  int run() {
    note_arrival();
    throw odd_error{};
  }
};

TEST_F(nodes, an_exception_arrives) {
  job j(2, 1);
  auto arriving = [&](auto thrown) {
    travelled = 0;
    run(j, [thrown] { return both([] { return await_travellers(); }, thrown).second; });
  };
  try {
    arriving(throws<std::out_of_range>{});
    ADD_FAILURE();
  } catch (const std::out_of_range& e) { EXPECT_STREQ(e.what(), "seven"); }
  try {
    arriving(throws<odd_error>{});
    ADD_FAILURE();
  } catch (const remote_error& e) { EXPECT_NE(e.type().find("odd_error"), std::string::npos); }
  EXPECT_EQ(run(j, [] { return fib(12); }), 144);
}

std::atomic<int> tried{0};
/// Cannot be written, or read, when it is to be.
struct stubborn {
  enum fault { none, writing, reading } what = none;
  template <class Archive>
  void save(Archive& to) const {
    if (what == writing) ++tried, throw std::domain_error("not to be written");
    to(static_cast<int>(what));
  }
  template <class Archive>
  void load(Archive& from) {
    int n = 0;
    from(n);
    what = static_cast<fault>(n);
    if (what == reading) ++tried, throw std::domain_error("not to be read");
  }
};
struct takes_stubborn {
  stubborn s;
  auto input() { return std::tie(s); }
  int run() {
    note_arrival();
    return 1;
  }
};
struct returns_stubborn {
  int what = 0;
  auto input() { return std::tie(what); }
  stubborn run() {
    note_arrival();
    return {static_cast<stubborn::fault>(what)};
  }
};

bool await_trial() {
  const auto end = clock::now() + 20s;
  while (tried == 0 && clock::now() < end) poll();
  return tried != 0;
}

/// What it throws cannot be written either.
struct hard_error : std::runtime_error {
  stubborn s;
  explicit hard_error(stubborn what) : runtime_error("hard"), s(what) {}
  auto input() { return std::tie(s); }
};
const travels<hard_error> hard_error_travels;
struct throws_hard_error {
  auto input() { return std::tie(); }
  int run() {
    note_arrival();
    throw hard_error({stubborn::writing});
  }
};

TEST_F(nodes, what_cannot_be_written_or_read_is_an_error_at_the_join) {
  job j(2, 1);
  for (const auto fault : {stubborn::writing, stubborn::reading}) {
    tried = 0;
    auto takes = [fault] {
      return both([] { return await_trial(); }, takes_stubborn{{fault}}).second;
    };
    EXPECT_THROW(run(j, takes), std::domain_error);
    EXPECT_EQ(tried, 1);
    travelled = 0;
    auto returns = [fault] {
      both([] { return await_travellers(); }, returns_stubborn{static_cast<int>(fault)});
      return 0;
    };
    EXPECT_THROW(run(j, returns), std::domain_error);
  }
  travelled = 0;
  EXPECT_THROW(
      run(j, [] { return both([] { return await_travellers(); }, throws_hard_error{}).second; }),
      std::domain_error);
  // The worker that was to run it still gets others.
  travelled = 0;
  EXPECT_EQ(run(j, [] { return both([] { return await_travellers(); }, call<fib>(10)).second; }),
            55);
}

/// Notes that it is written.
struct noted_writing {
  template <class Archive>
  void save(Archive&) const {
    ++tried;
  }
  template <class Archive>
  void load(Archive&) {}
};
struct writes_much {
  std::string text;
  int more = 0;
  noted_writing noted;
  auto input() { return std::tie(text, more, noted); }
  std::string run() {
    note_arrival();
    return std::string(static_cast<std::size_t>(more), 'x');
  }
};

// Relays carry so much at once; what is longer would be waited for for ever.
TEST_F(nodes, what_is_too_long_for_the_transport_is_an_error_at_the_join) {
  weather w;
  w.longest = 20'000;
  job j(2, 1, w);
  for (const int length : {10'000, 30'000}) {
    travelled = 0;
    auto returns = [length] {
      return both([] { return await_travellers(); }, writes_much{"", length, {}}).second.size();
    };
    if (length == 10'000) { EXPECT_EQ(run(j, returns), 10'000u); }
    if (length == 30'000) { EXPECT_THROW(run(j, returns), std::length_error); }
  }
  tried = 0;
  auto takes = [] {
    return both([] { return await_trial(); }, writes_much{std::string(30'000, 'x'), 0, {}})
        .second.size();
  };
  EXPECT_THROW(run(j, takes), std::length_error);
}

// So is what would come with it: both would be dropped.
using long_bound = cleave::shared<int, cleave::max, std::string>;
struct improves_at_length {
  cleave::shared_ref<long_bound> best;
  auto input() { return std::tie(best); }
  int run() {
    note_arrival();
    best->offer(1, std::string(30'000, 'x'));
    return 1;
  }
};
TEST_F(nodes, shared_values_too_long_for_the_transport_are_an_error_at_the_join) {
  weather w;
  w.longest = 20'000;
  job j(2, 1, w);
  travelled = 0;
  auto improves = [] {
    long_bound best(0);
    return both([] { return await_travellers(); }, improves_at_length{best}).second;
  };
  EXPECT_THROW(run(j, improves), std::length_error);
}

// A result that was pruned under a bound must not come without it.
using stubborn_bound = cleave::shared<int, cleave::max, stubborn>;
struct improves_stubborn {
  cleave::shared_ref<stubborn_bound> best;
  auto input() { return std::tie(best); }
  int run() {
    note_arrival();
    best->offer(1, {stubborn::writing});
    return 1;
  }
};

TEST_F(nodes, a_result_whose_bound_cannot_be_written_is_an_error_at_the_join) {
  job j(2, 1);
  travelled = 0;
  auto improves = [] {
    stubborn_bound best{0};
    return both([] { return await_travellers(); }, improves_stubborn{best}).second;
  };
  EXPECT_THROW(run(j, improves), remote_error);
  travelled = 0;
  EXPECT_EQ(run(j, [] { return both([] { return await_travellers(); }, call<fib>(10)).second; }),
            55);
}

// ---- cancellation

std::atomic<int> running{0};
struct endless_task {
  auto input() { return std::tie(); }
  int run() {
    struct counted {
      counted() { ++running; }
      ~counted() { --running; }
    } here_it_is;
    note_arrival();
    for (;;) {
      poll();
      std::this_thread::yield();
    }
  }
};

TEST_F(nodes, who_cancels_does_not_wait_for_the_network) {
  job j(2, 1);
  for (int k = 0; k < 10; ++k) {
    travelled = 0;
    EXPECT_EQ(run(j,
                  [&j] {
                    cancel_scope s;
                    const bool finished = s.run([&] {
                      both(
                          [&] {
                            await_travellers();
                            j.network.hold(true);
                            s.cancel();
                            poll();
                            ADD_FAILURE() << "went on";
                            return 0;
                          },
                          endless_task{});
                    });
                    EXPECT_FALSE(finished);
                    EXPECT_EQ(running, 1);  // nobody there knows yet
                    return 1;
                  }),
              1);
    j.network.hold(false);
    EXPECT_TRUE(soon([] { return running == 0; })) << "goes on although nobody waits for it";
  }
}

TEST_F(nodes, an_exception_cancels_what_is_out) {
  job j(3, 1);
  EXPECT_THROW(run(j,
                   [] {
                     both(
                         []() -> int {
                           await_travellers();
                           throw std::runtime_error("mine");
                         },
                         endless_task{});
                     return 0;
                   }),
               std::runtime_error);
  EXPECT_TRUE(soon([] { return running == 0; }));
}

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

// ---- bad weather

unsigned seeds() {
  const char* const given = std::getenv("CLEAVE_SEEDS");
  return given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : 12;
}

/// A search that is cancelled somewhere in the middle, again and again; or not, by the seed.
long search_some(unsigned seed) {
  cancel_scope s;
  const auto found = s.run([&] {
    return both(
               [&] {
                 compute(microseconds(seed % 7 * 300));
                 if (seed % 2 != 0) s.cancel();
                 return fib(10);
               },
               call<fib>(13))
        .first;
  });
  return found.value_or(55);
}

TEST_F(nodes, the_answer_is_right_in_any_weather) {
  const auto base = static_cast<unsigned>(test_seed() * 1000);
  for (unsigned seed = base; seed < base + seeds(); ++seed) {
    SCOPED_TRACE("CLEAVE_TEST_SEED-like number " + std::to_string(seed));
    const unsigned count = 2 + seed % 3;
    job j(count, 1 + seed / 3 % 3,
          {.seed = seed,
           .delay = microseconds(seed % 5 * 200),
           .loss = seed % 4 == 0 ? 0 : 0.02 * (seed % 4),
           .twice = seed % 3 * 0.1});
    std::atomic<bool> over{false};
    std::thread death([&] {
      for (net::address who = 1; who < count; ++who) {
        for (unsigned k = 0; k < 5 + seed % 11 && !over; ++k) std::this_thread::sleep_for(1ms);
        if (seed % 5 < 3 && !over) j.network.kill(who, seed % 2 == 0);
      }
    });
    for (unsigned k = 0; k < 3; ++k) {
      EXPECT_EQ(run(j, [] { return fib(14); }), 377);
      EXPECT_EQ(run(j, [] { return solutions(7); }), 40);
      EXPECT_EQ(run(j, [seed] { return search_some(seed); }), 55);
    }
    over = true;
    death.join();
  }
}

}  // namespace
}  // namespace cleave::tests
