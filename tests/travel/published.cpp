// Published data: one copy in a process, fetched once by a node that needs them, freed at the
// job's end.
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "travel/two_nodes.hpp"

namespace {

using namespace cleave::detail;
using numbers = std::vector<int>;
using data = cleave::published<numbers>;

struct total {
  data of;
  int from, to;
  auto input() { return std::tie(of, from, to); }
  int run() { return std::accumulate(of->begin() + from, of->begin() + to, 0); }
};

TEST(published, is_one_object_in_a_process) {
  const auto value = std::make_shared<const numbers>(numbers{1, 2, 3});
  data a(value);
  const data b = a;
  EXPECT_EQ(&*a, value.get());
  EXPECT_EQ(&*b, value.get());
  EXPECT_FALSE(data());
  EXPECT_TRUE(a);
}

TEST(published, is_freed_with_the_last_handle) {
  auto value = std::make_shared<const numbers>();
  const std::weak_ptr<const numbers> left = value;
  {
    const data a(std::move(value));
    const data b = a;
    EXPECT_FALSE(left.expired());
  }
  EXPECT_TRUE(left.expired());
}

TEST(published, is_fetched_once) {
  tests::node home, away(&home);
  const data d(numbers{1, 2, 3, 4});
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(tests::run_away(total{d, 0, 4}, home, away), 10);
    EXPECT_EQ(away.fetched, 1);
  }
  EXPECT_EQ(tests::run_away(total{data(numbers{5}), 0, 1}, home, away), 5);
  EXPECT_EQ(away.fetched, 2);
  EXPECT_EQ(home.fetched, 0);
}

TEST(published, handle_alone_travels_and_finds_its_way_home) {
  tests::node home, away(&home);
  const data d(numbers{1, 2});
  task_of<total> t(total{d, 0, 2});
  const auto there = tests::sent(t, home, away);
  EXPECT_EQ(away.fetched, 0);
  auto& moved = static_cast<task_of<total>&>(*there);
  const auto back = tests::sent(moved, away, home);
  EXPECT_EQ(&*static_cast<task_of<total>&>(*back).work.of, &*d);
  EXPECT_EQ(home.fetched, 0);
  task_of<total> none(total{});
  EXPECT_FALSE(static_cast<task_of<total>&>(*tests::sent(none, home, away)).work.of);
}

// The node that has made them may be lost a moment later.
struct publishes {
  int size = 0;
  auto input() { return std::tie(size); }
  data run() { return data(numbers(static_cast<std::size_t>(size), 7)); }
};
struct returns_it {
  data of;
  auto input() { return std::tie(of); }
  data run() { return of; }
};
using with_data = cleave::shared<int, cleave::max, data>;
struct offers_data {
  cleave::shared_ref<with_data> best;
  auto input() { return std::tie(best); }
  int run() { return best->offer(1, data(numbers{4, 5})), 0; }
};
TEST(published, come_with_a_result_from_who_made_them) {
  tests::node home;
  {
    tests::node away(&home);
    const data made = tests::run_away(publishes{3}, home, away);
    EXPECT_EQ(*made, (numbers{7, 7, 7}));
    with_data best(0);
    tests::run_away(offers_data{best}, home, away);
    EXPECT_EQ(**best.best().second, (numbers{4, 5}));
    const data own(numbers{1});
    EXPECT_EQ(&*tests::run_away(returns_it{own}, home, away), &*own) << "others' do not";
    EXPECT_EQ(away.fetched, 0);
  }
  EXPECT_EQ(home.fetched, 0);
}

// Who reads a task may be the only one who could receive what it waits for.
struct looks_at_it {
  data of;
  int first = 0;
  template <class Archive>
  void save(Archive& to) const {
    to(of);
  }
  template <class Archive>
  void load(Archive& from) {
    from(of);
    first = of->front();
  }
};
struct uses_what_looks {
  looks_at_it at;
  auto input() { return std::tie(at); }
  int run() { return at.first; }
};

