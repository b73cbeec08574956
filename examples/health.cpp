// Health care in a hierarchy of villages (after BOTS, A. Duran and others, 2009): who cannot be
// treated in a village is sent to the next larger one. A loop whose iterations change villages of
// their own: `each`. Afterwards a village takes in what came from its own villages, in order.
#include <utility>

#include "example.hpp"

namespace {

struct village {
  struct patient {
    int days = 0;  // until he is examined, or well
    int visits = 0;
  };
  std::vector<village> villages;
  unsigned seed = 0;
  int healthy = 0, free = 0;  // people, and beds
  long visits = 0;            // of those who are well again
  std::vector<patient> waiting, examined, treated, sent_on;

  village(int level, unsigned number) : seed(number), healthy(20 << level), free(1 << level) {
    for (unsigned i = 1; i <= 4 && level > 1; i++) villages.emplace_back(level - 1, number * 4 + i);
  }
  bool happens(unsigned per_mille) {
    return ((seed = seed * 1664525 + 1013904223) >> 16) % 1000 < per_mille;
  }

  void pass_day() {  // here, after the day of its own villages
    for (village& v : villages) {
      for (patient p : std::exchange(v.sent_on, {})) waiting.push_back(p);
      visits += std::exchange(v.visits, 0);
    }
    std::erase_if(treated, [this](patient& p) {
      return --p.days == 0 && (free++, healthy++, visits += p.visits, true);
    });
    std::erase_if(examined, [this](patient& p) {
      if (--p.days > 0) return false;
      if (happens(300)) return free++, sent_on.push_back(p), true;
      return treated.push_back({10, p.visits}), true;
    });
    std::erase_if(waiting, [this](patient& p) {
      return free > 0 && (free--, examined.push_back({3, p.visits + 1}), true);
    });
    for (int i = healthy; i > 0; i--)
      if (happens(4)) healthy--, waiting.push_back({});
  }
};

void plain(village& v) {
  for (village& inner : v.villages) plain(inner);
  v.pass_day();
}

void parallel(village& v) {
  cleave::each(std::size_t{0}, v.villages.size(), [&v](std::size_t i) { parallel(v.villages[i]); });
  v.pass_day();
}

template <class Program>
long simulate(int levels, Program pass_day) {
  village largest(levels, 1);
  for (int day = 0; day < 300; day++) pass_day(largest);
  return largest.visits;
}

}  // namespace

int main(int argc, char** argv) {
  example e(argc, argv, 5);  // levels
  return e.run([&] { return simulate(e.size, plain); }, [&] { return simulate(e.size, parallel); });
}
