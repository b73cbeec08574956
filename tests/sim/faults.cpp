// labels: once
// The protocol through random schedules of faults. CLEAVE_SCHEDULES says how many (200),
// CLEAVE_TEST_SEED where they begin; `sim faults --first SEED --log` shows the events of one.
#include "sim/faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* given = std::getenv(name);
  return given == nullptr ? otherwise : std::strtoull(given, nullptr, 10);
}

std::uint64_t schedules() {
  return setting("CLEAVE_SCHEDULES", std::getenv("CLEAVE_SOAK") == nullptr ? 200 : 2000);
}

}  // namespace

TEST(Faults, NothingIsLostOrMergedTwice) {
  const auto all = sim::run_schedules(setting("CLEAVE_TEST_SEED", 1), schedules());
  EXPECT_EQ(all.failed, 0U) << "seed " << all.first_failed << ": " << all.violation;
  EXPECT_EQ(all.run, schedules());
  // Work does cross between nodes.
  EXPECT_GT(all.tasks, 2 * all.run);
}

// Schedules draw one of the other strategies.
TEST(Faults, NothingIsLostByRelayRandom) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    sim::schedule s = sim::random_schedule(seed);
    s.world.protocol.follow({cleave::net::strategy::relay_random, seed % 2 == 0 ? 0U : 8U});
    EXPECT_EQ(sim::world(s.work, s.world).run(s.happenings, s.limit).violation, "") << seed;
  }
}

TEST(Faults, AScheduleRepeatsExactly) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto a = sim::run_schedule(seed, cleave::net::mutation::none, true);
    const auto b = sim::run_schedule(seed, cleave::net::mutation::none, true);
    EXPECT_FALSE(a.log.empty());
    EXPECT_EQ(a.log, b.log);
  }
}

// Schedules in which something was wrong once: a request that came twice found another process the
// second time; a simulated worker went on with a piece whose part was gone.
TEST(Faults, SchedulesThatFailedOnce) {
  for (const std::uint64_t seed : {3450U, 5398U, 53492U})
    EXPECT_EQ(sim::run_schedule(seed).violation, "") << "seed " << seed;
}

class Planted : public testing::TestWithParam<sim::named_mutation> {};

TEST_P(Planted, IsFound) {
  const auto all = sim::run_schedules(1, 200, GetParam().what, true);
  EXPECT_EQ(all.failed, 1U) << GetParam().name << " is not found by 200 schedules";
  if (all.failed == 0) return;
  // By itself, from its seed alone, with its events.
  const auto again = sim::run_schedule(all.first_failed, GetParam().what, true);
  EXPECT_EQ(again.violation, all.violation);
  const auto wrong = [](const std::string& line) {
    return line.find("WRONG") != std::string::npos;
  };
  EXPECT_TRUE(std::any_of(again.log.begin(), again.log.end(), wrong));
}

INSTANTIATE_TEST_SUITE_P(Faults, Planted, testing::ValuesIn(sim::planted_mutations()),
                         [](const auto& one) {
                           std::string name = one.param.name;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });
