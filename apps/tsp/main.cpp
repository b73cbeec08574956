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

instance given(const std::string& file, const std::string& random) {
  if (file.empty() == random.empty())
    throw apps::usage_error("FILE: expected a file or --random, got " +
                            std::string(file.empty() ? "neither" : "both"));
  if (random.empty()) return load(file);
  if (auto made = random_cities(random)) return *std::move(made);
  throw apps::usage_error("--random: expected CITIES,SEED with " + std::to_string(least_cities) +
                          " to " + std::to_string(most_cities) + " cities, got " +
                          apps::in_quotes(random));
}

}  // namespace

int main(int argc, char** argv) try {
  std::string file, random;
  int start_from = 0;
  bool print_tour = false, canonical = false;
  apps::driver app("tsp", "Finds a shortest tour of cities by branch and bound.",
                   "tsp --random 60,1 --workers 2\n  tsp berlin52.tsp --tour", tsplib_format);
  app.optional_text("FILE", file, "the cities");
  app.option("--random", "CITIES,SEED", random, "Take so many random cities instead");
  app.flag("--tour", print_tour, "Print the tour too");
  app.option_number("--start-from", start_from, 1, INT_MAX,
                    "Look only for tours that are shorter than this");
  app.flag("--canonical", canonical, "Print the length of the tour 1, 2, 3 ... and do no more");
  app.parse(argc, argv);
  instance cities = given(file, random);
  if (canonical) {
    if (cleave::is_first_node())
      std::printf("%lld\n",
                  static_cast<long long>(length_of(cities, first_to_last(cities.cities))));
    apps::flush_output();
    return 0;
  }
  return app.run(trial_of(std::move(cities),
                          start_from > 0 ? std::optional<length_t>(start_from) : std::nullopt,
                          print_tour));
} catch (...) { return apps::failed("tsp"); }
