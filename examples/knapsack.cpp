// Knapsack by branch and bound: the best choice of items that fit. All workers share the bound
// (`shared`); the branch that improves it comes first in a `both`.
#include "example.hpp"

namespace {

struct item {
  int worth, weight;
};
std::vector<item> items;  // in order of worth per weight
int n;

void make_items(int count) {
  unsigned seed = 3;
  const auto random = [&seed] { return (seed = seed * 1664525 + 1013904223) >> 8; };
  for (n = 0; n < count; n++) {
    const int weight = 1000 + static_cast<int>(random() % 1000);
    items.push_back({weight + 100, weight});
  }
  std::sort(items.begin(), items.end(),
            [](item x, item y) { return x.worth * y.weight > y.worth * x.weight; });
}

// Whether more could be reached than `best`, with a part of an item.
bool is_hopeful(int i, int room, int value, int best) {
  for (; i < n && items[i].weight <= room; i++) room -= items[i].weight, value += items[i].worth;
  return (i < n ? value + room * items[i].worth / items[i].weight : value) > best;
}

void plain(int i, int room, int value, int& best) {
  best = std::max(best, value);
  if (i == n || !is_hopeful(i, room, value, best)) return;
  const auto [worth, weight] = items[i];
  if (weight <= room) plain(i + 1, room - weight, value + worth, best);
  plain(i + 1, room, value, best);
}

void parallel(int i, int room, int value, cleave::shared<int>& best) {
  if (value > best.get()) best.offer(value);
  if (i == n || !is_hopeful(i, room, value, best.get())) return;
  if (items[i].weight > room) return parallel(i + 1, room, value, best);
  cleave::both(
      [=, &best] { parallel(i + 1, room - items[i].weight, value + items[i].worth, best); },
      [=, &best] { parallel(i + 1, room, value, best); });
}

}  // namespace

int main(int argc, char** argv) {
  example e(argc, argv, 80);
  make_items(e.size);
  const int room = 500 * n;
  return e.run(
      [&] {
        int best = 0;
        plain(0, room, 0, best);
        return long{best};
      },
      [&] {
        cleave::shared<int> best{0};
        parallel(0, room, 0, best);
        return long{best.get()};
      });
}
