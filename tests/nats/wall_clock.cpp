// labels: once
// The wall clock is set while this process waits for a relay. The functions by which nats.c and
// OpenSSL ask for it are replaced here, for this program alone; all else goes by the steady clock.
#include "nats/connection.hpp"
#include "nats/impostor.hpp"
#include "nats/relay.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <fstream>
#include <functional>
#include <future>
#include <sstream>
#include <string>

namespace {
std::atomic<std::int64_t> shift{0};  // of the wall clock, in seconds
constexpr std::int64_t days = 24 * 60 * 60;
}  // namespace

#define CLEAVE_TEST_RAW __attribute__((no_sanitize("thread", "address")))  // called by sanitizers

extern "C" CLEAVE_TEST_RAW int clock_gettime(clockid_t which, timespec* to) noexcept {
  const auto done = static_cast<int>(syscall(SYS_clock_gettime, which, to));
  if (done == 0 && which == CLOCK_REALTIME)
    to->tv_sec += __atomic_load_n(reinterpret_cast<std::int64_t*>(&shift), __ATOMIC_RELAXED);
  return done;
}

extern "C" CLEAVE_TEST_RAW std::time_t time(std::time_t* to) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != nullptr) *to = now.tv_sec;
  return now.tv_sec;
}

/// As the kernel does it: the end of a wait by the wall clock moves with that clock.
extern "C" int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                      const timespec* until) {
  static const auto real =
      reinterpret_cast<decltype(&pthread_cond_timedwait)>(dlsym(RTLD_NEXT, __func__));
  constexpr std::int64_t second = 1'000'000'000, slice = 20'000'000;
  for (;;) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    const std::int64_t seconds = until->tv_sec - now.tv_sec;
    const std::int64_t left =
        std::clamp<std::int64_t>(seconds, -2, 2) * second + until->tv_nsec - now.tv_nsec;
    if (left <= 0) return ETIMEDOUT;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    now.tv_nsec += std::min(left, slice);
    now.tv_sec += now.tv_nsec / second, now.tv_nsec %= second;
    if (const int how = real(condition, mutex, &now); how != ETIMEDOUT) return how;
  }
}

namespace {

using namespace cleave;
using namespace std::chrono_literals;
using net::nats::connection;

/// A machine may be busy.
constexpr auto long_enough = 30s;

class wall_clock : public testing::Test {
protected:
  ~wall_clock() override { shift = 0; }
};

/// A relay that answers the ping by which a connection is made, and at the next one sets the wall
/// clock; and answers that too, or does not.
struct clock_setter {
  clock_setter(std::int64_t seconds, bool answers)
      : relay([=](tests::impostor::caller& who, int) {
          who.say(tests::impostor::greeting(""));
          int pings = 0;
          for (std::string line; !(line = who.line()).empty();) {
            if (line != "PING") continue;
            if (++pings == 2) {
              std::this_thread::sleep_for(50ms);  // until whoever has sent it waits
              shift = seconds;
              std::this_thread::sleep_for(50ms);
            }
            if (pings == 1 || answers) who.say("PONG\r\n");
          }
        }) {}
  net::nats::access machine() const {
    return {"here", "m1", {"nats://127.0.0.1:" + std::to_string(relay.port())}, {}, {}, {}};
  }
  tests::impostor relay;
};

/// How a connection is made by one try: "up", or what is thrown; "for ever" if that takes too long.
std::string connects(const clock_setter& relay, std::chrono::milliseconds answer_within) {
  connection::settings once;
  once.tries = 1, once.answer_within = answer_within;
  auto made = std::async(std::launch::async, [&]() -> std::string {
    try {
      return connection(relay.machine(), "one", once).is_up() ? "up" : "down";
    } catch (const net::nats::unreachable&) { return "unreachable"; }
  });
  const bool in_time = made.wait_for(long_enough) == std::future_status::ready;
  shift = 0;
  return in_time ? made.get() : "for ever";
}

TEST_F(wall_clock, set_back_by_days_lengthens_no_wait_for_a_relay_that_is_silent) {
  EXPECT_EQ(connects(clock_setter(-3 * days, false), 300ms), "unreachable");
}

TEST_F(wall_clock, set_forward_by_days_ends_no_wait_for_a_relay_that_answers) {
  EXPECT_EQ(connects(clock_setter(3 * days, true), long_enough), "up");
}

TEST_F(wall_clock, set_back_by_days_does_not_keep_a_silent_relay_from_being_missed) {
  if (!tests::relay::installed()) GTEST_SKIP() << "no nats-server (Debian: nats-server)";
  tests::relay by;
  connection::settings quick;
  quick.ping_every = 20ms;
  connection a(by.machine("m1"), "one", quick);
  shift = -3 * days;
  by.stop(SIGSTOP);
  const auto end = std::chrono::steady_clock::now() + long_enough;
  while (a.is_up() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(5ms);
  EXPECT_FALSE(a.is_up());
  shift = 0;
  by.stop(SIGCONT);
}

/// The authority is the key file's own: a wrong clock is no reason to distrust it.
TEST_F(wall_clock, set_back_by_days_makes_no_certificate_invalid) {
  if (!tests::relay::installed()) GTEST_SKIP() << "no nats-server (Debian: nats-server)";
  const tests::temporary_folder folder;
  const std::string at = (folder.path / "relay").string();
  const std::string command =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout " +
      at + ".key -out " + at + " -subj /CN=relay -addext subjectAltName=IP:127.0.0.1 2>/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(cert-env33-c)
  const std::string key = "UARWHZGYFCOL6CVSZUCRUTNCB42CFFZUURGFSLWLSS3LDLZZJYVJYJOC";  // of nobody
  tests::relay by("tls: { cert_file: \"" + at + "\", key_file: \"" + at + ".key\" }\n" +
                  "authorization: { users: [ { nkey: " + key + " } ] }");
  std::ostringstream text;
  text << std::ifstream(at).rdbuf();
  net::nats::access a = by.machine("m1");
  a.urls = {"tls://127.0.0.1:" + std::to_string(by.port())};
  a.authority = text.str(), a.public_key = key;
  a.seed = "SUAAMLM7AVV4BSNQT7JUEJ2BC7ARUDN3WZEMKNN3UAJVNV2RZUCOEJTWXE";
  connection::settings once;
  once.tries = 1;
  for (const std::int64_t seconds : {0 * days, -3 * days, 3 * days}) {
    shift = seconds;
    EXPECT_TRUE(connection(a, "one", once).is_up()) << seconds;
  }
}

}  // namespace
