// labels: once slow
// `cleave submit` between servers that are played here: whoever is given up is told so.
#include "sites/submit.hpp"

#include "nats/relay.hpp"
#include "sites/roster.hpp"
#include "temporary_folder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace {

using namespace cleave::net::nats;
using key = cleave::net::nats::access;  // beside POSIX's function
using namespace std::chrono_literals;

/// From then on it hears everything and says only that it knows of a cancellation.
enum class rests { never, when_asked_to_start, when_it_has_started };

/// Offers the program. Its job ends some beats after another one was told that it is cancelled.
class played {
public:
  played(const key& at, unsigned workers, rests when, const played* another = nullptr)
      : by_(at, "serve-1"), workers_(workers), when_(when), another_(another) {
    by_.listen(std::string(kind_of(who{})));
    thread_ = std::thread([this] { play(); });
  }
  ~played() { end(); }
  void end() {
    if (!thread_.joinable()) return;
    end_ = true;
    by_.ring();
    thread_.join();
  }

  // After end().
  std::vector<std::string> asked, cancelled;  // jobs
  std::string ask;                            // of the start that came last

private:
  // A second time it would be told after one beat.
  static constexpr int beats_to_wait = 4, beats_at_most = 20;

  void play() {
    for (; !end_; by_.wait(20ms))
      while (const auto l = by_.receive()) {
        const std::string text(reinterpret_cast<const char*>(l->content.data()), l->content.size());
        control message;
        if (decode(l->topic, text, message) != nullptr) continue;
        from_ = l->from;
        std::visit([this](const auto& m) { on(m); }, message);
      }
  }
  bool is_resting() const { return !asked.empty() && when_ != rests::never; }
  void on(const who&) {
    if (!is_resting()) sites::send(by_, from_, offer{"program", "1f", workers_, false, {}});
  }
  void on(const start& m) {
    if (asked.empty() || asked.back() != m.job) asked.push_back(m.job);
    ask = m.ask;
    if (when_ != rests::when_asked_to_start) sites::send(by_, from_, alive{m.job, 0});
  }
  void on(const beat& m) {
    if (is_resting()) return;
    sites::send(by_, from_, alive{m.job, 0});
    if (another_->was_told_) ++beats_after_;
    if (beats_after_ >= beats_to_wait || ++beats_ >= beats_at_most)
      sites::send(by_, from_, part{m.job, 0, part::of::end, 0, ""});
  }
  void on(const cancel& m) {
    cancelled.push_back(m.job);
    was_told_ = true;
    sites::send(by_, from_, refusal{m.job, "the job is cancelled"});
  }
  template <class Other>
  void on(const Other&) {}

  connection by_;
  const unsigned workers_;
  const rests when_;
  const played* const another_;
  endpoint from_;
  int beats_ = 0, beats_after_ = 0;
  std::atomic<bool> was_told_{false}, end_{false};
  std::thread thread_;
};

class submitted : public testing::TestWithParam<rests> {};
INSTANTIATE_TEST_SUITE_P(, submitted,
                         testing::Values(rests::when_asked_to_start, rests::when_it_has_started),
                         [](const auto& of) {
                           return of.param == rests::when_it_has_started ? "that_has_the_root"
                                                                         : "that_does_not_answer";
                         });

TEST_P(submitted, tells_a_server_that_it_is_given_up_until_it_knows) {
  if (!cleave::tests::relay::installed()) GTEST_SKIP() << "no nats-server (Debian: nats-server)";
  cleave::tests::relay by;
  cleave::tests::temporary_folder folder;
  const auto file = folder.path / "me.cleave";
  write_access(file, by.machine("me"));
  played first(by.machine("m1"), 9, GetParam());  // more workers: it is asked first
  played other(by.machine("m2"), 2, rests::never, &first);
  EXPECT_EQ(sites::submit({file.string(), "program", {}, "", 3s, 1, false}), 0);
  first.end(), other.end();
  ASSERT_EQ(first.asked.size(), 1u);
  ASSERT_EQ(other.asked.size(), 1u);
  EXPECT_NE(first.asked, other.asked) << "there could be two roots of one job";
  EXPECT_EQ(first.cancelled, first.asked);
  EXPECT_TRUE(other.cancelled.empty());
}

/// --root names where the job begins, not where it has to stay.
TEST(submitted_with_a_root, begins_again_on_another_machine_and_says_so) {
  if (!cleave::tests::relay::installed()) GTEST_SKIP() << "no nats-server (Debian: nats-server)";
  cleave::tests::relay by;
  cleave::tests::temporary_folder folder;
  const auto file = folder.path / "me.cleave";
  write_access(file, by.machine("me"));
  played first(by.machine("m1"), 2, rests::when_it_has_started);
  played other(by.machine("m2"), 9, rests::never, &first);  // it would be asked first
  testing::internal::CaptureStderr();
  EXPECT_EQ(sites::submit({file.string(), "program", {}, "here.m1", 3s, 1, false, "random"}), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "cleave: here.m1, which had its root, has said nothing for 3 s; looking for another "
            "server\ncleave: the job begins again on here.m2\n");
  first.end(), other.end();
  EXPECT_EQ(first.asked.size(), 1u);
  EXPECT_EQ(other.asked.size(), 1u);
  EXPECT_EQ(other.ask, "random");
}

/// A member that answers by a new name each time.
TEST(asked, somebody_who_invents_names_does_not_go_on_for_ever) {
  if (!cleave::tests::relay::installed()) GTEST_SKIP() << "no nats-server (Debian: nats-server)";
  cleave::tests::relay by;
  connection me(by.machine("me"), "client");
  std::atomic<bool> end{false};
  std::thread inventor([&] {
    for (int i = 0; !end; ++i) {
      connection one(by.machine("m1"), "serve-" + std::to_string(i));
      sites::send(one, me.self(), offer{"program", "1f", 1, false, {}});
      one.flush();
    }
  });
  sites::interruption stop;
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_GT(sites::ask_around(me, stop, 300ms, 300ms).size(), 1u);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
  end = true;
  inventor.join();
}

}  // namespace
