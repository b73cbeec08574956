// wait_tree DEPTH SEED COST SLICE NODES: walks UTS's tree of that shape, whose nodes take COST
// microseconds each, in which the worker sleeps and looks for requests every SLICE microseconds: so
// many workers share few CPUs, and each works as fast as if it had its own. Begins when the job has
// so many NODES. Prints one JSON object; `visited` has the nodes of the tree that were visited at
// each site: the number of a site is SITE_NUMBER in the environment of its processes, 0 to 3.
#include <cleave/cleave.hpp>

#include <ctime>

#include <sys/prctl.h>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>

#include "common/await_nodes.hpp"
#include "machine/settings.hpp"
#include "support/command_line.hpp"
#include "uts/tree.hpp"

namespace {

using apps::uts::node;
using apps::uts::tree;
using clock_type = std::chrono::steady_clock;
using std::chrono::microseconds;

struct visits {
  std::array<std::uint64_t, 4> at{};
  auto fields() { return std::tie(at); }
  visits& operator+=(const visits& b) {
    for (std::size_t i = 0; i < at.size(); ++i) at[i] += b.at[i];
    return *this;
  }
};

struct settings {
  apps::uts::parameters shape;
  microseconds cost{}, slice{};
  unsigned nodes = 1;
  std::size_t site = 0;
};
settings how;

void sleep_until(clock_type::time_point t) {
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch());
  const timespec until{ns.count() / 1'000'000'000, ns.count() % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) continue;
}

/// Takes `cost`, as if on a CPU of its own: a worker that was woken late makes up for it with the
/// next nodes.
void take_time() {
  constexpr microseconds most_late{5'000};
  thread_local clock_type::time_point due{};
  thread_local const bool exact = prctl(PR_SET_TIMERSLACK, 1UL) == 0;
  static_cast<void>(exact);
  clock_type::time_point at = std::max(due, clock_type::now() - most_late);
  due = at + how.cost;
  while ((at += how.slice) < due) sleep_until(at), cleave::poll();
  sleep_until(due);
  cleave::poll();
}

visits below(const tree& t, const node& parent, int first, int last);
visits part(const node& parent, int first, int last) {
  return below(tree(how.shape), parent, first, last);
}

visits walk(const tree& t, const node& n) {
  take_time();
  visits found;
  found.at[how.site] = 1;
  if (const int children = t.children(n); children > 0) found += below(t, n, 0, children);
  return found;
}

visits below(const tree& t, const node& parent, int first, int last) {
  return cleave::sum(
      first, last, [&](int i) { return walk(t, parent.child(i)); },
      [&](int from, int to) { return cleave::call<part>(parent, from, to); });
}

settings read_settings(int argc, char** argv) {
  if (argc != 6) throw std::invalid_argument("expected DEPTH SEED COST SLICE NODES");
  const auto number = [&](int i, const char* name, long least, long most) {
    return cleave::machine::whole_number(name, argv[i], least, most);
  };
  settings s;
  s.shape.form = apps::uts::shape::fixed;
  s.shape.depth = static_cast<int>(number(1, "DEPTH", 1, 14));
  s.shape.seed = static_cast<int>(number(2, "SEED", 0, 1'000'000));
  s.cost = microseconds(number(3, "COST", 1, 1'000'000));
  s.slice = microseconds(number(4, "SLICE", 1, 1'000'000));
  s.nodes = static_cast<unsigned>(number(5, "NODES", 1, 1'000));
  s.site = static_cast<std::size_t>(cleave::machine::environment("SITE_NUMBER", 0, 3, 0));
  return s;
}

}  // namespace

int main(int argc, char** argv) try {
  cleave::serve_if_asked(argc, argv);
  how = read_settings(argc, argv);
  cleave::runtime rt;
  apps::await_nodes(rt, how.nodes);
  const auto begun = clock_type::now();
  const visits found = rt.run([] {
    const tree t(how.shape);
    return walk(t, t.root());
  });
  const std::chrono::duration<double> took = clock_type::now() - begun;
  const auto job = rt.job();
  const nlohmann::ordered_json said = {
      {"seconds", took.count()}, {"visited", found.at}, {"nodes", job.nodes},
      {"workers", job.workers},  {"asks", job.asks},    {"tasks_crossed", job.tasks_crossed},
      {"messages", job.messages}};
  std::printf("%s\n", said.dump().c_str());
  return 0;
} catch (...) { return apps::failed("wait_tree"); }
