// labels: deep
// Any allocation of a worker may fail: then one std::bad_alloc is thrown, and nothing is lost or
// left behind.
#include "core/asker.hpp"
#include "core/requests.hpp"

#include <cstdlib>
#include <new>

namespace {

/// How many allocations of workers still succeed before one fails; below 0: all do.
std::atomic<long> until_failure{-1};

void* allocate(std::size_t size, std::size_t alignment) {
  if (cleave::detail::here.self != nullptr && until_failure.load() >= 0 && until_failure-- == 0)
    throw std::bad_alloc();
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  if (void* p = std::aligned_alloc(alignment, rounded)) return p;
  throw std::bad_alloc();
}

}  // namespace

#if defined(__GNUC__) && !defined(__clang__)  // it inlines one of a pair and not the other
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif
void* operator new(std::size_t n) { return allocate(n, alignof(std::max_align_t)); }
void* operator new(std::size_t n, std::align_val_t a) {
  return allocate(n, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace cleave::tests {
namespace {

/// One failure while it lives, after n allocations.
struct failing_after {
  explicit failing_after(long n) { until_failure = n; }
  ~failing_after() { until_failure = -1; }
  bool failed() const { return until_failure < 0; }
};

std::atomic<int> alive{0};
struct counted {
  counted() { ++alive; }
  counted(const counted&) { ++alive; }
  ~counted() { --alive; }
};

/// The deque is full: a spawn takes the task, and room for all of them.
TEST(out_of_memory, spawns_where_the_deque_cannot_grow) {
  runtime rt(options{.workers = 1});
  for (const int spawned : {256, 512}) {
    bool failed = true;
    for (long n = 0; failed; ++n) {
      ASSERT_LT(n, 10);
      rt.run([&] {
        std::atomic<int> ran{0};
        task_group g;
        for (int i = 0; i < spawned; ++i) g.spawn([&ran] { ++ran; });
        int more = 1;
        {
          failing_after this_one(n);
          try {
            g.spawn([&ran, here = counted()] { ++ran; });
          } catch (const std::bad_alloc&) {
            more = 0;
            EXPECT_EQ(alive, 0) << "the task was not freed";
          }
          failed = this_one.failed();
        }
        EXPECT_EQ(failed, more == 0);
        EXPECT_TRUE(g.wait());  // does not wait for what is not there
        EXPECT_EQ(ran, spawned + more);
      });
      EXPECT_EQ(alive, 0);
    }
  }
}

/// A spawn that has made its task answers who asks, and lacks memory for that: the task counts.
TEST(out_of_memory, spawns_that_cannot_answer) {
  bool failed = true;
  for (long n = 0; failed; ++n) {
    ASSERT_LT(n, 20);
    runtime rt(options{.workers = 1});  // a new one: its list of frames has no room yet
    rt.run([&] {
      int ran = 0, made = 0;
      {
        asker other(1);
        task_group g;
        other.ask(detail::here.current);  // for more than the group: a frame is looked for
        {
          failing_after this_one(n);
          try {
            g.spawn([&ran] { ++ran; });
            ++made;
          } catch (const std::bad_alloc&) {}
          failed = this_one.failed();
        }
        other.run();
        EXPECT_TRUE(g.wait());
      }
      EXPECT_EQ(ran, made) << n;
    });
  }
}

struct places {
  std::vector<int> stack;  // its copies allocate
  int depth, from = 0, to = 3;
  counted here{};
  long run() { return down(stack, depth, from, to); }
  static long down(std::vector<int>& w, int depth, int from, int to) {
    if (depth == 0) return 1;
    return sum(
        from, to,
        [&w, depth](int i) {
          step mark{[&w, i] { w.push_back(i); }, [&w] { w.pop_back(); }};
          disturb(static_cast<std::uint64_t>(9 * i + depth), 2);
          return down(w, depth - 1, 0, 3);
        },
        [&w, depth](int f, int t) {
          return places{w, depth, f, t};
        });
  }
};

TEST(out_of_memory, splits_that_fail) {
  for (const int workers : {1, 2, 3}) {
    runtime rt(options{.workers = workers});
    long failures = 0;
    for (long n = 0; n < 300; ++n) {
      const auto program = [] {
        std::vector<int> w;
        const long leaves = places::down(w, 4, 0, 3);
        EXPECT_TRUE(w.empty());
        return leaves;
      };
      {
        failing_after once(n);
        try {
          EXPECT_EQ(rt.run(program), 81);
        } catch (const std::bad_alloc&) { ++failures; }
      }
      ASSERT_EQ(alive, 0) << "a part was not freed";
      ASSERT_EQ(rt.run(program), 81) << "after a failure at allocation " << n;
    }
    EXPECT_GT(failures, 10);
  }
}

TEST(out_of_memory, anywhere_in_a_graph) {
  runtime rt(options{.workers = 2});
  bool failed = true;
  for (long n = 0; failed; ++n) {
    ASSERT_LT(n, 2'000);
    rt.run([&] {
      std::atomic<int> ran{0};
      int made = 0;
      {
        graph g;
        failing_after this_one(n);
        try {
          const auto a = g.make(0), b = g.make(0), c = g.make(0);
          const auto count = [&ran, here = counted()](int&, int&, const int&) { ++ran; };
          for (int i = 0; i < 30; ++i, ++made) {
            const auto read = [&ran, here = counted()](const int&, const int&) { ++ran; };
            if (i % 3 == 0) g.run(count, inout(a), add(b), in(c));
            else if (i % 3 == 1) g.run(read, in(c), in(c));
            else g.run(count, add(c), add(b), in(a));
          }
        } catch (const std::bad_alloc&) {}
        try {
          g.wait();
          EXPECT_EQ(ran, made);
        } catch (const std::bad_alloc&) { EXPECT_LT(ran, made); }
        failed = this_one.failed();
      }
    });
    EXPECT_EQ(alive, 0) << n;
  }
}

}  // namespace
}  // namespace cleave::tests
