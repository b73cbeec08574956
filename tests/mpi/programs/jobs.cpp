// What the applications do not show of a program that runs as several ranks. By its first argument:
//   idle SECONDS   the root sleeps; each rank says what it takes of a CPU at least in half a second
//   search         works for a minute; each rank that has a task says "ready RANK PID"
//   runtimes       one after the other, and two at once: the first joins the job, others run alone
//   profile        a profile first, then a runtime as usual
//   published [N]  N numbers that tasks on all ranks look at: each says how often it made them
//   team           a task that all ranks run
//   stays          a second of tasks that cannot leave their process, and what the job says
//   steal          how long an idle rank waits for a task, beside what a futex alone takes
#include <cleave/cleave.hpp>

#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include "sleeper.hpp"
#include "transport/launch.hpp"

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

int rank() { return cleave::net::launched().rank; }

void compute(std::chrono::microseconds some) {
  for (const auto end = clock_type::now() + some; clock_type::now() < end;) cleave::poll();
}

// ---- idle

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double least = 1e9;  // of a CPU
void observe_this_process() {
  std::thread([] {
    for (;;) {
      const double before = cpu_seconds();
      const auto since = clock_type::now();
      std::this_thread::sleep_for(500ms);
      const std::chrono::duration<double> passed = clock_type::now() - since;
      least = std::min(least, (cpu_seconds() - before) / passed.count());
    }
  }).detach();
  std::atexit([] {
    std::printf("idle: rank %d takes %.2f %%\n", rank(), 100 * least);
    std::fflush(stdout);
  });
}

// ---- search

void say_ready() {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  std::printf("ready %d %d\n", rank(), getpid());
  std::fflush(stdout);
}
long search(int first, int last) {
  say_ready();
  return cleave::sum(
      first, last,
      [](int) {
        compute(100us);
        return 1L;
      },
      [](int from, int to) { return cleave::call<search>(from, to); });
}

// ---- published

std::atomic<int> made{0}, written{0};
struct table {
  std::vector<int> numbers;
  template <class Archive>
  void save(Archive& to) const {
    to(numbers);
    written.fetch_add(1);
  }
  template <class Archive>
  void load(Archive& from) {
    from(numbers);
    made.fetch_add(1);
  }
};
long look(cleave::published<table> t, int first, int last) {
  return cleave::sum(
      first, last,
      [&t](int i) -> long {
        compute(100us);
        return t->numbers[static_cast<std::size_t>(i)];
      },
      [&t](int from, int to) { return cleave::call<look>(t, from, to); });
}

// ---- team

struct counts_ranks {
  int nothing = 0;
  auto input() { return std::tie(nothing); }
  int run(cleave::team& all) { return static_cast<int>(all.size()); }
};

// ---- several runtimes

long fib(int n) {
  if (n < 2) return n;
  auto [x, y] = cleave::both([n] { return fib(n - 1); }, cleave::call<fib>(n - 2));
  return x + y;
}
void say_job(const char* which, cleave::runtime& rt) {
  const long f = rt.run([] { return fib(20); });
  std::printf("%s: %ld, nodes %u\n", which, f, static_cast<unsigned>(rt.job().nodes));
  std::fflush(stdout);
}

// ---- steal

/// On another rank: microseconds since it had ended the task before; on the first one nothing.
double stamp() {
  static std::int64_t ended = 0;
  const std::int64_t began = cleave::tests::now_ns();
  const std::int64_t waited = ended == 0 || rank() == 0 ? 0 : began - ended;
  ended = cleave::tests::now_ns();
  return 1e-3 * static_cast<double>(waited);
}
/// There is always something to give, and whoever computes polls.
void nest(int depth, std::vector<double>& waits) {
  if (depth == 0) return compute(100ms);
  const auto [none, waited] = cleave::both(
      [depth, &waits] {
        nest(depth - 1, waits);
        return 0;
      },
      cleave::call<stamp>());
  if (waited > 0) waits.push_back(waited);
}
void steal() {
  std::unique_ptr<cleave::tests::sleeper> alone;  // before MPI begins: it does not like a fork
  if (rank() == 0) alone = std::make_unique<cleave::tests::sleeper>(false);
  cleave::runtime rt(cleave::options{.workers = 1, .cutoff = false});
  std::vector<double> waits, futex, computing;
  for (int round = 0; round < 10; ++round) {
    rt.run([&waits] { nest(1000, waits); });
    for (int k = 0; k < 40; ++k) {
      futex.push_back(alone->wake_us());
      computing.push_back(alone->wake_computing_us());
    }
  }
  if (waits.empty()) throw std::runtime_error("steal: the other rank got no task");
  const double request = cleave::tests::median(waits);
  const double idle = cleave::tests::median(futex), busy = cleave::tests::median(computing);
  std::printf(
      "steal: %zu tasks, %.1f us from a request to its task; a futex alone wakes a process that "
      "sleeps in %.1f us, one that computes in %.1f us; ratios %.2f, %.2f\n",
      waits.size(), request, idle, busy, request / idle, request / busy);
}

// ---- stays

/// Takes a millisecond for each of 2^n leaves.
long leaves(const int* leaf, int n) {
  if (n == 0) return compute(1ms), *leaf;
  auto [x, y] =
      cleave::both([=] { return leaves(leaf, n - 1); }, cleave::call<leaves>(leaf, n - 1));
  return x + y;
}

int run(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "idle") {
    observe_this_process();
    cleave::runtime rt;
    const int seconds = std::atoi(argv[2]);
    rt.run([seconds] { std::this_thread::sleep_for(std::chrono::seconds(seconds)); });
  } else if (what == "search") {
    cleave::runtime rt;
    std::printf("found %ld\n", rt.run([] { return search(0, 600'000); }));
  } else if (what == "runtimes") {
    {
      cleave::runtime first, second;
      say_job("first", first);
      say_job("second", second);
    }
    cleave::runtime third;
    say_job("third", third);
  } else if (what == "profile") {
    {
      cleave::runtime rt(cleave::options{.profile = true});
      say_job("profile", rt);
    }
    cleave::runtime rt;
    say_job("after it", rt);
  } else if (what == "published") {
    std::atexit([] {
      std::printf("published: rank %d made them %d times, wrote them %d times\n", rank(),
                  made.load(), written.load());
      std::fflush(stdout);
    });
    cleave::runtime rt;
    table t;
    const int numbers = argc > 2 ? std::atoi(argv[2]) : 5000;
    for (int i = 0; i < numbers; ++i) t.numbers.push_back(i);
    const cleave::published<table> data(std::move(t));
    std::printf("sum %ld\n", rt.run([&] { return look(data, 0, 5000); }));
  } else if (what == "team") {
    cleave::runtime rt;
    std::printf("team of %d\n", rt.run_on_all(counts_ranks{}));
  } else if (what == "stays") {
    cleave::runtime rt;
    const int leaf = 1;
    rt.run([&] { return leaves(&leaf, 10); });
    for (const auto& one : rt.job().stayed)
      std::printf("stayed: %s: %s\n", one.task.c_str(), one.why.c_str());
  } else if (what == "steal") {
    steal();
  } else {
    std::fprintf(stderr,
                 "expected idle, search, runtimes, profile, published, team, stays or steal\n");
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) { cleave::net::end_all_ranks(e.what()); }
}
