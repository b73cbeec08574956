// How long it takes until all nodes have what one of them has found: an improved shared value, or
// an update of a gathered variable. One JSON line.
#include <cleave/cleave.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <thread>
#include <tuple>
#include <vector>

#include "changes.hpp"
#include "support/command_line.hpp"

namespace {

using bench::net::keep_greatest, bench::net::add_up, bench::net::now_ns;

cleave::shared<std::int64_t> bound{0};
cleave::gathered<std::int64_t, keep_greatest> newest;

// Both tell when they were changed.
void change(bool is_shared) {
  if (is_shared) bound.offer(now_ns());
  else newest.update(now_ns());
}
std::int64_t look(bool is_shared) { return is_shared ? bound.get() : newest.get(); }

// In each round one member changes the value, and the others wait for that. Returns the times until
// the last one had it, in microseconds.
struct rounds {
  bool is_shared = false;
  int count = 0;
  auto input() { return std::tie(is_shared, count); }

  std::vector<double> run(cleave::team& all) {
    std::vector<double> times;
    for (int i = 0; i < count; ++i) {
      const unsigned who = static_cast<unsigned>(i) % all.size();
      const std::int64_t before = look(is_shared);
      // All are here, and none computes, when the value changes.
      for (unsigned r = 0; r < all.size(); ++r) all.broadcast(i, r);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (all.rank() == who) change(is_shared);
      std::int64_t changed = look(is_shared);
      for (; changed == before; changed = look(is_shared)) {
        cleave::poll();
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
      const double took = static_cast<double>(now_ns() - changed) * 1e-3;
      double last = 0;
      for (unsigned r = 0; r < all.size(); ++r) last = std::max(last, all.broadcast(took, r));
      times.push_back(last);
    }
    return times;
  }
};

cleave::gathered<std::int64_t, add_up> sum;

// Each member makes so many updates, and waits for those of all.
struct burst {
  int updates = 0;
  auto input() { return std::tie(updates); }
  int run(cleave::team& all) {
    const std::int64_t before = sum.get();
    for (unsigned r = 0; r < all.size(); ++r) all.broadcast(0, r);
    for (int i = 0; i < updates; ++i) {
      sum.update(1);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    while (sum.get() < before + updates * static_cast<std::int64_t>(all.size())) {
      cleave::poll();
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return 0;
  }
};

// How much more of something there was for each update than without any.
double per_update(std::uint64_t idle, std::uint64_t busy, double updates) {
  return (static_cast<double>(busy) - static_cast<double>(idle)) / updates;
}

void measure(int argc, char** argv) {
  bool is_shared = false;
  int changes = 50, updates = 200;
  apps::command_line line("net-updates",
                          "How long it takes until all nodes have what one of them has found");
  line.flag("--shared", is_shared, "A shared value; else a gathered variable");
  line.option_number("--changes", changes, 1, 1'000'000, "One after the other (default: 50)");
  line.option_number("--updates", updates, 1, 1'000'000, "Of each node, at once (default: 200)");
  cleave::runtime rt(argc, argv);
  line.parse(argc, argv);
  auto times = rt.run_on_all(rounds{is_shared, changes});
  std::sort(times.begin(), times.end());
  const auto spent = [&rt](int each) {
    const auto before = rt.job();
    rt.run_on_all(burst{each});
    const auto after = rt.job();
    return std::pair(after.messages - before.messages, after.bytes - before.bytes);
  };
  spent(0);  // counting itself takes messages
  const auto idle = spent(0), busy = spent(updates);
  const unsigned nodes = rt.job().nodes;
  nlohmann::ordered_json o{{"what", is_shared ? "shared" : "gathered"},
                           {"nodes", nodes},
                           {"us", times[times.size() / 2]},
                           {"us_low", times[times.size() / 10]},
                           {"us_high", times[times.size() * 9 / 10]}};
  if (!is_shared) {
    const double made = static_cast<double>(updates) * nodes;
    o["messages_per_update"] = per_update(idle.first, busy.first, made);
    o["bytes_per_update"] = per_update(idle.second, busy.second, made);
  }
  fmt::print("{}\n", o.dump());
  apps::flush_output();
}

}  // namespace

int main(int argc, char** argv) try {
  apps::begin_program();
  measure(argc, argv);
  return 0;
} catch (...) { return apps::failed("net-updates"); }
