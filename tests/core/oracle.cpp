// Random programs of all constructs, nested, over a workspace that steps change. The plain
// sequential program is the oracle for the result; at every put and every leaf the workspace must
// be what the path from the root makes it, which each branch knows by value.
#include "core/random_program.hpp"
#include "sanitized.hpp"

namespace cleave::tests {
namespace {

struct place {
  std::uint64_t seed;  // of the program from here on
  int depth;           // levels left
  workspace path;      // what the workspace must be here
  place inner(std::uint64_t which) const { return {mix(seed * 31 + which), depth - 1, path}; }
  place changed(std::uint64_t by) const {
    place p = *this;
    p.path.change(by);
    return p;
  }
};

struct sequential : plain_constructs {
  static void pause(std::uint64_t) {}
};

template <class Mode>
digest program(workspace& w, place at);

/// A node of the program, or a range of its loop, with a workspace of its own.
template <class Mode>
struct piece {
  workspace w;
  place at;
  int from, to;  // a range of the loop at `at`; all of the node if from < 0
  digest run();
};

void never_fails() {}
struct divided : divided_constructs<never_fails> {
  static void pause(std::uint64_t seed) { disturb(seed, 4); }
};

template <class Mode, class Wind>
digest iteration(workspace& w, const place& at, int i, Wind wind) {
  const auto by = mix(at.seed + static_cast<std::uint64_t>(i));
  Mode::pause(by);
  return wind([&w, by] { w.change(by); },
              [&w, at, by, i] {
                return program<Mode>(w, at.changed(by).inner(static_cast<std::uint64_t>(i)));
              },
              [&w, by] { w.restore(by); });
}

template <class Mode>
digest piece<Mode>::run() {
  if (from < 0) return program<Mode>(w, at);
  verify(w, at.path);
  if constexpr (std::is_same_v<Mode, divided>) {
    workspace& own = w;
    return Mode::range(
        at.seed >> 8, from, to,
        [&own, this](int i, auto wind) { return iteration<Mode>(own, at, i, wind); },
        [&own, this](int f, int t) {
          verify(own, at.path);
          return piece{own, at, f, t};
        });
  } else {
    return {};
  }
}

template <class Mode>
digest program(workspace& w, place at) {
  verify(w, at.path);
  Mode::pause(at.seed);
  if (at.depth == 0) return digest::of(at.seed ^ w.cells[at.seed % 8]);
  const auto whole = [](const workspace& own, const place& p) {
    return piece<Mode>{own, p, -1, -1};
  };
  switch (at.seed % 5) {
    case 0:  // second branch with a workspace of its own from the start, by value
      return Mode::both([&w, at] { return program<Mode>(w, at.inner(1)); },
                        [own = w, at]() mutable { return program<Mode>(own, at.inner(2)); });
    case 1:  // a shared workspace, the first branch changes it
      return Mode::both(
          [&w, at] {
            const auto by = at.seed;
            return Mode::with_step(
                [&w, by] { w.change(by); },
                [&w, at, by] { return program<Mode>(w, at.changed(by).inner(3)); },
                [&w, by] { w.restore(by); });
          },
          [&w, at] { return program<Mode>(w, at.inner(4)); },
          [&w, at, whole] {
            verify(w, at.path);
            return whole(w, at.inner(4));
          });
    case 2: {  // two steps, no work of its own
      const auto a = at.seed, b = mix(at.seed);
      return Mode::with_step(
          [&w, a] { w.change(a); },
          [&w, at, a, b] {
            return Mode::with_step(
                [&w, b] { w.change(b); },
                [&w, at, a, b] { return program<Mode>(w, at.changed(a).changed(b).inner(5)); },
                [&w, b] { w.restore(b); });
          },
          [&w, a] { w.restore(a); });
    }
    default:
      return Mode::loop(
          at.seed >> 8, static_cast<int>((at.seed >> 16) % 6),
          [&w, at](int i, auto wind) { return iteration<Mode>(w, at, i, wind); },
          [&w, at](int f, int t) {
            verify(w, at.path);
            return piece<Mode>{w, at, f, t};
          });
  }
}

const std::uint64_t programs = sanitized && std::getenv("CLEAVE_SOAK") == nullptr ? 300 : 1000;

class random_programs : public every_runtime {};
CLEAVE_FOR_EVERY_RUNTIME(random_programs);

TEST_P(random_programs, give_what_the_sequential_ones_give) {
  mismatches = 0;
  // With a cutoff it is a matter of timing how much is divided.
  options without = given();
  without.cutoff = false;
  runtime dividing{without};
  for (std::uint64_t seed = 0; seed < programs; ++seed) {
    const place root{random_at(seed), 9, {}};
    workspace w;
    const digest expected = program<sequential>(w, root);
    runtime& on = seed % 4 == 0 ? dividing : rt;
    const digest got = on.run([&root] {
      workspace own;
      const digest d = program<divided>(own, root);
      verify(own, {});
      return d;
    });
    ASSERT_EQ(got, expected) << "seed " << seed;
    ASSERT_EQ(mismatches, 0) << "the workspace was not as it should be; seed " << seed;
  }
  const auto s = dividing.statistics();
  EXPECT_GT(s.splits, programs);
  EXPECT_GT(s.undone, programs);  // it did go back
}

}  // namespace
}  // namespace cleave::tests
