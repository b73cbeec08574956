// Gathered variables on two nodes of one process; what goes between them is handed over here.
#include <cleave/gathered.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "travel/two_nodes.hpp"

namespace {

using namespace cleave::detail;
using cleave::telling;
using tests::bytes;
using update_list = std::vector<std::vector<std::byte>>;

struct add_number {
  static constexpr bool commutative = true;
  bool operator()(std::set<int>& all, const int& i) const {
    if (i < 0) throw std::invalid_argument("negative");
    return all.insert(i).second;
  }
};
struct append {
  void operator()(std::string& all, const std::string& s) const { all += s; }
};
struct add {
  static constexpr bool commutative = true;
  void operator()(long& sum, const long& x) const { sum += x; }
  static void combine(long& a, const long& b) { a += b; }
};
using numbers = cleave::gathered<std::set<int>, add_number>;
using text = cleave::gathered<std::string, append>;
using total = cleave::gathered<long, add>;

numbers everywhere;

template <class Variable>
bytes reference_to(Variable& v, tests::node& on) {
  bytes message;
  byte_writer w(message, on.values);
  cleave::gathered_ref<Variable>(v).put(w);
  return message;
}
value_name name_in(const bytes& reference) {
  byte_reader r(reference);
  r.get<bool>();
  return get_name(r);
}

/// A variable that `home` made, and its replica on `away`; the order is kept here.
template <class Variable>
struct two_replicas {
  explicit two_replicas(telling when = telling::one_by_one()) : here({}, when) {
    const bytes message = reference_to(here, home);
    byte_reader r(message, away.values);
    there.get(r);
    name = name_in(message);
  }
  ~two_replicas() { there = {}; }

  /// What a node has made, and how many it had made before.
  std::pair<update_list, std::uint64_t> take(tests::node& from, bool all = true) {
    std::uint64_t& before = from_home(from) ? made_here : made_there;
    update_list made;
    for (auto& n : from.values.gathered().take_news(all))
      if (n.name == name) made = std::move(n.updates);
    const std::uint64_t was = before;
    before += made.size();
    return {made, was};
  }
  /// Puts what a node has made in order; all are told, but for `to_away` false.
  std::size_t order(tests::node& from, bool to_away = true, bool all = true) {
    const auto [made, before] = take(from, all);
    return put_in_order(from, made, before, to_away);
  }
  std::size_t put_in_order(tests::node& from, const update_list& made, std::uint64_t before,
                           bool to_away = true) {
    if (made.empty()) return 0;
    version += made.size();
    std::vector<arrived_update> at_home, at_away;
    for (std::size_t i = 0; i < made.size(); ++i) {
      const bool homes = from_home(from);
      at_home.push_back({homes, homes, before + i + 1, made[i]});
      at_away.push_back({!homes, homes, before + i + 1, made[i]});
    }
    home.values.gathered().arrived(name, version, at_home);
    if (to_away) away.values.gathered().arrived(name, version, at_away);
    return made.size();
  }
  /// Sends the home's value to the other node, as made by then; `own`: what is not in it.
  void send_value(update_list own = {}) {
    const auto state = home.values.gathered().value(name);
    ASSERT_TRUE(state);
    away.values.gathered().replaced(
        name, version, {state->first, state->second, made_there - own.size(), std::move(own)});
  }
  bool from_home(const tests::node& n) const { return &n == &home; }

