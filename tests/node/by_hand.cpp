// One node, whose neighbours are played here message by message: what happens between two of its
// steps, or with a node that knows less than its neighbours.
#include "node/driver.hpp"

#include <cleave/cleave.hpp>

#include "core/pool.hpp"
#include "node/nodes/loopback.hpp"
#include "travel/two_nodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <thread>
#include <utility>

namespace cleave::tests {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

template <class Holds>
bool soon(Holds holds) {
  const auto end = clock::now() + 20s;
  while (!holds() && clock::now() < end) std::this_thread::sleep_for(100us);
  return holds();
}

/// Nothing happens by time alone.
net::settings patient() {
  net::settings s;
  s.none_after = s.give_up_after = s.give_up_soon = s.forget_after = 1h;
  s.lost_after = s.resend_after = 1h;
  // A node sends nothing twice to who asks again while it is on its way: here it has arrived.
  s.slowest_link = std::size_t{1} << 40;
  return s;
}

/// A neighbour: what it sends, and what it was sent.
class hand {
public:
  hand(loopback& by, net::address self) : at_(by.open(self)), process_(100 + self) {}

  void send(net::address to, net::message_body body) {
    at_->send(to, net::encode({detail::program_hash(), process_, 0, std::move(body)}));
  }
  /// The next of that kind that comes, or has come; nothing if it does not.
  template <class Body>
  std::optional<Body> next() {
    std::optional<Body> found;
    soon([&] { return found || (found = came<Body>()).has_value(); });
    return found;
  }
  /// The same without waiting.
  template <class Body>
  std::optional<Body> came() {
    while (const auto one = at_->receive()) {
      net::message m;
      if (net::decode(one->message, m) == nullptr) heard_.push_back(std::move(m.body));
    }
    const auto is_one = [](const auto& body) { return std::holds_alternative<Body>(body); };
    const auto at = std::find_if(heard_.begin(), heard_.end(), is_one);
    if (at == heard_.end()) return {};
    const Body found = std::get<Body>(std::move(*at));
    heard_.erase(at);
    return found;
  }
  /// A part of anything that node computes: it may have none to give yet.
  std::optional<net::task> part_of(net::address node) {
    std::optional<net::task> part;
    send(node, net::task_request{++last_request_, {}});
    soon([&] {
      if (!part && came<net::none>()) send(node, net::task_request{++last_request_, {}});
      return part || (part = came<net::task>()).has_value();
    });
    return part;
  }
  /// Returns when that node has heard all that was sent before.
  void until_heard(net::address by) {
    send(by, net::inquiry{++last_inquiry_, false});
    EXPECT_TRUE(next<net::report>());
  }

private:
  const std::unique_ptr<net::transport> at_;
  const net::incarnation process_;
  std::deque<net::message_body> heard_;
  std::uint64_t last_request_ = 0, last_inquiry_ = 0;
};

const net::bytes& no_values() {
  static const net::bytes none = [] {
    net::bytes all;
    detail::byte_writer w(all);
    w.put_block([] {});
    w.put_block([] {});
    return all;
  }();
  return none;
}

/// An answer to that request, as a driver writes it on a node with these values.
template <class Work>
net::task task_for(std::uint64_t request, net::task_key key, Work work,
                   detail::replicas& from = detail::replicas_of_process()) {
  detail::task_of<Work> t(std::move(work));
  const auto* const type = detail::wire_of<Work>();
  net::task m{request, key, type->id(), 1, {}, no_values()};
  detail::byte_writer w(m.input, from);
  w.put<std::uint64_t>(0);  // depth
  w.put(false);             // nobody records
  type->put_input(t, w);
  return m;
}

/// How that task ended, with a value.
template <class Work>
net::task_result result_of(net::task_key key, typename detail::task_of<Work>::result_type value,
                           net::bytes shared = no_values()) {
  detail::task_of<Work> t{Work{}};
  t.result.emplace(std::move(value));
  net::task_result m{key, net::ending::value, {}, std::move(shared)};
  detail::byte_writer w(m.result);
  detail::put_outcome(t, *detail::wire_of<Work>(), w);
  return m;
}

std::atomic<bool> begun{false}, may_end{false};

/// Gives nobody a part of itself.
struct silent {
  auto input() { return std::tie(); }
  int run() {
    begun = true;
    while (!may_end) std::this_thread::yield();
    return 1;
  }
};

/// Otherwise a task that comes to be at the same address would serve it; and its asker waits.
TEST(by_hand, a_request_for_a_part_of_a_task_that_ends_is_answered) {
  begun = may_end = false;
  loopback network(2, {});
  hand zero(network, 0);
  test_node one(network, 1, 1, patient());
  const auto asked = zero.next<net::task_request>();
  ASSERT_TRUE(asked);
  zero.send(1, task_for(asked->request, {9, 1}, silent{}));
  ASSERT_TRUE(soon([] { return begun.load(); }));
  zero.send(1, net::task_request{1, {9, 1}});
  zero.until_heard(1);
  may_end = true;
  const auto none = zero.next<net::none>();
  ASSERT_TRUE(none);
  EXPECT_EQ(none->request, 1u);
  EXPECT_TRUE(zero.next<net::task_result>());
}

// ---- updates of gathered variables

struct add {
  static constexpr bool commutative = true;
  void operator()(int& sum, const int& x) const { sum += x; }
};
gathered<int, add> everywhere;
struct adds {
  auto input() { return std::tie(); }
  int run() {
    everywhere.update(7);
    return everywhere.get();
  }
};

/// Whoever waits for the task is to see them, wherever the variable's home is.
TEST(by_hand, a_result_does_not_leave_before_its_updates_are_in_order) {
  loopback network(2, {});
  hand zero(network, 0);
  test_node one(network, 1, 1, patient());
  const auto asked = zero.next<net::task_request>();
  ASSERT_TRUE(asked);
  zero.send(1, task_for(asked->request, {9, 1}, adds{}));
  const auto made = zero.next<net::gathered_updates>();
  ASSERT_TRUE(made);
  EXPECT_EQ(made->name.maker, 0u);
  EXPECT_EQ(made->updates.size(), 1u);
  zero.until_heard(1);
  EXPECT_FALSE(zero.came<net::task_result>());
  zero.send(1, net::gathered_receipt{made->name, made->first, 1});
  EXPECT_TRUE(zero.next<net::task_result>());
}

// ---- a task that ends, and another one in its place

/// How far the test below is: the first worker has given `first` to another node, and then waits
/// for `second`, which the second worker runs.
std::atomic<bool> busy_begun{false}, first_is_away{false}, second_begun{false}, waits_again{false};
std::atomic<bool> intruder_ran{false};
bool polled_until(const std::atomic<bool>& flag) {
  const auto end = clock::now() + 20s;
  while (!flag && clock::now() < end) poll();
  return flag;
}

/// Keeps the second worker from taking the first part.
struct busy {
  auto input() { return std::tie(); }
  int run() {
    busy_begun = true;
    while (!first_is_away) std::this_thread::yield();
    return 0;
  }
};
struct part {
  auto input() { return std::tie(); }
  int run() {  // here
    second_begun = true;
    while (!may_end) std::this_thread::yield();
    return 2;
  }
};
/// It is read for as long as the first worker has not begun its second wait.
struct read_slowly {
  template <class Archive>
  void save(Archive&) const {}
  template <class Archive>
  void load(Archive&) {
    EXPECT_TRUE(soon([] { return waits_again.load(); }));
    std::this_thread::sleep_for(20ms);
  }
};
struct intruder {
  read_slowly much;
  auto input() { return std::tie(much); }
  int run() {
    intruder_ran = true;
    return 1;
  }
};

/// The part is at the same place of the stack each time.
[[gnu::noinline]] int give_and_wait(const std::atomic<bool>& is_given, std::atomic<bool>& waits) {
  return both(
             [&] {
               EXPECT_TRUE(polled_until(is_given));
               waits = true;
               return 0;
             },
             part{})
      .second;
}

/// A part of a task comes to who waits for that task, and waits meanwhile for another one that is
/// where the first was: it is refused.
TEST(by_hand, a_part_that_comes_after_its_whole_is_not_run_by_who_waits_for_another_one) {
  busy_begun = first_is_away = second_begun = waits_again = intruder_ran = may_end = false;
  loopback network(2, {});
  hand one(network, 1);
  test_node zero(network, 0, 2, patient());
  int sum = 0;
  std::thread root([&] {
    sum = zero.run([] {
      return both(
                 [] {
                   EXPECT_TRUE(polled_until(busy_begun));
                   std::atomic<bool> waits{false};
                   const int first = give_and_wait(first_is_away, waits);
                   return 10 * first + give_and_wait(second_begun, waits_again);
                 },
                 busy{})
          .first;
    });
  });
  EXPECT_TRUE(soon([] { return busy_begun.load(); }));
  const auto first = one.part_of(0);
  first_is_away = true;
  std::optional<net::task_request> asked;
  do asked = one.next<net::task_request>();
  while (first && asked && asked->wanted != first->key);
  network.hold(true);  // both are heard in one step
  if (first) one.send(0, result_of<part>(first->key, 1));
  if (asked) one.send(0, task_for(asked->request, {7, 1}, intruder{}));
  network.hold(false);
  const auto refused = one.next<net::task_result>();
  EXPECT_TRUE(soon([] { return waits_again.load(); }));
  may_end = true;
  root.join();
  EXPECT_EQ(sum, 12);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->key, (net::task_key{7, 1}));
  EXPECT_EQ(refused->how, net::ending::refused);
  EXPECT_FALSE(intruder_ran);
}

