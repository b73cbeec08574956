// The study of networks: what is run, how the model is fitted, what is concluded, what is written.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "study/net_cases.hpp"
#include "study/net_data.hpp"
#include "study/net_file.hpp"
#include "study/net_findings.hpp"
#include "study/net_fit.hpp"
#include "support/command_line.hpp"
#include "support/input_error.hpp"
#include "temporary_folder.hpp"

namespace {

using namespace study::networks;

// What a network with these parameters gives; times vary by a factor of up to 1 + noise, or less.
struct synthetic {
  loggp is;
  double noise = 0;
  std::mt19937 random{7};

  double noisy(double seconds) {
    return seconds * std::exp(noise * std::uniform_real_distribution<>(-1, 1)(random));
  }
  std::vector<point> points(double fixed, double each) {
    std::vector<point> all;
    for (double bytes = 1; bytes <= 1 << 24; bytes *= 2)
      all.push_back({bytes, noisy(fixed + (bytes - 1) * each)});
    return all;
  }
  std::vector<point> send() { return points(is.overhead, is.gap_per_byte / 3); }
  std::vector<point> half() { return points(is.latency + 2 * is.overhead, is.gap_per_byte); }
  std::vector<point> stream() { return points(is.gap, is.gap_per_byte); }
};

void expect_found(const loggp& expected, double noise, double tolerance) {
  synthetic s{expected, noise};
  const auto send = s.send(), half = s.half(), stream = s.stream();
  const auto found = fit(send, half, stream);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->latency / expected.latency, 1, 3 * tolerance);  // a difference of two
  EXPECT_NEAR(found->overhead / expected.overhead, 1, tolerance);
  EXPECT_NEAR(found->gap / expected.gap, 1, tolerance);
  EXPECT_NEAR(found->gap_per_byte / expected.gap_per_byte, 1, tolerance);
  EXPECT_LT(found->error, noise + 1e-9);
}

constexpr loggp ethernet{3e-4, 8e-4, 1e-3, 1.25e-6, 0}, memory{2e-7, 5e-8, 9e-8, 1e-10, 0};

TEST(fit, exact) {
  expect_found(ethernet, 0, 1e-6);
  expect_found(memory, 0, 1e-6);
}

TEST(fit, with_noise) {
  expect_found(ethernet, 0.1, 0.1);
  expect_found(memory, 0.1, 0.1);
}

TEST(fit, one_that_is_far_off_changes_little) {
  synthetic s{ethernet, 0.02};
  auto send = s.send(), half = s.half(), stream = s.stream();
  half[0].seconds *= 100, stream[20].seconds *= 50, send[3].seconds *= 100;
  half[5].seconds /= 20, stream[3].seconds /= 20, send[5].seconds /= 20;
  const auto found = fit(send, half, stream);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->latency / ethernet.latency, 1, 0.3);
  EXPECT_NEAR(found->gap_per_byte / ethernet.gap_per_byte, 1, 0.1);
  EXPECT_NEAR(found->overhead / ethernet.overhead, 1, 0.1);
}

TEST(fit, a_send_that_takes_longer_than_the_way) {
  synthetic s{{1e-6, 1e-6, 1e-6, 1e-9, 0}, 0};
  auto send = s.send();
  for (auto& p : send) p.seconds += 1e-4;  // the sender is put off its CPU
  const auto found = fit(send, s.half(), s.stream());
  ASSERT_TRUE(found);
  EXPECT_GE(found->latency, 0);
  EXPECT_NEAR(found->latency + 2 * found->overhead, 3e-6, 1e-9);
}

TEST(fit, needs_all_three) {
  synthetic s{ethernet, 0};
  EXPECT_FALSE(fit({}, s.half(), s.stream()));
  EXPECT_FALSE(fit(s.send(), {{1, 1}}, s.stream()));
}

