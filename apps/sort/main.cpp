#include "../common/driver.hpp"
#include "trial.hpp"

int main(int argc, char** argv) try {
  int n = 0, dealt = 0, sampled = 0;
  apps::driver app(
      "sort",
      "Sorts N random 32-bit numbers by a merge sort in which merging is divided too.\n"
      "The answer is the middle one.",
      "sort 10000000 --workers 2",
      "Its tasks stay in their process: they work in one array, which belongs to the process.\n");
  app.number("N", n, 1, 1'000'000'000, "numbers; 10000000 take half a second");
  app.option_number(
      "--dealt", dealt, 1, 1'000,
      "Deal the numbers to so many nodes instead, each of which sorts its part; pairs\n"
      "of them merge");
  app.option_number(
      "--samples", sampled, 1, 64,
      "Have so many nodes begin with a part of the numbers each, and end with those of\n"
      "a range, by splitters of a sample: nothing goes to one node");
  app.parse(argc, argv);
  if (dealt != 0 && sampled != 0)
    throw apps::usage_error("--samples: expected without --dealt, got both");
  return app.run(dealt != 0     ? apps::sort::trial_of_dealing(n, dealt)
                 : sampled != 0 ? apps::sort::trial_of_sampling(n, sampled)
                                : apps::sort::trial_of(n));
} catch (...) { return apps::failed("sort"); }