// ---- tasks that come back, and a worker that starves no more when it is fed one

std::atomic<bool> kept_begun{false}, kept_may_end{false};
std::atomic<int> kept_ended{0};
struct kept {
  auto input() { return std::tie(); }
  int run() {
    kept_begun = true;
    while (!kept_may_end) std::this_thread::yield();
    return ++kept_ended;
  }
};

/// Two tasks come back unrun. The second worker is shown to the driver as two that starve, so one
/// of the tasks is fed to somebody who does not starve any more: it must run all the same.
TEST(by_hand, a_task_that_could_not_be_fed_is_fed_to_another) {
  begun = may_end = kept_begun = kept_may_end = false;
  kept_ended = 0;
  loopback network(2, {});
  hand one(network, 1);
  test_node zero(network, 0, 2, patient());
  std::atomic<bool> both_ended{false};
  std::thread root([&] {
    zero.run([&] {
      const auto waits = [&] {
        EXPECT_TRUE(polled_until(both_ended));
        return 0;
      };
      both([&] { return both([&] { return both(waits, kept{}).second; }, kept{}).second; },
           silent{});
    });
  });
  EXPECT_TRUE(soon([] { return begun.load(); }));  // the second worker has the oldest part
  const auto first = one.part_of(0), second = one.part_of(0);
  for (const auto& part : {first, second}) {
    EXPECT_TRUE(part);
    if (part) one.send(0, net::task_result{part->key, net::ending::refused, {}, no_values()});
  }
  one.until_heard(0);
  auto& meeting = zero.pool()->meeting;
  for (const unsigned nobody : {7u, 8u}) {
    meeting.boxes[nobody] = meeting.boxes[1];
    meeting.hungry.set(nobody);
  }
  may_end = true;
  EXPECT_TRUE(soon([] { return kept_begun.load(); }));
  one.until_heard(0);  // until the driver has looked for both
  kept_may_end = true;
  if (!soon([] { return kept_ended == 2; })) {
    ADD_FAILURE() << "a task is forgotten; whoever waits for it would wait for ever";
    std::_Exit(1);
  }
  both_ended = true;
  root.join();
}

