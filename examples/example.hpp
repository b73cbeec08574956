// What every example does besides its computation.
//
//     NAME [SIZE] [--workers N]   runs both its programs; the exit status is 1 if they disagree
//     NAME [SIZE] --compare       runs them in turns, and prints what one worker costs
#pragma once

#include <time.h>

#include <algorithm>
#include <charconv>
#include <cleave/cleave.hpp>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

class example {
public:
  // Reads the command line; ends the process with status 2 if it cannot be used.
  example(int argc, char** argv, int default_size) : argc_(argc), argv_(argv) {
    compares_ = argc > 1 && std::strcmp(argv[argc - 1], "--compare") == 0;
    if (compares_) --argc_;
    size = default_size;
    if (argc_ > 1 && argv[1][0] != '-') {
      const std::string_view text = argv[1];
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
      if (error != std::errc() || end != text.data() + text.size() || size < 1) refuse(argv[1]);
    }
  }

  // Runs the plain program on this thread and the other one on workers; each is called as f(), and
  // their results must be equal. Returns the exit status.
  template <class Plain, class Parallel>
  int run(Plain plain, Parallel parallel) const {
    if (compares_) return compare(plain, parallel);
    int argc = argc_;
    cleave::runtime workers(argc, argv_);
    if (argc > 2 || (argc > 1 && argv_[1][0] == '-')) refuse(argv_[argc - 1]);
    const auto expected = plain();
    const bool agree = workers.run([&] { return parallel(); }) == expected;
    print(expected);
    std::printf("%d workers %s, %llu splits\n", workers.workers(), agree ? "agree" : "DISAGREE",
                static_cast<unsigned long long>(workers.statistics().splits));
    return agree ? 0 : 1;
  }

  int size;

private:
  [[noreturn]] void refuse(const char* word) const {
    std::fprintf(stderr, "%s: expected [SIZE] [--workers N] or [SIZE] --compare, got '%s'\n",
                 argv_[0], word);
    std::exit(2);
  }

  // The CPU time is that of the process: others on the machine change it less than the time of day.
  static double cpu_seconds() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  static double median(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

  template <class Plain, class Parallel>
  int compare(Plain& plain, Parallel& parallel) const {
    if (argc_ > 2) refuse(argv_[2]);
    cleave::runtime one(cleave::options{.workers = 1});
    std::vector<double> alone, on_worker;
    bool agree = true;
    for (int round = 0; round < rounds; ++round) {
      const double begin = cpu_seconds();
      const auto expected = plain();
      const double between = cpu_seconds();
      const auto found = one.run([&] { return parallel(); });
      on_worker.push_back(cpu_seconds() - between);
      alone.push_back(between - begin);
      agree = agree && found == expected;
    }
    const double plain_time = median(alone), worker_time = median(on_worker);
    std::printf("plain %.4f s, one worker %.4f s, ratio %.3f%s\n", plain_time, worker_time,
                worker_time / plain_time, agree ? "" : ", DISAGREE");
    return agree ? 0 : 1;
  }
  static constexpr int rounds = 15;

  static void print(long value) { std::printf("%ld\n", value); }
  static void print(double value) { std::printf("%.12g\n", value); }
  template <class T>
  static void print(const std::vector<T>& values) {
    std::printf("%zu values\n", values.size());
  }

  int argc_;
  char** argv_;
  bool compares_;
};
