// What the scripts beside it start under mpirun: one thing that a transport must do, for each rank.
#include "machine/settings.hpp"
#include "sleeper.hpp"
#include "transport/launch.hpp"

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace net = cleave::net;
using cleave::machine::whole_number;
using namespace cleave::tests;
using clock = std::chrono::steady_clock;

[[noreturn]] void wrong(const std::string& what) {
  std::fprintf(stderr, "rank %d: %s\n", net::launched().rank, what.c_str());
  std::fflush(stderr);
  std::_Exit(1);  // the launcher ends the others
}

void expect(bool holds, const std::string& what) {
  if (!holds) wrong(what);
}

/// Of long messages: parts that came before the last one.
std::uint64_t signs_of_life = 0;

/// The next message; blocks.
net::incoming take(net::transport& t) {
  const auto end = clock::now() + 100s;
  for (;;) {
    if (auto m = t.receive()) {
      if (!m->message.empty()) return *std::move(m);
      ++signs_of_life;
      continue;
    }
    if (const auto gone = t.lost()) wrong("lost rank " + std::to_string(*gone));
    expect(clock::now() < end, "nothing came within 100 s");
    t.wait(1s);
  }
}

template <class T>
net::bytes packed(const T& value) {
  net::bytes m(sizeof value);
  std::memcpy(m.data(), &value, sizeof value);
  return m;
}

template <class T>
T unpacked(const net::bytes& m) {
  expect(m.size() == sizeof(T), "a message of " + std::to_string(m.size()) + " bytes, expected " +
                                    std::to_string(sizeof(T)));
  T value;
  std::memcpy(&value, m.data(), sizeof value);
  return value;
}

// ---- ring

/// A number goes round, and each rank adds one.
void ring(net::transport& t, long rounds) {
  const auto ranks = static_cast<std::uint64_t>(t.peers().size() + 1);
  const net::address next = (t.self() + 1) % ranks;
  if (t.self() == 0) t.send(next, packed<std::uint64_t>(1));
  for (long k = 0; k < rounds; ++k) {
    const net::incoming m = take(t);
    const auto n = unpacked<std::uint64_t>(m.message);
    expect(m.from == (t.self() + ranks - 1) % ranks, "from rank " + std::to_string(m.from));
    const std::uint64_t hops =
        static_cast<std::uint64_t>(k) * ranks + (t.self() == 0 ? ranks : t.self());
    expect(n == hops, "got " + std::to_string(n) + ", expected " + std::to_string(hops));
    if (t.self() != 0 || k + 1 < rounds) t.send(next, packed(n + 1));
  }
  if (t.self() == 0) std::printf("ring: %lu ranks, %ld rounds\n", ranks, rounds);
}

// ---- exchange

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Message `number` from one rank to another: its size and its contents follow from these and the
/// seed alone.
struct letter {
  std::uint64_t seed, from, to, number;

  std::uint64_t key() const { return mix(seed + mix(from + mix(to + mix(number)))); }
  /// Sizes from one to `most`, each power of two as often as another.
  std::size_t size(std::size_t most) const {
    const int bits =
        static_cast<int>(mix(key()) % (static_cast<unsigned>(std::bit_width(most)) + 1));
    const std::uint64_t some = bits == 0 ? 0 : mix(key() + 1) >> (64 - bits);
    return std::clamp<std::size_t>(some, 1, most);
  }
  net::bytes text(std::size_t most) const {
    net::bytes m(size(most));
    std::uint64_t x = key();
    for (std::size_t at = 0; at < m.size(); at += 8) {
      x = x * 6364136223846793005 + 1442695040888963407;
      std::memcpy(m.data() + at, &x, std::min<std::size_t>(8, m.size() - at));
    }
    return m;
  }
};

/// Everybody sends to everybody at once, and receives only when it has sent everything: long
/// messages wait for their receivers in all directions.
void exchange(net::transport& t, std::uint64_t seed, std::uint64_t letters, std::size_t most) {
  const auto peers = t.peers();
  std::size_t bytes = 0;
  for (std::uint64_t n = 0; n < letters; ++n)
    for (const net::address to : peers) t.send(to, letter{seed, t.self(), to, n}.text(most));
  std::map<net::address, std::uint64_t> next;
  for (std::uint64_t left = letters * peers.size(); left > 0; --left) {
    const net::incoming m = take(t);
    const std::uint64_t number = next[m.from]++;
    bytes += m.message.size();
    expect(m.message == letter{seed, m.from, t.self(), number}.text(most),
           "message " + std::to_string(number) + " from rank " + std::to_string(m.from) +
               " is not what was sent");
  }
  const net::traffic c = t.counted();
  const char* const part = std::getenv("CLEAVE_MPI_PART");
  const bool all_in_parts = part != nullptr && std::atoi(part) < 100;
  expect(!all_in_parts || signs_of_life > 0, "no sign of life of who sends a long message");
  expect(c.received == letters * peers.size() && c.sent == c.received && c.received_bytes == bytes,
         "the transport counted otherwise");
  if (t.self() == 0) {
    std::printf(
        "exchange: seed %lu, %lu messages of %zu MiB in all to rank 0; %lu sleeps, %lu naps\n",
        seed, c.received, bytes >> 20, c.sleeps, c.naps);
  }
}

