// Gathered variables over ranks: tasks of all ranks update them, and whoever has waited for the
// tasks sees all their updates; members of a team see each other's. Prints what was seen.
#include <cleave/cleave.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "transport/launch.hpp"

namespace {

using event = std::pair<int, int>;  // a rank, and what it did

struct add_number {
  static constexpr bool commutative = true;
  bool operator()(std::set<int>& all, const int& i) const { return all.insert(i).second; }
};
struct append {
  void operator()(std::vector<event>& all, const event& e) const { all.push_back(e); }
};
struct add {
  static constexpr bool commutative = true;
  void operator()(long& sum, const long& x) const { sum += x; }
  static void combine(long& a, const long& b) { a += b; }
};
using numbers = cleave::gathered<std::set<int>, add_number>;
using history = cleave::gathered<std::vector<event>, append>;
using total = cleave::gathered<long, add>;

numbers everywhere;
numbers marks({}, cleave::telling::together(1'000));  // they leave with tasks, or not at all
history order_of_all;

int rank() { return cleave::net::launched().rank; }

void compute() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
  while (std::chrono::steady_clock::now() < end) cleave::poll();
}

struct gathered_here {
  cleave::gathered_ref<numbers> seen;
  cleave::gathered_ref<history> order;
  cleave::gathered_ref<total> sum;
  auto fields() { return std::tie(seen, order, sum); }
};

// Returns how often the marker was not seen, or an update came twice.
long work(gathered_here g, int first, int last) {
  return cleave::sum(
      first, last,
      [&g](int i) -> long {
        compute();
        const bool marked = g.seen->read([](const auto& all) {
          return all.count(-1) != 0;
        }) && everywhere.read([](const auto& all) { return all.count(1'000'000) != 0; });
        const bool is_new = g.seen->update(i);
        everywhere.update(i);
        g.order->update({rank(), i});
        g.sum->update(i);
        return marked && is_new ? 0 : 1;
      },
      [&g](int from, int to) { return cleave::call<work>(g, from, to); });
}

// Returns how often the mark was not seen that was made before the tasks were given.
long see(int mark, int first, int last) {
  return cleave::sum(
      first, last,
      [mark](int) -> long {
        compute();
        return marks.read([mark](const auto& all) { return all.count(mark) == 0 ? 1 : 0; });
      },
      [mark](int from, int to) { return cleave::call<see>(mark, from, to); });
}
std::string of_marks() {
  long unseen = 0;
  for (int mark = 0; mark < 20; mark++) {
    marks.update(mark);
    unseen += see(mark, 0, 50);
  }
  return unseen == 0 ? "right" : "WRONG " + std::to_string(unseen);
}

std::string of_tasks(int n, cleave::telling when) {
  numbers seen({}, when);
  history order({}, when);
  total sum(0, when);
  seen.update(-1);
  const long wrong = work({seen, order, sum}, 0, n);
  std::map<int, int> by_rank;
  std::set<int> once;
  order.settle();
  order.read([&](const auto& all) {
    for (const auto& [who, what] : all) by_rank[who]++, once.insert(what);
  });
  const bool right = wrong == 0 && seen.get().size() == std::size_t(n) + 1 &&
                     once.size() == std::size_t(n) && sum.get() == long(n) * (n - 1) / 2;
  return (right ? "right"
                : "WRONG " + std::to_string(wrong) + " " + std::to_string(seen.get().size()) + " " +
                      std::to_string(once.size()) + " " + std::to_string(sum.get())) +
         (by_rank.size() > 1 ? ", by several" : ", by one");
}

struct members_update {
  int updates = 0;
  auto input() { return std::tie(updates); }
  bool run(cleave::team& all) {
    for (int i = 0; i < updates; i++) {
      everywhere.update(-2 - static_cast<int>(all.rank()) * updates - i);
      order_of_all.update({static_cast<int>(all.rank()), i});
    }
    order_of_all.settle();
    const std::size_t wanted = all.size() * std::size_t(updates);
    while (order_of_all.read([](const auto& o) { return o.size(); }) < wanted) cleave::poll();
    const auto mine = order_of_all.get();
    std::map<int, int> last;
    bool right = true;
    for (const auto& [who, what] : mine) right = right && what == last[who]++;
    for (unsigned root = 0; root < all.size(); root++)
      right = right && all.broadcast(mine, root) == mine;
    while (everywhere.read([](const auto& s) {
      return std::count_if(s.begin(), s.end(), [](int i) { return i < -1; });
    }) < static_cast<long>(wanted))
      cleave::poll();
    std::printf("member %u: %s\n", all.rank(), right ? "right" : "WRONG");
    std::fflush(stdout);
    return right;
  }
};

}  // namespace

int main() {
  everywhere.update(1'000'000);  // before there are other nodes
  cleave::runtime rt;
  for (const auto& [name, when] : {std::pair("one by one", cleave::telling::one_by_one()),
                                   std::pair("together", cleave::telling::together(7)),
                                   std::pair("halving", cleave::telling::halving(16)),
                                   std::pair("doubling", cleave::telling::doubling())}) {
    const std::string seen = rt.run([when] { return of_tasks(300, when); });
    std::printf("tasks, %s: %s\n", name, seen.c_str());
  }
  const bool all = everywhere.read([](const auto& s) { return s.size() == 301; });
  std::printf("static: %s\n", all ? "right" : "WRONG");
  std::printf("marks: %s\n", rt.run([] { return of_marks(); }).c_str());
  rt.run_on_all(members_update{50});
  std::printf("nodes %u\n", static_cast<unsigned>(rt.job().nodes));
}