TEST(published, is_not_awaited_by_who_reads_a_task) {
  tests::node home, away(&home);
  const data d(numbers{1, 2});
  EXPECT_THROW(tests::run_away(uses_what_looks{{d, 0}}, home, away), std::logic_error);
  EXPECT_EQ(away.fetched, 0);
  EXPECT_EQ(tests::run_away(total{d, 0, 2}, home, away), 3);
  EXPECT_EQ(tests::run_away(uses_what_looks{{d, 0}}, home, away), 1);
}

TEST(published, many_threads_fetch_it_once) {
  tests::node home, away(&home);
  for (int round = 0; round < 20; round++) {
    task_of<total> t(total{data(numbers(1000, 1)), 0, 1000});
    const auto there = tests::sent(t, home, away);
    const data d = static_cast<task_of<total>&>(*there).work.of;
    std::vector<std::thread> threads;
    std::vector<const numbers*> seen(4);
    for (int i = 0; i < 4; i++) threads.emplace_back([d, &seen, i] { seen[std::size_t(i)] = &*d; });
    for (auto& each : threads) each.join();
    for (const auto* each : seen) EXPECT_EQ(each, &*d);
    EXPECT_EQ(away.fetched, round + 1);
  }
}

TEST(published, that_cannot_be_had_throws_and_can_be_had_later) {
  tests::node home, away(&home);
  task_of<total> t(total{data(numbers{7}), 0, 1});
  const auto there = tests::sent(t, home, away);
  auto& arrived = static_cast<task_of<total>&>(*there).work;
  away.values.install(nullptr);
  EXPECT_THROW(arrived.run(), std::runtime_error);
  struct cut final : carrier {
    tests::bytes fetch(value_name) override { return tests::bytes(3); }
    void improved() noexcept override {}
    void updated() noexcept override {}
  } line;
  away.values.install(&line);
  EXPECT_THROW(arrived.run(), malformed);
  tests::node again(&home);
  struct late final : carrier {
    explicit late(tests::node& n) : from(n) {}
    tests::bytes fetch(value_name name) override { return from.fetch(name); }
    void improved() noexcept override {}
    void updated() noexcept override {}
    tests::node& from;
  } second(again);
  away.values.install(&second);
  EXPECT_EQ(arrived.run(), 7);
}

TEST(published, ends_with_the_job) {
  tests::node home, away(&home);
  auto value = std::make_shared<const numbers>(numbers{1});
  const std::weak_ptr<const numbers> left = value;
  task_of<total> t(total{data(std::move(value)), 0, 1});
  auto there = tests::sent(t, home, away);
  t.work.of = data();
  EXPECT_FALSE(left.expired()) << "another node may still ask for it";
  there->execute();
  const std::weak_ptr<const numbers> copy(
      std::shared_ptr<const numbers>(std::shared_ptr<void>(), nullptr));
  home.values.end_job();
  EXPECT_TRUE(left.expired());
  there.reset();
  away.values.end_job();
  tests::bytes none;
  EXPECT_FALSE(home.values.put_published({1, 1}, none));
}

TEST(published, of_another_type_is_malformed) {
  tests::node home, away(&home);
  tests::bytes message;
  byte_writer w(message, home.values);
  put_value(w, data(numbers{1}));
  byte_reader first(message, away.values);
  data d;
  get_value(first, d);
  byte_reader second(message, away.values);
  cleave::published<std::string> other;
  EXPECT_THROW(get_value(second, other), malformed);
}

struct hidden {
  explicit hidden(int v) : value(v) {}
  int value;
};
static_assert(cleave::published<numbers>::travels && !cleave::published<hidden>::travels);

TEST(published, what_cannot_travel_is_published_in_its_process) {
  const cleave::published<hidden> p(hidden(3));
  EXPECT_EQ(p->value, 3);
}

}  // namespace
