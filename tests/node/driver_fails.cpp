// labels: once slow
// Several nodes in one process: tasks that throw, that cannot be written or read, that are
// cancelled.
#include "node/travelling.hpp"

#include <cleave/remote_error.hpp>
#include <cleave/shared.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace cleave::tests {
namespace {

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

}  // namespace
}  // namespace cleave::tests
