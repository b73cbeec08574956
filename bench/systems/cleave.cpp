// Cleave's lazy division: nothing is a task until somebody asks for one.
#include <cleave/cleave.hpp>

#include "kernels/program.hpp"

struct lazy {
  static constexpr const char* name = "cleave";
  static std::string version() {
    return std::to_string(CLEAVE_VERSION_MAJOR) + "." + std::to_string(CLEAVE_VERSION_MINOR);
  }
  explicit lazy(int workers) : lazy(bench::settings{.workers = workers}) {}
  explicit lazy(const bench::settings& with)
      : workers_(cleave::options{
            .workers = with.workers, .timing = with.account, .profile = with.profile}) {}
  template <class F>
  void run(const F& f) {
    workers_.run([&f] { f(); });
  }
  template <class F, class G>
  static void fork(const F& f, const G& g) {
    cleave::both([g] { g(); }, [f] { f(); });
  }
  template <class F>
  static void for_each(int n, const F& f) {
    cleave::each(0, n, [f](int i) { f(i); });
  }
  static void poll() { cleave::poll(); }
  // Clocks around its calls would change what it divides. What constructs cost that nobody divides
  // is work here.
  bench::shares shares() const {
    const auto t = workers_.spent();
    return {t.elapsed, t.work, t.dividing, t.stealing};
  }
  bench::work_span profile() const {
    const auto p = workers_.profile();
    return {p.work, p.span};
  }

private:
  cleave::runtime workers_;
};

CLEAVE_STUDY_PROGRAM(lazy)
