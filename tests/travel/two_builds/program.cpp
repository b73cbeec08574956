// What two_builds.sh compiles in several ways: `hash`; `put` writes a task to standard output,
// `run` reads it and prints its result; `here` runs it with two workers.
#include <cleave/cleave.hpp>
#include <cleave/detail/travel/types.hpp>
#include <cstdio>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#ifdef OTHER_FIELD
using count = long;
#else
using count = int;
#endif

struct entry {
  char name[8];
#ifdef OTHER_ELEMENT
  float weight;
#else
  double weight;
#endif
};
struct piece {
  count from, to;
  std::vector<entry> entries;
  std::map<std::string, int> more;
  auto input() { return std::tie(from, to, entries, more); }
  std::string run() {
    std::string all;
    for (const auto& e : entries) all += e.name + std::to_string(int(e.weight));
    for (const auto& [name, n] : more) all += name + std::to_string(n);
    return all + std::to_string(to - from);
  }
};

static long search(int n) {
  if (n < 2) return n;
  auto [x, y] = cleave::both([=] { return search(n - 1); }, cleave::call<search>(n - 2));
  return x + y;
}

int main(int, char** argv) {
  using namespace cleave::detail;
  const std::string what = argv[1];
  const piece work{3, 10, {{"one", 1.5}, {"two", -2}}, {{"b", 2}, {"a", 1}}};
  if (what == "here") {
    cleave::runtime two(cleave::options{.workers = 2});
    const auto [x, y] =
        two.run([&] { return cleave::both([] { return search(20); }, piece(work)); });
    std::printf("%ld %s\n", x, y.c_str());
    return 0;
  }
  const wire_type* type = wire_of<piece>();
  if (what == "hash") {
    std::printf("%s %016lx\n", type == nullptr ? "stays" : "travels", program_hash());
  } else if (what == "put") {
    task_of<piece> t{piece(work)};
    std::vector<std::byte> bytes;
    byte_writer w(bytes);
    w.put(type->id());
    type->put_input(t, w);
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  } else {
    std::vector<std::byte> bytes;
    for (int c; (c = std::getchar()) != EOF;) bytes.push_back(static_cast<std::byte>(c));
    byte_reader r(bytes);
    type = find_wire_type(r.get<std::uint64_t>());
    if (type == nullptr) return std::puts("unknown"), 0;
    const auto t = type->make(r);
    t->execute();
    std::puts(static_cast<task_of<piece>&>(*t).result->c_str());
  }
}
