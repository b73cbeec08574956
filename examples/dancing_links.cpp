// Dancing links (D. Knuth, 2000): exact covers, here all of Langford's pairs: place two of each of
// 1 to n so that there are k places between the two k. The links are changed in place: `step`, and
// the loop's `wind` and `put`.
#include "example.hpp"

namespace {

struct links {
  struct node {
    int left, right, up, down, item, size;
  };
  std::vector<node> at;  // the head, the items, and from a multiple of 3 on the options, of 3 items

  static int next(int k) { return k % 3 == 2 ? k - 2 : k + 1; }  // in its option
  void link(int k) { at[at[k].up].down = at[at[k].down].up = k, at[at[k].item].size++; }
  void unlink(int k) {
    at[at[k].up].down = at[k].down, at[at[k].down].up = at[k].up, at[at[k].item].size--;
  }
  void cover(int i) {
    at[at[i].right].left = at[i].left, at[at[i].left].right = at[i].right;
    for (int r = at[i].down; r != i; r = at[r].down) unlink(next(r)), unlink(next(next(r)));
  }
  void uncover(int i) {
    for (int r = at[i].up; r != i; r = at[r].up) link(next(next(r))), link(next(r));
    at[at[i].right].left = at[at[i].left].right = i;
  }
  void take(int r) { cover(at[next(r)].item), cover(at[next(next(r))].item); }
  void put_back(int r) { uncover(at[next(next(r))].item), uncover(at[next(r)].item); }
  int shortest() const {
    int best = at[0].right;
    for (int i = best; i != 0; i = at[i].right)
      if (at[i].size < at[best].size) best = i;
    return best;
  }
};

long plain(links& l) {
  const int item = l.shortest();
  if (item == 0) return 1;
  long found = 0;
  l.cover(item);
  for (int r = l.at[item].down; r != item; r = l.at[r].down) {
    l.take(r);
    found += plain(l);
    l.put_back(r);
  }
  l.uncover(item);
  return found;
}

long parallel(links& l);
long parallel_options(links& l, int item, int from, int to) {  // the item is covered already
  int r = l.at[item].down;
  for (int k = 0; k < from; k++) r = l.at[r].down;
  return cleave::sum(
      from, to,
      [&l, &r](int, long& found, auto wind) {
        found += wind([&l, r = r] { l.take(r); }, [&l] { return parallel(l); },
                      [&l, r = r] { l.put_back(r); });
        r = l.at[r].down;
      },
      [&l, item](int f, int t) { return cleave::call<parallel_options>(l, item, f, t); });
}
long parallel(links& l) {
  const int item = l.shortest();
  if (item == 0) return 1;
  cleave::step covered{[&l, item] { l.cover(item); }, [&l, item] { l.uncover(item); }};
  return parallel_options(l, item, 0, l.at[item].size);
}

links langford(int n) {
  links l;
  for (int i = 0; i < 3 * n + 3; i++) l.at.push_back({i - 1, i + 1, i, i, i, 0});
  l.at[0].left = 3 * n, l.at[3 * n].right = 0;
  for (int k = 1; k <= n; k++)
    for (int i = 1; i + k + 1 <= 2 * n; i++)
      for (int item : {k, n + i, n + i + k + 1}) {
        l.at.push_back({0, 0, l.at[item].up, item, item, 0});
        l.link(static_cast<int>(l.at.size()) - 1);
      }
  return l;
}

}  // namespace

int main(int argc, char** argv) {
  example e(argc, argv, 11);
  const links all = langford(e.size);
  return e.run([&, l = links()]() mutable { return plain(l = all); },
               [&, l = links()]() mutable { return parallel(l = all); });
}
