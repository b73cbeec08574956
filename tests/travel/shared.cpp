// Shared values over nodes: replicas that improve, by what travels with tasks and results.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <typeinfo>
#include <vector>

#include "travel/two_nodes.hpp"

namespace {

using namespace cleave::detail;
using bound = cleave::shared<int>;
using witnessed = cleave::shared<int, cleave::max, std::string>;

bound everywhere{0};
bound another{0};
witnessed named_everywhere{0};

struct offers {
  cleave::shared_ref<witnessed> best;
  int value;
  auto input() { return std::tie(best, value); }
  int run() {
    best->offer(value, "found " + std::to_string(value));
    return best->get();
  }
};
struct reads {
  cleave::shared_ref<bound> best;
  auto input() { return std::tie(best); }
  int run() { return best->get(); }
};

TEST(shared, improvement_comes_with_the_result) {
  tests::node home, away;
  witnessed best(3);
  EXPECT_EQ(tests::run_away(offers{best, 10}, home, away), 10);
  EXPECT_EQ(best.get(), 10);
  EXPECT_EQ(best.best().second, "found 10");
  EXPECT_EQ(tests::run_away(offers{best, 7}, home, away), 10);
  EXPECT_EQ(best.best().second, "found 10");
  EXPECT_GT(away.improvements, 0);
}

TEST(shared, task_leaves_with_the_newest_value) {
  tests::node home, away;
  bound best(3);
  EXPECT_EQ(tests::run_away(reads{best}, home, away), 3);
  best.offer(8);
  EXPECT_EQ(tests::run_away(reads{best}, home, away), 8);
  bound other(1);
  EXPECT_EQ(tests::run_away(reads{other}, home, away), 1) << "two values, two replicas";
}

TEST(shared, replica_improves_in_the_background) {
  tests::node home, away;
  witnessed best(0);
  task_of<offers> t(offers{best, 1});
  const auto there = tests::sent(t, home, away);
  const auto seen = home.values.version();
  best.offer(50, "from home");
  EXPECT_EQ(home.improvements, 1);
  EXPECT_GT(home.values.version(), seen);
  tests::bytes update;
  byte_writer w(update, home.values);
  EXPECT_EQ(home.values.put_improved(seen, w), home.values.version());
  byte_reader r(update, away.values);
  away.values.merge_improved(r);
  auto& replica = *static_cast<task_of<offers>&>(*there).work.best;
  EXPECT_EQ(replica.best(), (std::pair(50, std::optional<std::string>("from home"))));
  tests::bytes nothing_new;
  byte_writer again(nothing_new, home.values);
  home.values.put_improved(home.values.version(), again);
  EXPECT_EQ(nothing_new.size(), tests::empty_size);
}

struct node_of_tree {
  cleave::published<std::string> name;
  auto fields() { return std::tie(name); }
};
using with_published = cleave::shared<int, cleave::max, node_of_tree>;
with_published holds_another{0};

TEST(shared, a_witness_may_hold_what_has_a_name_itself) {
  holds_another.offer(1, {cleave::published<std::string>("one")});
  tests::bytes message;
  byte_writer w(message);
  replicas_of_process().put_improved(0, w);
  byte_reader r(message);
  replicas_of_process().merge_improved(r);
  EXPECT_EQ(*holds_another.best().second->name, "one");
}

struct heavy {
  int weight = 0;
  template <class Archive>
  void save(Archive& a) const {
    if (weight > 5) throw std::length_error("too heavy");
    a(weight);
  }
  template <class Archive>
  void load(Archive& a) {
    a(weight);
  }
};
using weighed = cleave::shared<int, cleave::max, heavy>;
struct weighs {
  cleave::shared_ref<weighed> best;
  cleave::shared_ref<bound> other;
  int value;
  auto input() { return std::tie(best, other, value); }
  int run() {
    best->offer(value, {value});
    other->offer(value);
    return value;
  }
};

// A result that was pruned under a bound must not come without it.
TEST(shared, a_value_that_cannot_be_written_is_an_error_where_it_is_read) {
  tests::node home, away;
  weighed best(0);
  bound other(0);
  EXPECT_EQ(tests::run_away(weighs{best, other, 3}, home, away), 3);
  EXPECT_THROW((void)tests::run_away(weighs{best, other, 7}, home, away), malformed);
  EXPECT_EQ(best.get(), 3);
  EXPECT_EQ(other.get(), 7) << "the others come all the same";
  tests::bytes message;
  byte_writer w(message, away.values);
  std::exception_ptr failed;
  away.values.put_improved(0, w, &failed);
  EXPECT_NE(failed, nullptr);
}

int offers_by_value(cleave::shared_ref<bound> best) { return best->offer(50), best->get(); }
// The reference is gone when its task ends.
TEST(shared, an_improvement_comes_with_the_result_of_who_has_moved_its_reference) {
  tests::node home, away;
  bound best(3);
  EXPECT_EQ(
      tests::run_away(cleave::call<offers_by_value>(cleave::shared_ref<bound>(best)), home, away),
      50);
  EXPECT_EQ(best.get(), 50);
}

TEST(shared, replicas_end_with_the_tasks_that_refer_to_them) {
  tests::node home, away;
  for (int i = 0; i < 10; ++i) {
    bound best(i);
    EXPECT_EQ(tests::run_away(reads{best}, home, away), i);
  }
  tests::bytes before, after;
  byte_writer all(before, away.values), none(after, away.values);
  away.values.put_improved(0, all);
  EXPECT_GT(before.size(), tests::empty_size);
  away.values.forget_unused();
  away.values.put_improved(0, none);
  EXPECT_EQ(after.size(), tests::empty_size);
}

// What was cancelled elsewhere may still unwind here.
TEST(shared, a_value_outlives_the_tasks_that_have_come_home) {
  tests::node home, away;
  auto best = std::make_unique<bound>(3);
  std::unique_ptr<cleave::detail::task> back;
  {
    task_of<reads> t(reads{*best});
    const auto there = tests::sent(t, home, away);
    back = tests::sent(static_cast<task_of<reads>&>(*there), away, home);
  }
  std::atomic<bool> ended{false};
  std::thread owner([&] {
    best.reset();
    ended = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_FALSE(ended);
  back->execute();
  EXPECT_EQ(*static_cast<task_of<reads>&>(*back).result, 3);
  back.reset();
  owner.join();
}

value_name name_of_static(int line) {
  const std::string_view path(__FILE__);
  name_hash place;
  place.add(typeid(bound).name());
  place.add(path.substr(path.rfind('/') + 1));
  place.add(static_cast<std::uint64_t>(line));
  place.add(std::uint64_t{0});
  return {0, place.value()};
}

constexpr int line_of_late = __LINE__ + 2;
bound& late() {
  static bound made{0};
  return made;
}
TEST(shared, a_static_variable_that_is_made_late_has_what_has_come) {
  tests::bytes message;
  byte_writer w(message);
  w.put_block([&] {
    put_name(w, name_of_static(line_of_late));
    w.put(shared_functions<bound>::type.id());
    w.put_block([&] { w.put(41); });
  });
  w.put_block([] {});
  byte_reader r(message);
  replicas_of_process().merge_improved(r);
  EXPECT_EQ(late().get(), 41);
}

// Whoever gets a result from here must have all bounds under which it was found.
TEST(shared, a_node_passes_on_what_it_does_not_know) {
  tests::node home, middle, thief;
  bound best(3);
  task_of<reads> t(reads{best});
  const auto there = tests::sent(t, home, thief);
  static_cast<task_of<reads>&>(*there).work.best->offer(9);
  tests::bytes first, second;
  byte_writer w(first, thief.values);
  thief.values.put_improved(0, w);
  byte_reader unused(first, middle.values);
  middle.values.merge_improved(unused, false);
  EXPECT_EQ(middle.values.version(), 0u) << "it has nobody to tell";
  byte_reader r(first, middle.values);
  middle.values.merge_improved(r);
  byte_writer on(second, middle.values);
  middle.values.put_improved(0, on);
  byte_reader last(second, home.values);
  home.values.merge_improved(last);
  EXPECT_EQ(best.get(), 9);
}

// A reference has come before the function was called here that makes the variable.
constexpr int line_of_later = __LINE__ + 2;
bound& made_later() {
  static bound made{0};
  return made;
}
TEST(shared, a_static_variable_that_is_made_late_has_what_its_replica_has) {
  tests::bytes message;
  byte_writer w(message);
  w.put(true);
  put_name(w, name_of_static(line_of_later));
  w.put_block([&] { w.put(20); });
  byte_reader r(message);
  cleave::shared_ref<bound> replica;
  replica.get(r);
  replica->offer(30);
  EXPECT_EQ(made_later().get(), 30);
  const auto since = replicas_of_process().version();
  replica->offer(40);
  EXPECT_EQ(made_later().get(), 40) << "who has the replica still means the variable";
  tests::bytes update;
  byte_writer all(update);
  replicas_of_process().put_improved(since, all);
  EXPECT_GT(update.size(), tests::empty_size) << "and others are told";
  cleave::shared_ref<bound> later;
  byte_reader again(message);
  later.get(again);
  EXPECT_EQ(&*later, &made_later());
}

// Who improved it tells all: whoever merged it has nothing to tell.
TEST(shared, what_is_merged_is_not_told_again) {
  tests::node home, away;
  witnessed best(0);
  task_of<offers> t(offers{best, 1});
  const auto there = tests::sent(t, home, away);
  best.offer(50, "from home");
  tests::bytes update, news;
  byte_writer w(update, home.values);
  home.values.put_improved(0, w);
  const auto seen = away.values.version();
  byte_reader r(update, away.values);
  away.values.merge_improved(r);
  EXPECT_GT(away.values.version(), seen);
  EXPECT_EQ(away.improvements, 0);
  byte_writer nothing(news, away.values);
  away.values.put_improved(seen, nothing);
  EXPECT_EQ(news.size(), tests::empty_size);
  static_cast<task_of<offers>&>(*there).work.best->offer(60, "from away");
  EXPECT_EQ(away.improvements, 1);
  byte_writer own(news, away.values);
  away.values.put_improved(seen, own);
  EXPECT_GT(news.size(), 24u);
}

TEST(shared, reference_finds_its_way_home_and_on_to_a_third_node) {
  tests::node home, away, third;
  bound best(3);
  task_of<reads> t(reads{best});
  auto there = tests::sent(t, home, away);
  auto& replica = static_cast<task_of<reads>&>(*there).work.best;
  replica->offer(9);
  auto further = tests::sent(static_cast<task_of<reads>&>(*there), away, third);
  further->execute();
  EXPECT_EQ(*static_cast<task_of<reads>&>(*further).result, 9);
  const auto back = tests::sent(static_cast<task_of<reads>&>(*there), away, home);
  EXPECT_EQ(&*static_cast<task_of<reads>&>(*back).work.best, &best);
  EXPECT_EQ(best.get(), 9) << "it came with the reference";
}

TEST(shared, variable_of_static_storage_is_known_by_its_place) {
  auto& node = replicas_of_process();
  const auto since = node.version();
  everywhere.offer(5);
  named_everywhere.offer(6, "six");
  another.offer(7);
  tests::bytes message;
  byte_writer w(message);
  node.put_improved(since, w);
  bound local(0);
  local.offer(100);  // known to nobody
  byte_reader r(message);
  auto all = r.get_block();
  std::vector<value_name> names;
  while (all.left() > 0) {
    names.push_back(get_name(all));
    (void)all.get<std::uint64_t>();
    (void)all.get_block();
    EXPECT_EQ(names.back().maker, 0u);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()) - names.begin(), 3);
}

TEST(shared, destroyed_value_is_forgotten) {
  tests::node home, away;
  tests::bytes message;
  {
    bound best(0);
    (void)tests::run_away(reads{best}, home, away);
    best.offer(4);
    byte_writer w(message, home.values);
    home.values.put_improved(0, w);
  }
  byte_reader r(message, home.values);
  home.values.merge_improved(r);
  tests::bytes after;
  byte_writer w(after, home.values);
  home.values.put_improved(0, w);
  EXPECT_EQ(after.size(), tests::empty_size);
  home.values.end_job();
  away.values.end_job();
}

TEST(shared, many_threads_improve_what_arrives_too) {
  tests::node home, away;
  bound best(0);
  task_of<reads> t(reads{best});
  const auto there = tests::sent(t, home, away);
  bound& replica = *static_cast<task_of<reads>&>(*there).work.best;
  std::thread here([&] {
    for (int i = 0; i < 2000; i += 2) best.offer(i);
  });
  std::thread far([&] {
    for (int i = 1; i < 2000; i += 2) replica.offer(i);
  });
  const auto exchange = [](tests::node& from, tests::node& to) {
    tests::bytes message;
    byte_writer w(message, from.values);
    from.values.put_improved(0, w);
    byte_reader r(message, to.values);
    to.values.merge_improved(r);
  };
  for (int i = 0; i < 200; i++) exchange(home, away), exchange(away, home);
  here.join();
  far.join();
  exchange(away, home);
  EXPECT_EQ(best.get(), 1999);
}

TEST(shared, malformed_values_are_refused) {
  tests::node home, away;
  witnessed best(3);
  best.offer(4, "four");
  task_of<offers> t(offers{best, 1});
  const auto there = tests::sent(t, home, away);
  best.offer(5, "five");
  tests::bytes message;
  byte_writer w(message, home.values);
  home.values.put_improved(0, w);
  for (std::size_t n = 0; n < message.size(); n++) {
    const tests::bytes part(message.begin(), message.begin() + static_cast<long>(n));
    byte_reader r(part, away.values);
    EXPECT_THROW(away.values.merge_improved(r), malformed) << n;
  }
  EXPECT_EQ(static_cast<task_of<offers>&>(*there).work.best->get(), 4);
}

struct no_form {
  int* p = nullptr;
};
TEST(shared, witness_that_cannot_travel_stays_in_its_process) {
  cleave::shared<int, cleave::max, no_form> best(0);
  static_assert(!decltype(best)::travels);
  EXPECT_TRUE(best.offer(1, no_form{}));
}

using formless = cleave::shared<int, cleave::max, no_form>;
std::optional<formless> formless_variable;

// Another node's work was pruned by it: without it, a result may be wrong.
TEST(shared, variable_that_cannot_travel_makes_an_error_of_what_improved_it) {
  replicas& node = replicas_of_process();
  formless_variable.emplace(0);
  for (const bool improved : {false, true}) {
    if (improved) formless_variable->offer(1, no_form{});
    tests::bytes message;
    byte_writer w(message);
    std::exception_ptr failed;
    node.put_improved(0, w, &failed);
    EXPECT_EQ(failed != nullptr, improved);
    byte_reader r(message);
    if (improved) EXPECT_THROW(node.merge_improved(r), std::logic_error);
    else node.merge_improved(r);
  }
  formless_variable.reset();
}

}  // namespace
