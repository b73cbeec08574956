// How busy the machine was during a study, and what is said of it.
#include "study/background.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "study/cosched_data.hpp"
#include "study/measured.hpp"

namespace {

using study::background;

background with(double others, double stolen, std::vector<double> capacity) {
  background b;
  b.others = others, b.stolen = stolen, b.capacity = std::move(capacity);
  return b;
}

TEST(background, of_some_cpus_from_the_kernels_text) {
  const std::string text =
      "cpu  1000 0 0 0 0 0 0 0 0 0\n"
      "cpu0 100 20 30 999 999 4 6 50 7 7\n"
      "cpu1 1 2 3 4 5 6 7 8 9 10\n"
      "cpu10 10 0 0 0 0 0 0 0 0 0\n"
      "intr 5 6\n";
  const auto one = study::read_stat(text, {0}, 100);
  EXPECT_DOUBLE_EQ(one.used, 1.6);
  EXPECT_DOUBLE_EQ(one.stolen, 0.5);
  const auto two = study::read_stat(text, {1, 10}, 100);
  EXPECT_DOUBLE_EQ(two.used, 0.29);
  EXPECT_DOUBLE_EQ(two.stolen, 0.08);
  EXPECT_DOUBLE_EQ(study::read_stat("", {0, 1}, 100).used, 0);
}

TEST(background, is_quiet_up_to_a_twentieth_of_the_cpus) {
  EXPECT_EQ(with(0, 0, {}).disturbance(2), "");
  EXPECT_EQ(with(0.1, 0.1, {1.8, 2.1}).disturbance(2), "");
  EXPECT_EQ(with(0.5, 0, {15.6, 16.8}).disturbance(16), "");
}

TEST(background, says_what_disturbed_it) {
  EXPECT_EQ(with(1.931, 0, {}).disturbance(2), "other processes used 1.93 of 2 CPUs");
  EXPECT_EQ(with(0, 0.5, {}).disturbance(4), "the hypervisor took 0.50 of 4 CPUs");
  EXPECT_EQ(with(0.11, 0, {0.142, 2.0, 2.49}).disturbance(2),
            "other processes used 0.11 of 2 CPUs; all CPUs at once did 0.14 to 2.49 times the work "
            "of one");
}

TEST(background, is_in_the_data_of_both_studies) {
  study::measured systems;
  systems.cpus = 2, systems.beside = with(1.5, 0.25, {1, 2});
  systems.beside.load_before = 17;
  const auto a = nlohmann::json::parse(study::to_json(systems));
  EXPECT_EQ(a.at("load"), nlohmann::json({17.0, 0.0}));
  EXPECT_EQ(a.at("others"), 1.5);
  EXPECT_EQ(a.at("stolen"), 0.25);
  EXPECT_EQ(a.at("disturbed"), systems.disturbance());
  study::sharing::measured jobs;
  jobs.cpus = 2, jobs.beside = systems.beside;
  EXPECT_EQ(nlohmann::json::parse(to_json(jobs)).at("disturbed"), systems.disturbance());
  systems.beside = jobs.beside = {};
  EXPECT_FALSE(nlohmann::json::parse(study::to_json(systems)).contains("disturbed"));
  EXPECT_FALSE(nlohmann::json::parse(to_json(jobs)).contains("disturbed"));
}

// Of this machine nothing is known but what cannot be.
TEST(background, of_this_machine) {
  study::background_watch machine;
  machine.measure_capacity();
  for (unsigned x = 0, i = 0; i < 1000; i++) asm volatile("" : "+r"(x = x * 3 + i));
  const auto found = machine.so_far();
  EXPECT_GE(found.others, 0);
  EXPECT_GE(found.stolen, 0);
  ASSERT_EQ(found.capacity.size(), 1u);
  EXPECT_GT(found.capacity[0], 0);
}

}  // namespace