  tests::node home, away;
  Variable here;
  cleave::gathered_ref<Variable> there;
  value_name name;
  std::uint64_t version = 0, made_here = 0, made_there = 0;
};

TEST(gathered, alone_is_a_variable) {
  numbers all({1});
  EXPECT_TRUE(all.update(2));
  EXPECT_FALSE(all.update(2));
  EXPECT_EQ(all.get(), (std::set{1, 2}));
  EXPECT_THROW(all.update(-1), std::invalid_argument);
  EXPECT_EQ(all.read([](const auto& s) { return s.size(); }), 2U);
  text t("a");
  t.update("b");
  EXPECT_EQ(t.get(), "ab");
  t.settle();
}

TEST(gathered, commutative_update_is_seen_at_once_and_once) {
  two_replicas<numbers> n;
  n.send_value();
  EXPECT_TRUE(n.there->update(1));
  EXPECT_FALSE(n.there->update(1));
  EXPECT_EQ(n.there->get(), std::set{1});
  EXPECT_TRUE(n.here.get().empty());
  EXPECT_EQ(n.order(n.away), 2U);
  EXPECT_EQ(n.here.get(), std::set{1});
  two_replicas<total> sum;
  sum.send_value();
  sum.there->update(5);
  sum.here.update(7);
  sum.order(sum.away), sum.order(sum.home);
  EXPECT_EQ(sum.there->get(), 12);
  EXPECT_EQ(sum.here.get(), 12);
}

TEST(gathered, ordered_updates_are_the_same_everywhere) {
  two_replicas<text> t;
  t.send_value();
  t.there->update("a");
  EXPECT_EQ(t.there->get(), "");
  const auto first = t.take(t.away);
  t.here.update("b");
  t.order(t.home);
  t.put_in_order(t.away, first.first, first.second);
  EXPECT_EQ(t.there->get(), "ba");
  EXPECT_EQ(t.here.get(), "ba");
}

TEST(gathered, value_that_comes_is_not_updated_twice) {
  two_replicas<total> t;
  t.here.update(1);  // ordered before the value is sent
  t.order(t.home, false);
  t.here.update(10);  // in the value, and in order later
  t.send_value();
  t.there->update(100);
  EXPECT_EQ(t.there->get(), 111);
  t.order(t.home);
  EXPECT_EQ(t.there->get(), 111);
  t.here.update(1'000);
  t.order(t.home);
  t.order(t.away);
  EXPECT_EQ(t.there->get(), 1'111);
  EXPECT_EQ(t.here.get(), 1'111);
}

TEST(gathered, value_that_comes_later_keeps_what_was_made_here) {
  two_replicas<total> t;
  t.send_value();
  t.there->update(1);
  const auto sent = t.take(t.away);  // on its way
  t.there->update(10);               // not taken yet
  t.here.update(100);
  t.order(t.home, false);
  t.send_value(sent.first);
  const auto later = t.take(t.away);  // taken before anybody has looked
  EXPECT_EQ(t.there->get(), 111);
  t.there->update(1'000);
  t.put_in_order(t.away, sent.first, sent.second);
  t.put_in_order(t.away, later.first, later.second);
  t.order(t.away);
  EXPECT_EQ(t.there->get(), 1'111);
  EXPECT_EQ(t.here.get(), 1'111);
}

TEST(gathered, value_that_comes_has_what_came_before_it) {
  two_replicas<total> t;
  t.send_value();
  bytes five;
  byte_writer(five).put(5L);
  for (tests::node* const n : {&t.home, &t.away})  // a third node's, at which nobody has looked
    n->values.gathered().arrived(t.name, 1, {{false, false, 1, five}});
  t.send_value();
  EXPECT_EQ(t.there->get(), 5);
  EXPECT_EQ(t.here.get(), 5);
}

TEST(gathered, value_that_comes_later_keeps_what_is_not_told_yet) {
  two_replicas<total> t(telling::together(9));
  t.send_value();
  t.there->update(1);
  t.here.update(100);
  t.order(t.home, false);
  t.send_value();
  EXPECT_EQ(t.there->get(), 101);
  t.order(t.away);
  EXPECT_EQ(t.there->get(), 101);
  EXPECT_EQ(t.here.get(), 101);
}

TEST(gathered, whoever_gets_a_result_knows_of_its_updates) {
  two_replicas<total> t;
  t.send_value();
  t.there->update(1);
  t.take(t.away);
  t.away.values.gathered().taken(t.name, 5, 1);
  bytes versions;
  byte_writer w(versions, t.away.values);
  t.away.values.gathered().put_versions(w);
  byte_reader r(versions);
  EXPECT_EQ(get_name(r), t.name);
  EXPECT_EQ(r.get<std::uint64_t>(), 5U);
}

TEST(gathered, updates_that_leave_together_are_combined) {
  two_replicas<total> t(telling::together(3));
  t.here.update(1), t.here.update(2);
  EXPECT_EQ(t.order(t.home, true, false), 0U) << "two of three";
  t.here.update(3);
  EXPECT_EQ(t.order(t.home, true, false), 1U) << "one of three that are combined";
  EXPECT_EQ(t.home.updates, 1);
  // What is in a value that was sent stays as it is.
  t.here.update(4);
  t.send_value();
  t.here.update(5);
  EXPECT_EQ(t.order(t.home), 2U);
  EXPECT_EQ(t.there->get(), 15);
  EXPECT_EQ(t.here.get(), 15);
}

struct mark {
  static constexpr bool commutative = true, idempotent = true;
  bool operator()(std::set<int>& all, const int& i) const { return all.insert(i).second; }
};

TEST(gathered, nobody_is_told_of_an_idempotent_update_that_changes_nothing) {
  two_replicas<cleave::gathered<std::set<int>, mark>> t(telling::together(2));
  t.send_value();
  EXPECT_TRUE(t.here.update(1));
  EXPECT_FALSE(t.here.update(1));
  EXPECT_EQ(t.order(t.home, true, false), 0U) << "one, and not two, is to be told";
  EXPECT_TRUE(t.here.update(2));
  EXPECT_EQ(t.order(t.home, true, false), 2U);
  EXPECT_FALSE(t.there->update(2)) << "the home has made it";
  EXPECT_EQ(t.order(t.away), 0U);
  EXPECT_TRUE(t.there->update(3));
  EXPECT_EQ(t.order(t.away), 1U);
  EXPECT_EQ(t.here.get(), (std::set{1, 2, 3}));
  EXPECT_EQ(t.there->get(), (std::set{1, 2, 3}));

  two_replicas<numbers> other;  // what is not idempotent is told each time
  other.here.update(1), other.here.update(1);
  EXPECT_EQ(other.order(other.home), 2U);
}

TEST(gathered, so_many_are_told_together) {
  const auto told_after = [](telling when) {
    two_replicas<numbers> n(when);
    std::vector<int> after;
    for (int i = 1; i <= 16; ++i) {
      n.here.update(i);
      if (n.order(n.home, true, false) != 0) after.push_back(i);
    }
    return after;
  };
  EXPECT_EQ(told_after(telling::one_by_one()).size(), 16U);
  EXPECT_EQ(told_after(telling::together(5)), (std::vector{5, 10, 15}));
  EXPECT_EQ(told_after(telling::halving(8)), (std::vector{8, 12, 14, 15, 16}));
  EXPECT_EQ(told_after(telling::doubling()), (std::vector{1, 3, 7, 15}));
}

TEST(gathered, reader_waits_for_what_a_giver_knew) {
  two_replicas<numbers> n;
  n.send_value();
  n.here.update(3);
  n.order(n.home, false);
  bytes versions;
  byte_writer w(versions, n.home.values);
  n.home.values.put_improved(0, w);
  byte_reader r(versions, n.away.values);
  n.away.values.merge_improved(r);
  EXPECT_GT(n.away.updates, 0);
  const auto wanted = n.away.values.gathered().take_news(false);
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_EQ(wanted[0].at_least, 1U);
  std::atomic<bool> done{false};
  std::thread reader([&] {
    EXPECT_EQ(n.there->get(), std::set{3});
    done = true;
  });
  while (!n.away.values.gathered().is_awaited()) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(done);
  n.send_value();
  n.away.tell();
  reader.join();
}

TEST(gathered, replica_without_a_value_is_waited_for) {
  two_replicas<numbers> n;
  const auto wanted = n.away.values.gathered().take_news(false);
  ASSERT_EQ(wanted.size(), 1U);
  EXPECT_TRUE(wanted[0].absent);
  n.away.values.gathered().gone(n.name);
  EXPECT_THROW(n.there->get(), std::runtime_error);
  EXPECT_THROW(n.there->update(1), std::runtime_error);
}

TEST(gathered, settle_waits_for_the_order) {
  two_replicas<text> t;
  t.send_value();
  t.there->update("x");
  std::thread waits([&] {
    t.there->settle();
    EXPECT_EQ(t.there->get(), "x");
  });
  while (!t.away.values.gathered().is_awaited()) std::this_thread::yield();
  t.order(t.away);
  t.away.tell();
  waits.join();
}

TEST(gathered, value_that_is_read_is_not_sent) {
  two_replicas<numbers> n;
  n.here.read([&](const auto&) { EXPECT_FALSE(n.home.values.gathered().value(n.name)); });
  EXPECT_TRUE(n.home.values.gathered().value(n.name));
}

TEST(gathered, update_that_throws_is_told_to_nobody) {
  two_replicas<numbers> n;
  n.send_value();
  EXPECT_THROW(n.there->update(-1), std::invalid_argument);
  EXPECT_EQ(n.order(n.away), 0U);
}

TEST(gathered, variable_that_ends_is_forgotten) {
  tests::node home;
  value_name name;
  {
    numbers n;
    name = name_in(reference_to(n, home));
    EXPECT_TRUE(home.values.gathered().has(name));
  }
  EXPECT_FALSE(home.values.gathered().has(name));
  home.values.gathered().arrived(name, 1, {});
  EXPECT_FALSE(home.values.gathered().value(name));
}

TEST(gathered, replica_that_nobody_means_is_forgotten) {
  two_replicas<numbers> n;
  n.away.values.forget_unused();
  EXPECT_TRUE(n.away.values.gathered().has(n.name));
  n.there = {};
  n.away.values.forget_unused();
  EXPECT_FALSE(n.away.values.gathered().has(n.name));
}

TEST(gathered, other_type_is_refused) {
  two_replicas<numbers> n;
  const bytes message = reference_to(n.here, n.home);
  cleave::gathered_ref<text> wrong;
  byte_reader r(message, n.away.values);
  EXPECT_THROW(wrong.get(r), malformed);
}

TEST(gathered, static_variable_is_known_before_main) {
  EXPECT_TRUE(everywhere.update(4));
  tests::node any;
  EXPECT_EQ(name_in(reference_to(everywhere, any)).maker, 0U);
  replicas_of_process().gathered().begin_job();
  const auto news = replicas_of_process().gathered().take_news(false);
  ASSERT_EQ(news.size(), 1U);
  EXPECT_TRUE(news[0].changed_alone) << "others learn of what was done before the job";
}

}  // namespace