// ---- idle

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Ranks that wait for nothing, as a driver does, once a heartbeat; what share of a CPU each takes.
void idle(net::transport& t, long seconds) {
  const auto end = clock::now() + std::chrono::seconds(seconds);
  const double before = cpu_seconds();
  while (clock::now() < end) {
    t.wait(100ms);
    while (t.receive()) {}
  }
  const double percent = 100 * (cpu_seconds() - before) / static_cast<double>(seconds);
  const net::traffic c = t.counted();
  std::printf("idle: rank %lu takes %.3f %% of a CPU, %lu sleeps\n", t.self(), percent, c.sleeps);
  expect(percent < 1, "an idle rank takes " + std::to_string(percent) + " % of a CPU");
}

// ---- wake

/// From the beginning of a send to its receipt by a rank that sleeps, beside a wake-up by a futex
/// and one by a datagram over the loopback, in turn. In microseconds.
void wake(net::transport& t, std::vector<std::unique_ptr<sleeper>>& alone, long rounds) {
  if (t.self() == 1) {
    for (long k = 0; k < rounds; ++k) {
      const auto since = unpacked<std::int64_t>(take(t).message);
      t.send(0, packed(1e-3 * static_cast<double>(now_ns() - since)));
    }
  }
  if (t.self() != 0) return;
  std::vector<double> message, futex, datagram;
  for (long k = 0; k < rounds; ++k) {
    std::this_thread::sleep_for(3ms);
    t.send(1, packed(now_ns()));
    message.push_back(unpacked<double>(take(t).message));
    futex.push_back(alone[0]->wake_us());
    datagram.push_back(alone[1]->wake_us());
  }
  std::printf(
      "wake: message %.1f us, futex alone %.1f us, datagram alone %.1f us; ratio to the futex "
      "%.2f, "
      "to the datagram %.2f\n",
      median(message), median(futex), median(datagram), median(message) / median(futex),
      median(message) / median(datagram));
}

// ---- loss

/// Ranks that talk to each other until one of them is killed from outside; the others go on without
/// it.
void survive(net::transport& t) {
  std::printf("ready %lu %d\n", t.self(), getpid());
  std::fflush(stdout);
  const auto end = clock::now() + 60s;
  std::uint64_t received = 0;
  bool lost = false;
  auto after = clock::now();
  while (clock::now() < end && !(lost && clock::now() > after + 1s)) {
    for (const net::address to : t.peers())
      t.send(to, net::bytes(received % 16 == 0 ? 1 << 20 : 16));
    t.wait(5ms);
    while (t.receive()) ++received;
    if (const auto gone = t.lost()) {
      lost = true;
      after = clock::now();
      std::printf("rank %lu: rank %lu is gone\n", t.self(), *gone);
      std::fflush(stdout);
      expect(!t.lost(), "a rank is lost twice");
      const auto peers = t.peers();
      expect(std::find(peers.begin(), peers.end(), *gone) == peers.end(), "a lost rank is a peer");
      received = 0;
    }
  }
  expect(lost, "nobody was lost within 60 s");
  expect(received > 0 || t.peers().empty(), "nothing came after the loss");
  std::printf("rank %lu: went on\n", t.self());
}

/// Waits to be ended from outside.
void hang(net::transport& t) {
  std::printf("ready %lu %d\n", t.self(), getpid());
  std::fflush(stdout);
  for (const auto end = clock::now() + 60s; clock::now() < end;) t.wait(1s);
  wrong("nobody ended this job");
}

int run(int argc, char** argv) {
  const std::string transport = net::take_transport(argc, argv);
  const std::string_view what = argc > 1 ? argv[1] : "";
  auto number = [&](int i, long otherwise, long most) {
    return i < argc ? whole_number("argument", argv[i], 0, most) : otherwise;
  };
  std::vector<std::unique_ptr<sleeper>> alone;
  if (what == "wake" && net::is_first_rank())  // before MPI begins: it does not like a fork
    for (const bool on_socket : {false, true})
      alone.push_back(std::make_unique<sleeper>(on_socket));

  const auto t = net::open_transport({transport, 1});
  if (t == nullptr) {
    std::printf("alone\n");
    return 0;
  }
  if (what == "ring") ring(*t, number(2, 1000, 1 << 30));
  else if (what == "exchange")
    exchange(*t, static_cast<std::uint64_t>(number(2, 1, 1L << 60)),
             static_cast<std::uint64_t>(number(3, 20, 1 << 20)),
             static_cast<std::size_t>(number(4, 64 << 20, 1L << 40)));
  else if (what == "idle") idle(*t, number(2, 3, 1000));
  else if (what == "wake") wake(*t, alone, number(2, 200, 1 << 20));
  else if (what == "survive") survive(*t);
  else if (what == "hang") hang(*t);
  else
    throw std::invalid_argument("expected ring, exchange, idle, wake, survive or hang, got '" +
                                std::string(what) + "'");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) { net::end_all_ranks(e.what()); }
}
