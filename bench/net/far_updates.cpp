// net-far-updates NODES CHANGES: how long it takes until each node has what another one has found,
// an improved shared value and an update of a gathered variable, where nodes come and go: at
// several sites of one machine, whose processes share a clock. Begins when the job has so many
// NODES, of one worker each. Prints one JSON object; the number of a site is SITE_NUMBER in the
// environment of its processes.
#include <cleave/cleave.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "changes.hpp"
#include "common/await_nodes.hpp"
#include "machine/settings.hpp"
#include "support/command_line.hpp"

namespace {

using bench::net::keep_greatest, bench::net::add_up, bench::net::now_ns;

// Both tell when they were changed.
cleave::shared<std::int64_t> bound{0};
cleave::gathered<std::int64_t, keep_greatest> newest;
cleave::gathered<std::int64_t, add_up> here;              // members that have begun
cleave::gathered<std::int64_t, keep_greatest> beginning;  // of the first round, when all are here

constexpr std::int64_t round_ns = 150'000'000;

// The rounds of one member.
struct heard {
  int member = 0, site = 0;
  // Microseconds until the change of each round was here: of its own 0, and -1 if it did not come.
  std::vector<double> shared, gathered;
  auto fields() { return std::tie(member, site, shared, gathered); }
};
using all_heard = std::vector<heard>;

void wait_until(const auto& is_so) {
  while (!is_so()) cleave::poll(), std::this_thread::sleep_for(std::chrono::microseconds(20));
}

// In each round one member changes the value; returns what it took until that was here.
template <class Change, class Look>
std::vector<double> rounds(int member, int members, int count, std::int64_t from, Change change,
                           Look look) {
  std::vector<double> times;
  for (int k = 0; k < count; ++k) {
    wait_until([&] { return now_ns() >= from + k * round_ns; });
    const std::int64_t before = look(), last = from + (k + 1) * round_ns - round_ns / 10;
    if (k % members == member) change(now_ns());
    wait_until([&] { return look() != before || now_ns() > last; });
    const std::int64_t changed = look();
    times.push_back(k % members == member ? 0
                    : changed == before   ? -1
                                          : static_cast<double>(now_ns() - changed) * 1e-3);
  }
  return times;
}

heard take_part(int member, int members, int count) {
  here.update(1);
  wait_until([&] { return here.get() == members; });
  if (member == 0) beginning.update(now_ns() + 3 * round_ns);
  wait_until([] { return beginning.get() != 0; });
  const std::int64_t first = beginning.get(), second = first + count * round_ns;
  heard h{
      member, static_cast<int>(cleave::machine::environment("SITE_NUMBER", 0, 1'000, 0)), {}, {}};
  h.shared = rounds(
      member, members, count, first, [](std::int64_t t) { bound.offer(t); },
      [] { return bound.get(); });
  h.gathered = rounds(
      member, members, count, second, [](std::int64_t t) { newest.update(t); },
      [] { return newest.get(); });
  return h;
}

struct joined {
  all_heard operator()(all_heard a, const all_heard& b) const {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
};

all_heard take_parts(int first, int last, int members, int count) {
  return cleave::reduce(
      first, last, all_heard{}, [=](int i) { return all_heard{take_part(i, members, count)}; },
      joined{},
      [=](int from, int to) { return cleave::call<take_parts>(from, to, members, count); });
}

// What was heard at one site of the changes of another one.
nlohmann::ordered_json path(int from, int to, std::vector<double> us) {
  const auto lost = std::erase_if(us, [](double t) { return t < 0; });
  std::ranges::sort(us);
  nlohmann::ordered_json said{{"from", from}, {"to", to}, {"lost", lost}};
  if (us.empty()) return said;
  said["us"] = us[us.size() / 2];
  said["us_low"] = us[us.size() / 10], said["us_high"] = us[us.size() * 9 / 10];
  return said;
}
nlohmann::ordered_json paths(const all_heard& all, std::vector<double> heard::*which) {
  auto said = nlohmann::ordered_json::array();
  for (const heard& by : all)
    for (const heard& at : all) {
      if (by.member == at.member) continue;
      std::vector<double> us;
      for (std::size_t k = static_cast<std::size_t>(by.member); k < (at.*which).size();
           k += all.size())
        us.push_back((at.*which)[k]);
      said.push_back(path(by.site, at.site, std::move(us)));
    }
  return said;
}

int whole(int argc, char** argv, int i, const char* name, long most) {
  if (argc != 3) throw std::invalid_argument("expected NODES CHANGES");
  return static_cast<int>(cleave::machine::whole_number(name, argv[i], 1, most));
}

}  // namespace

int main(int argc, char** argv) try {
  cleave::serve_if_asked(argc, argv);
  const int members = whole(argc, argv, 1, "NODES", 1'000);
  const int changes = whole(argc, argv, 2, "CHANGES", 1'000'000);
  cleave::runtime rt;
  apps::await_nodes(rt, static_cast<unsigned>(members));
  const auto all = rt.run([&] { return take_parts(0, members, members, changes); });
  const nlohmann::ordered_json said{{"shared", paths(all, &heard::shared)},
                                    {"gathered", paths(all, &heard::gathered)}};
  std::printf("%s\n", said.dump().c_str());
  return 0;
} catch (...) { return apps::failed("net-far-updates"); }
