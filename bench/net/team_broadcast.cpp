// How long a team's broadcast takes until the last member has it, from member 0, in each way in
// turn. One JSON line for each length and way; `auto` is what CLEAVE_BROADCAST says.
#include <cleave/cleave.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "graph/broadcast_way.hpp"
#include "support/command_line.hpp"

namespace {

// Of the clock that all processes of a machine share.
double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr const char* ways[] = {"auto", "flat", "binomial", "chain", "binary"};

// Seconds until the last member had it: each way once, `count` times, in another order each time,
// as what was sent before is in the caches.
struct broadcasts {
  int bytes = 0, count = 0;
  auto input() { return std::tie(bytes, count); }

  std::vector<double> run(cleave::team& all) {
    const auto length = static_cast<std::size_t>(bytes);
    std::vector<std::uint8_t> contents(length, 1);
    std::vector<double> seconds;
    auto& setting = cleave::detail::broadcast_setting_in_use();
    const auto from_environment = setting;
    std::vector<double> seconds_of(std::size(ways));
    std::vector<std::size_t> order(std::size(ways));
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 draw(all.broadcast(std::random_device{}()));
    for (int i = 0; i < count * static_cast<int>(std::size(ways)); ++i) {
      const std::size_t turn = static_cast<std::size_t>(i) % std::size(ways);
      if (turn == 0) std::shuffle(order.begin(), order.end(), draw);
      setting = from_environment;
      for (unsigned r = 0; r < all.size(); ++r) all.broadcast(i, r);  // all are here
      if (const auto* const way = ways[order[turn]]; way != ways[0])
        setting = cleave::detail::read_broadcast_setting("", way);
      const double begun = all.broadcast(now());
      auto mine = all.broadcast(all.rank() == 0 ? contents : std::vector<std::uint8_t>{});
      const double ended = now();
      if (mine.size() != length || mine.back() != 1) throw std::runtime_error("other bytes");
      double last = 0;
      setting = from_environment;
      for (unsigned r = 0; r < all.size(); ++r) last = std::max(last, all.broadcast(ended, r));
      seconds_of[order[turn]] = last - begun;
      if (turn + 1 == std::size(ways))
        seconds.insert(seconds.end(), seconds_of.begin(), seconds_of.end());
    }
    return seconds;
  }
};

void measure(int argc, char** argv) {
  std::vector<int> lengths = {4 << 10, 256 << 10, 1 << 20, 64 << 20};
  int count = 21;
  apps::command_line line("net-broadcast", "How long a team's broadcast takes");
  line.option_numbers("--bytes", lengths, 1, 1 << 30, "Lengths (default: 4096 to 67108864)");
  line.option_number("--count", count, 1, 1'000'000, "How often (default: 21; of 64 MiB 5)");
  cleave::runtime rt(argc, argv);
  line.parse(argc, argv);
  for (const int bytes : lengths) {
    const int times = bytes >= 16 << 20 ? std::max(1, count / 4) : count;
    const auto seconds = rt.run_on_all(broadcasts{bytes, times + 1});
    for (std::size_t way = 0; way < std::size(ways); ++way) {
      std::vector<double> its;  // without the first one, which meets cold buffers
      for (std::size_t k = way + std::size(ways); k < seconds.size(); k += std::size(ways))
        its.push_back(seconds[k]);
      nlohmann::ordered_json o{
          {"way", ways[way]}, {"bytes", bytes}, {"nodes", rt.job().nodes}, {"seconds", its}};
      fmt::print("{}\n", o.dump());
    }
    apps::flush_output();
  }
}

}  // namespace

int main(int argc, char** argv) try {
  apps::begin_program();
  measure(argc, argv);
  return 0;
} catch (...) { return apps::failed("net-broadcast"); }