TEST(cases, full) {
  const plan p = plan_of({});
  EXPECT_EQ(p.ranks, (std::vector{2, 4, 8, 16, 24, 32, 48}));
  EXPECT_EQ(p.broadcast_ranks, (std::vector{2, 4, 8, 16}));
  EXPECT_EQ(p.bytes.latency.front(), 1);
  EXPECT_EQ(p.bytes.latency.back(), 1 << 20);
  EXPECT_EQ(p.bytes.throughput.back(), 1 << 24);
  EXPECT_EQ(p.bytes.broadcast.front(), 4);
  EXPECT_EQ(p.bytes.broadcast.back(), 1 << 24);
  EXPECT_EQ(p.pairs, (std::vector{1, 2, 4, 8}));
  EXPECT_GE(p.barriers, 1000);
  const auto first = runs_of(p, 1), second = runs_of(p, 2);
  ASSERT_EQ(first.size(), p.ranks.size() * all_networks.size());
  EXPECT_EQ(first[0].ranks, first[1].ranks) << "the networks are neighbours";
  EXPECT_NE(first[0].network, first[1].network);
  EXPECT_EQ(first.front().network, second.back().network);
}

bool has(const run& r, const std::string& argument) {
  return std::find(r.arguments.begin(), r.arguments.end(), argument) != r.arguments.end();
}

TEST(cases, parts) {
  choice what;
  what.parts = {"pairs"}, what.networks = {"mpich"}, what.ranks = {24, 6};
  const plan p = plan_of(what);
  EXPECT_EQ(p.pairs, (std::vector{1, 2})) << "of six, and 4 pairs are of eight";
  const auto all = runs_of(p, 1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].ranks, 6);
  EXPECT_TRUE(has(all[0], "--pairs"));
  EXPECT_FALSE(has(all[0], "--barriers"));
  what.ranks = {24};
  EXPECT_TRUE(runs_of(plan_of(what), 1).empty());
}

TEST(cases, unknown_names) {
  choice what;
  what.networks = {"pvm"};
  EXPECT_THROW((void)plan_of(what), apps::usage_error);
  what = {};
  what.parts = {"reduce"};
  EXPECT_THROW((void)plan_of(what), apps::usage_error);
}

cell cell_of(const std::string& what, int ranks, std::size_t bytes, std::vector<double> seconds) {
  cell c;
  c.network = "mpich", c.what = what, c.ranks = ranks, c.bytes = bytes;
  c.counts.assign(seconds.size(), 10);
  c.seconds = c.low = c.high = std::move(seconds);
  return c;
}
cell broadcast(const std::string& algorithm, int ranks, std::size_t bytes, double seconds) {
  cell c = cell_of("broadcast", ranks, bytes, {seconds});
  c.algorithm = algorithm;
  return c;
}

measured study_of(std::vector<cell> cells) {
  measured m;
  m.date = "today", m.machine = "this </script> one", m.cpus = 2;
  choice what;
  what.networks = {"mpich"};
  m.what = plan_of(what);
  m.cells = std::move(cells);
  return m;
}

// A switch: each step of the tree takes as long as one message of the flat broadcast.
measured on_a_switch(double tree) {
  measured m = study_of({});
  for (const std::size_t bytes : {262144u, 1048576u})
    for (const int ranks : {2, 4, 8, 16}) {
      m.cells.push_back(broadcast("flat", ranks, bytes, ranks - 1));
      m.cells.push_back(broadcast("binomial", ranks, bytes, tree * std::log2(ranks)));
    }
  return m;
}

finding::verdict verdict_of(const measured& m, const std::string& paper) {
  for (const auto& f : findings_of(m))
    if (f.paper.find(paper) != std::string::npos) return f.is;
  ADD_FAILURE() << "no finding: " << paper;
  return finding::verdict::unknown;
}

TEST(findings, of_a_switch) {
  const auto m = on_a_switch(1);
  EXPECT_EQ(verdict_of(m, "256 KB"), finding::verdict::holds);
  EXPECT_EQ(verdict_of(m, "1 MB is faster"), finding::verdict::holds);
  EXPECT_EQ(verdict_of(m, "nearly 4"), finding::verdict::holds);
}

