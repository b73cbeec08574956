// What members of a team say to each other, on its way out: several threads say it at once.
#include "node/mail.hpp"

#include "protocol/message.hpp"
#include "protocol/team_letter.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace cleave::net::tests {
namespace {

/// Keeps what is sent; of one message in three it takes the memory, too.
class keeping final : public transport {
public:
  explicit keeping(bool from_any_thread) : from_any_thread_(from_any_thread) {}

  address self() const noexcept override { return 0; }
  std::vector<address> peers() const override { return {1, 2}; }
  distance how_far(address) const noexcept override { return distance::same_host; }
  bool sends_from_any_thread() const noexcept override { return from_any_thread_; }
  void send(address to, bytes message) override {
    const std::lock_guard lock(mutex_);
    sent_[to].push_back(std::move(message));
  }
  void send_all(std::span<outgoing> all) override {
    if (const auto now = std::exchange(meanwhile, nullptr)) now();
    for (outgoing& one : all) {
      bytes copy = one.message;
      if (++number_ % 3 == 0) bytes().swap(one.message);
      send(one.to, std::move(copy));
    }
  }
  std::optional<incoming> receive() override { return {}; }
  std::optional<address> lost() override { return {}; }
  void wait(std::chrono::microseconds) override {}
  void ring() noexcept override { ++rings; }

  /// What the member was told, part by part.
  std::vector<bytes> told(address member) {
    std::vector<bytes> all;
    for (const bytes& wire : sent_[member]) {
      EXPECT_TRUE(is_team_data(wire, 7));
      team_parts of(wire);
      EXPECT_EQ(of.team(), 3u);
      while (auto part = of.next()) all.push_back(std::move(*part));
      EXPECT_EQ(of.wrong(), nullptr);
    }
    return all;
  }

  std::atomic<int> rings{0};
  std::function<void()> meanwhile;  // happens while something is sent, once

private:
  const bool from_any_thread_;
  std::atomic<unsigned> number_{0};
  std::mutex mutex_;
  std::map<address, std::vector<bytes>> sent_;
};

struct says {
  unsigned thread = 0, number = 0;
  std::size_t length = 0;

  bytes written() const {
    bytes b(8 + length, static_cast<std::byte>(number));
    for (unsigned i = 0; i < 4; ++i) b[i] = static_cast<std::byte>(number >> 8 * i);
    b[4] = static_cast<std::byte>(thread);
    return b;
  }
};

class mail_of : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(, mail_of, testing::Bool(), [](const auto& of) {
  return of.param ? "any_thread" : "the_driver_s_thread";
});

constexpr unsigned threads = 3, many = 2000;

TEST_P(mail_of, leaves_in_the_order_of_each_thread) {
  keeping net(GetParam());
  outlet out({0, 8, 7}, net);
  member_mail mail(out);
  mail.set_team(3, {0, 1, 2});
  auto say_all = [&](unsigned thread) {
    std::minstd_rand random(thread + 1);
    const bytes begun = mail.begin_letter(3);
    bytes letter = begun;
    for (unsigned n = 0; n < many; ++n) {
      for (unsigned to = 1; to <= 2; ++to) {
        const bytes contents = says{thread, n, random() % 300}.written();
        if (random() % 2 == 0) {
          mail.put(3, to, contents);
          if (random() % 2 == 0) mail.flush();
        } else {
          letter.insert(letter.end(), contents.begin(), contents.end());
          mail.send_letter(3, to, letter, begun.size());
          EXPECT_TRUE(letter.empty() || letter.size() == begun.size() + contents.size());
          letter = begun;
        }
      }
    }
    mail.flush();
  };
  std::vector<std::thread> all;
  for (unsigned thread = 0; thread < threads; ++thread) all.emplace_back(say_all, thread);
  for (std::thread& t : all) t.join();
  if (!GetParam()) {
    EXPECT_GT(net.rings, 0);
    mail.send();
  }
  for (const address member : {1, 2}) {
    std::vector<unsigned> next(threads);
    for (const bytes& part : net.told(member)) {
      ASSERT_GE(part.size(), 8u);
      const auto thread = static_cast<unsigned>(part[4]);
      ASSERT_EQ(part, (says{thread, next[thread]++, part.size() - 8}.written()));
    }
    EXPECT_EQ(next, std::vector<unsigned>(threads, many));
  }
}

/// Whoever finds that another thread sends leaves it to that one.
TEST(mail, that_is_put_while_another_thread_sends_leaves_after_that) {
  keeping net(true);
  outlet out({0, 8, 7}, net);
  member_mail mail(out);
  mail.set_team(3, {0, 1, 2});
  bytes letter = mail.begin_letter(3);
  const std::size_t begun = letter.size();
  const bytes first(9, std::byte{1}), second(5, std::byte{2}), third(7, std::byte{3});
  net.meanwhile = [&] {
    mail.put(3, 1, second);
    mail.flush();
    bytes other = mail.begin_letter(3);
    other.insert(other.end(), third.begin(), third.end());
    mail.send_letter(3, 1, other, begun);
  };
  letter.insert(letter.end(), first.begin(), first.end());
  mail.send_letter(3, 1, letter, begun);
  EXPECT_EQ(net.told(1), (std::vector{first, second, third}));
}

/// Where memory is lacking once, the others' messages go on.
TEST(mail, leaves_after_a_letter_that_could_not) {
  keeping net(true);
  outlet out({0, 8, 7}, net);
  member_mail mail(out);
  mail.set_team(3, {0, 1, 2});
  const bytes begun = mail.begin_letter(3);
  bytes letter = begun;
  letter.push_back(std::byte{1});
  net.meanwhile = [] { throw std::bad_alloc(); };
  EXPECT_THROW(mail.send_letter(3, 1, letter, begun.size()), std::bad_alloc);
  letter = begun;
  letter.push_back(std::byte{2});
  mail.send_letter(3, 1, letter, begun.size());
  EXPECT_EQ(net.told(1), std::vector<bytes>(1, bytes(1, std::byte{2})));
}

TEST_P(mail_of, a_team_that_is_over_goes_nowhere) {
  keeping net(GetParam());
  outlet out({0, 8, 7}, net);
  member_mail mail(out);
  mail.set_team(3, {0, 1, 2});
  bytes letter = mail.begin_letter(3);
  const std::size_t begun = letter.size();
  letter.push_back(std::byte{1});
  mail.set_team(4, {0, 1, 2});
  mail.send_letter(3, 1, letter, begun);
  mail.put(3, 1, letter);
  mail.send();
  EXPECT_TRUE(net.told(1).empty());
}

}  // namespace
}  // namespace cleave::net::tests
