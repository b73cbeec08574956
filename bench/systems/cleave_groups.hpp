// Cleave's task groups: every task is made when it is spawned. They are in a header of their own
// for the test of the accounting.
#pragma once

#include <cleave/cleave.hpp>
#include <string>

struct groups {
  static constexpr const char* name = "cleave-groups";
  static std::string version() {
    return std::to_string(CLEAVE_VERSION_MAJOR) + "." + std::to_string(CLEAVE_VERSION_MINOR);
  }
  explicit groups(int workers) : workers_(cleave::options{.workers = workers}) {}
  template <class F>
  void run(const F& f) {
    workers_.run([&f] { f(); });
  }
  struct group {
    template <class F>
    void spawn(const F& f) {
      tasks.spawn(f);
    }
    void sync() { tasks.wait(); }
    cleave::task_group tasks;
  };
  static void poll() { cleave::poll(); }

private:
  cleave::runtime workers_;
};