// ---- a value that a node does not know

using bound = cleave::shared<int>;
struct reads {
  cleave::shared_ref<bound> best;
  auto input() { return std::tie(best); }
  int run() { return best->get(); }
};
struct away {
  auto input() { return std::tie(); }
  int run() { return -1; }
};
/// Knows nothing of that value, and waits for a part of itself.
struct between {
  auto input() { return std::tie(); }
  int run() {
    begun = true;
    return both(
               [] {
                 const auto end = clock::now() + 20s;
                 while (!may_end && clock::now() < end) poll();
                 return 0;
               },
               away{})
        .second;
  }
};

/// A part of the middle node's task has improved a value of the first node, of which the middle one
/// has never heard: with its result it passes on what was found under that bound.
TEST(by_hand, a_bound_is_passed_on_by_a_node_that_does_not_know_it) {
  begun = may_end = false;
  ::tests::node home, thief;
  home.values.identify(1, true), thief.values.identify(3, false);
  bound best(3);
  detail::task_of<reads> t(reads{best});
  const auto there = ::tests::sent(t, home, thief);
  static_cast<detail::task_of<reads>&>(*there).work.best->offer(9);
  net::bytes improved;
  detail::byte_writer w(improved, thief.values);
  thief.values.put_improved(0, w);

  loopback network(3, {});
  hand zero(network, 0), two(network, 2);
  test_node one(network, 1, 1, patient());
  std::optional<net::task_request> asked;
  EXPECT_TRUE(soon([&] {  // it may ask the other one first
    if (const auto first = two.came<net::task_request>()) two.send(1, net::none{first->request, 0});
    return asked || (asked = zero.came<net::task_request>()).has_value();
  }));
  ASSERT_TRUE(asked);
  zero.send(1, task_for(asked->request, {9, 1}, between{}));
  ASSERT_TRUE(soon([] { return begun.load(); }));
  const auto part = two.part_of(1);
  ASSERT_TRUE(part);
  two.send(1, result_of<away>(part->key, 5, improved));
  ASSERT_TRUE(two.next<net::result_receipt>());
  may_end = true;
  const auto result = zero.next<net::task_result>();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->how, net::ending::value);
  detail::byte_reader r(result->shared, home.values);
  home.values.merge_improved(r);
  EXPECT_EQ(best.get(), 9);
}