TEST(findings, of_a_shared_medium) {
  const auto m = on_a_switch(4);  // a tree of 16 takes 16, flat 15
  EXPECT_EQ(verdict_of(m, "256 KB"), finding::verdict::fails);
  EXPECT_EQ(verdict_of(m, "nearly 4"), finding::verdict::fails);
}

TEST(findings, a_tree_that_is_behind_once) {
  auto m = on_a_switch(1);
  for (cell& c : m.cells)
    if (c.algorithm == "binomial" && c.ranks == 8) c.seconds = {100};
  EXPECT_EQ(verdict_of(m, "256 KB"), finding::verdict::fails);
}

TEST(findings, nothing_is_judged_on_a_busy_machine) {
  auto m = on_a_switch(1);
  m.beside.others = 1;
  EXPECT_EQ(verdict_of(m, "256 KB"), finding::verdict::unknown);
}

TEST(findings, pairs) {
  auto m = study_of({});
  for (const int pairs : {1, 4}) {
    m.cells.push_back(cell_of("pairs", 8, 65536, {pairs == 1 ? 1.0 : 2.0}));
    m.cells.back().pairs = pairs;
  }
  const auto all = findings_of(m);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].here, "together, in times of one pair: 1.00 by 1, 2.00 by 4");
}

class net_files : public testing::Test {
protected:
  std::string file(const std::string& text) {
    const std::string name = folder_.path.string() + "/file.json";
    std::ofstream(name) << text;
    return name;
  }
  cleave::tests::temporary_folder folder_;
};

TEST_F(net_files, a_study_that_is_read_is_the_same) {
  auto m = study_of({broadcast("chain", 4, 64, 1e-5), cell_of("barrier", 48, 0, {1e-6, 3e-6})});
  m.what.where.hosts = {"a", "b"};
  m.whole = 2;
  m.failures = {{"mpich", 24, "no more nodes"}};
  m.missing = {"openmpi: not here"};
  const auto back = read_measured(file(to_json(m, true)));
  EXPECT_EQ(to_json(back), to_json(m));
}

TEST_F(net_files, a_network_that_is_read_is_the_same) {
  const network_file f{"today", "this one", "16 hosts", {{"mpich", ethernet}, {"nats", memory}}};
  const auto back = read_network_file(file(to_json(f)));
  ASSERT_EQ(back.networks.size(), 2u);
  EXPECT_EQ(back.networks[1].name, "nats");
  EXPECT_NEAR(back.networks[0].is.latency, ethernet.latency, 1e-12);
  EXPECT_NEAR(back.networks[0].is.overhead, ethernet.overhead, 1e-12);
  EXPECT_NEAR(back.networks[0].is.gap, ethernet.gap, 1e-12);
  EXPECT_NEAR(back.networks[0].is.gap_per_byte, ethernet.gap_per_byte, 1e-15);
}

TEST_F(net_files, what_cannot_be_used_is_refused) {
  const std::string begin = R"({"cleave_network": 1, "networks": [)";
  const std::string rest = R"("o_us": 1, "g_us": 1, "G_us_per_byte": 1}]})";
  EXPECT_NO_THROW((void)read_network_file(file(begin + R"({"name": "n", "L_us": 1, )" + rest)));
  for (const std::string& text :
       {std::string("{"), std::string("{}"), begin + "]}", begin + R"({"L_us": 1, )" + rest,
        begin + R"({"name": "n", "L_us": -1, )" + rest,
        begin + R"({"name": "n", "L_us": 1e999, )" + rest,
        begin + R"({"name": "n", "L_us": "1", )" + rest})
    EXPECT_THROW((void)read_network_file(file(text)), apps::input_error) << text;
  EXPECT_THROW((void)read_network_file(folder_.path.string() + "/none"), apps::input_error);
  EXPECT_THROW((void)read_measured(file("{\"study\": 1}")), apps::input_error);
}

TEST(networks, page_holds_the_data) {
  const std::string text = page(on_a_switch(1));
  EXPECT_NE(text.find("\"study\":\"net\""), std::string::npos);
  EXPECT_NE(text.find("this <\\/script> one"), std::string::npos);
}

}  // namespace
