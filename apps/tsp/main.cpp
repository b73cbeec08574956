#include <cleave/runtime.hpp>
#include <climits>
#include <cstdio>
#include <optional>

#include "../common/driver.hpp"
#include "generators.hpp"
#include "trial.hpp"
#include "tsplib.hpp"

namespace {

using namespace apps::tsp;

struct arguments {
  std::string file, random, send;
  int grid = 0, start_from = 0, length = 0;
  bool print_tour = false, canonical = false, apart = false, master = false, gathered = false;
  wanted_tours wanted{0, 0, 100'000, false, 1, 1'000'000};
};

instance cities_of(const arguments& a) {
  const int given = !a.file.empty() + !a.random.empty() + (a.grid > 0);
  if (given != 1)
    throw apps::usage_error("FILE: expected a file, --random or --grid, got " +
                            std::string(given == 0 ? "nothing" : "several of them"));
  if (a.grid > 0) return grid(a.grid);
  if (a.random.empty()) return load(a.file);
  if (auto made = random_cities(a.random)) return *std::move(made);
  throw apps::usage_error("--random: expected CITIES,SEED with " + std::to_string(least_cities) +
                          " to " + std::to_string(most_cities) + " cities, got " +
                          apps::in_quotes(a.random));
}

sending sending_of(const std::string& name) {
  return name == "part"        ? sending::part
         : name == "halving"   ? sending::halving
         : name == "doubling"  ? sending::doubling
         : name == "remaining" ? sending::remaining
                               : sending::one;
}

int run(apps::driver& app, const arguments& a, int seed) {
  for (const char* option : {"--length", "--failures", "--strict", "--seed", "--runs", "--apart",
                             "--send", "--master", "--gathered"})
    if (a.wanted.count == 0 && app.is_given(option))
      throw apps::usage_error(std::string(option) + ": expected with --tours, got without");
  for (const char* option : {"--start-from", "--tour", "--canonical"})
    if (a.wanted.count > 0 && app.is_given(option))
      throw apps::usage_error(std::string(option) + ": expected without --tours, got both");
  for (const char* option : {"--send", "--master"})
    if (a.apart && app.is_given(option))
      throw apps::usage_error(std::string(option) + ": expected without --apart, got both");
  if (a.send == "remaining" && !a.master)
    throw apps::usage_error("--send: expected --master with 'remaining', got none");
  if (a.gathered && (a.send.empty() || a.master))
    throw apps::usage_error("--gathered: expected with --send and without --master");
  if (a.wanted.count > 0 && a.length == 0 && a.grid == 0)
    throw apps::usage_error("--length: expected with --tours, but for a grid, got nothing");
  instance cities = cities_of(a);
  if (a.canonical) {
    if (cleave::is_first_node())
      std::printf("%lld\n",
                  static_cast<long long>(length_of(cities, first_to_last(cities.cities))));
    apps::flush_output();
    return 0;
  }
  if (a.wanted.count == 0)
    return app.run(trial_of(std::move(cities),
                            a.start_from > 0 ? std::optional<length_t>(a.start_from) : std::nullopt,
                            a.print_tour));
  wanted_tours wanted = a.wanted;
  wanted.seed = static_cast<std::uint32_t>(seed);
  wanted.length = a.length > 0 ? a.length : shortest_of_grid(a.grid);
  const organisation how = a.apart          ? organisation::apart
                           : a.master       ? organisation::master
                           : a.gathered     ? organisation::gathering
                           : a.send.empty() ? organisation::together
                                            : organisation::sharing;
  return app.run(trial_of_collecting(std::move(cities), wanted, how, sending_of(a.send)));
}

}  // namespace

int main(int argc, char** argv) try {
  arguments a;
  int seed = 1;
  apps::driver app("tsp", "Finds a shortest tour of cities by branch and bound.",
                   "tsp berlin52.tsp --tour\n  tsp --random 110,1 --workers 2\n"
                   "  tsp --grid 8 --tours 64 --workers 2",
                   tsplib_format);
  app.optional_text("FILE", a.file, "the cities");
  app.option("--random", "CITIES,SEED", a.random, "Take so many random cities instead");
  app.option_number(
      "--grid", a.grid, 2, 60,
      "Take the cities of a square grid with so many rows instead, which are 1000 apart");
  app.flag("--tour", a.print_tour, "Print the tour too");
  app.option_number("--start-from", a.start_from, 1, INT_MAX,
                    "Look only for tours that are shorter than this");
  app.flag("--canonical", a.canonical, "Print the length of the tour 1, 2, 3 ... and do no more");
  app.option_number("--tours", a.wanted.count, 1, 1'000'000,
                    "Collect so many different tours instead, each by random changes");
  app.option_number("--length", a.length, 1, INT_MAX,
                    "Their length at most (default: the shortest one, of a grid)");
  app.option_number("--failures", a.wanted.failures, 1, INT_MAX,
                    "Changes in a row that do not help, after which a run ends (default: 100000)");
  app.flag("--strict", a.wanted.only_shorter, "Undo changes that leave the length as it is");
  app.option_number("--seed", seed, 0, INT_MAX, "Other runs (default: 1)");
  app.option_number("--runs", a.wanted.most_runs, 1, INT_MAX,
                    "End after so many runs (default: 1000000)");
  app.flag("--apart", a.apart, "Each worker collects all tours, until one of them has them");
  app.option_choice(
      "--send", a.send, {"one", "part", "halving", "doubling", "remaining"},
      "Workers, of other nodes too, tell each other what they have found: each tour at\n"
      "once, TOURS / workers at a time, that and then half as many each time, or one and\n"
      "then twice as many each time; or a master's workers, their part of what is missing");
  app.flag("--master", a.master,
           "They tell a master, which collects tours, searches too, and tells them when to end");
  app.flag("--gathered", a.gathered,
           "With --send: they have one collection, which changes on all nodes");
  app.parse(argc, argv);
  return run(app, a, seed);
} catch (...) { return apps::failed("tsp"); }
