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

// The seconds until the last member had it, of all ways `count` times. They take turns in another
// order each time, as what was sent before is in the caches.
struct broadcasts {
  int bytes = 0, count = 0;
  auto input() { return std::tie(bytes, count); }

  std::vector<double> run(cleave::team& all) {
    std::vector<double> seconds;
    std::vector<std::size_t> order(std::size(ways));
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 draw(all.broadcast(std::random_device{}()));
    for (int i = 0; i < count; ++i) {
      std::shuffle(order.begin(), order.end(), draw);
      const std::size_t first = seconds.size();
      seconds.resize(first + std::size(ways));
      for (const std::size_t way : order) seconds[first + way] = once(all, ways[way]);
    }
    return seconds;
  }

private:
  double once(cleave::team& all, const char* way) const {
    const auto length = static_cast<std::size_t>(bytes);
    const std::vector<std::uint8_t> contents(all.rank() == 0 ? length : 0, 1);
    auto& setting = cleave::detail::broadcast_setting_in_use();
    const auto from_environment = setting;
    for (unsigned r = 0; r < all.size(); ++r) all.broadcast(0, r);  // all are here
    if (way != ways[0]) setting = cleave::detail::read_broadcast_setting("", way);
    const double begun = all.broadcast(now());
    const auto mine = all.broadcast(contents);
    const double ended = now();
    if (mine.size() != length || mine.back() != 1) throw std::runtime_error("other bytes");
    setting = from_environment;
    double last = 0;
    for (unsigned r = 0; r < all.size(); ++r) last = std::max(last, all.broadcast(ended, r));
    return last - begun;
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