// ---- published data

/// By which its node knows it, once it has travelled.
std::uint64_t number_of(const cleave::published<int>& p) {
  net::bytes handle;
  detail::byte_writer w(handle);
  p.put(w);
  detail::byte_reader r(handle);
  EXPECT_TRUE(r.get<bool>());   // it is one
  EXPECT_FALSE(r.get<bool>());  // and does not bring its data along
  return detail::get_name(r).number;
}

TEST(by_hand, published_data_are_those_that_were_asked_for) {
  loopback network(2, {});
  hand zero(network, 0);
  test_node one(network, 1, 1, patient());
  const cleave::published<int> seven(7), eight(8);
  for (const auto* p : {&seven, &eight, &seven}) {
    const std::uint64_t number = number_of(*p);
    zero.send(1, net::fetch{1, number, 0, false, 0});
    const auto sent = zero.next<net::published>();
    ASSERT_TRUE(sent);
    EXPECT_EQ(sent->id, number);
    ASSERT_EQ(sent->how, net::publishing::part);
    detail::byte_reader r(sent->contents);
    int value = 0;
    detail::get_value(r, value);
    EXPECT_EQ(value, **p);
  }
  zero.send(1, net::fetch{1, number_of(eight) + 1000, 0, false, 0});
  const auto none = zero.next<net::published>();
  ASSERT_TRUE(none);
  EXPECT_EQ(none->how, net::publishing::absent);
}

struct looks_until_it_is_there {
  cleave::published<int> data;
  auto input() { return std::tie(data); }
  int run() {
    for (int in_vain = 0; in_vain < 3; ++in_vain) {
      try {
        return *data + 100 * in_vain;
      } catch (const std::runtime_error&) {}
    }
    return -1;
  }
};

TEST(by_hand, data_that_could_not_be_had_are_asked_for_again) {
  ::tests::node home;
  home.values.identify(1, true);
  loopback network(2, {});
  hand zero(network, 0);
  test_node one(network, 1, 1, patient());
  const auto asked = zero.next<net::task_request>();
  ASSERT_TRUE(asked);
  zero.send(1, task_for(asked->request, {9, 1}, looks_until_it_is_there{cleave::published<int>(7)},
                        home.values));
  const auto first = zero.next<net::fetch>();
  ASSERT_TRUE(first);
  zero.send(1, net::published{0, first->id, net::publishing::absent, 0, 0, 0, {}});
  const auto second = zero.next<net::fetch>();
  net::published there{0, first->id, net::publishing::part, 0, 0, 0, {}};
  ASSERT_TRUE(home.values.put_published({1, first->id}, there.contents));
  there.size = there.contents.size();
  zero.send(1, there);  // also where nobody has asked again, so that the task ends
  const auto result = zero.next<net::task_result>();
  EXPECT_TRUE(second);
  ASSERT_TRUE(result);
  detail::task_of<looks_until_it_is_there> t{looks_until_it_is_there{}};
  detail::byte_reader r(result->result);
  detail::get_outcome(t, *detail::wire_of<looks_until_it_is_there>(), r);
  EXPECT_EQ(*t.result, 107);
}

// ---- what all nodes run

std::atomic<int> runs{0};
struct counted {
  auto input() { return std::tie(); }
  int run() { return ++runs; }
};

TEST(by_hand, what_all_nodes_are_to_run_begins_once_however_often_that_is_said) {
  runs = 0;
  loopback network(2, {});
  hand zero(network, 0);
  test_node one(network, 1, 1, patient());
  // It enters itself into the list of types that travel.
  const std::uint64_t type = task_for(0, {}, counted{}).type;
  for (const std::uint64_t team : {1, 1, 2}) {
    const bool again = team == 1 && runs != 0;
    zero.send(1, net::team_begin{team, {0, 1}, type, {}, no_values()});
    zero.until_heard(1);
    if (!again) { EXPECT_TRUE(zero.next<net::team_end>()); }
  }
  EXPECT_EQ(runs, 2);
}

}  // namespace
}  // namespace cleave::tests
