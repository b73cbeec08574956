#include "measurements.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <vector>

namespace bench::net {
namespace {

using buffer = std::vector<std::byte>;
using samples = std::vector<double>;

// The time since the machine's start: the same for all processes of a machine.
double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// A number that differs from start to start of a machine.
double machine() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string text;
  in >> text;
  std::uint32_t sum = 0;
  for (const char c : text) sum = sum * 31 + static_cast<unsigned char>(c);
  return sum;
}

std::byte pattern(std::size_t at, std::size_t length) {
  return static_cast<std::byte>((at * 131 + length * 7 + (at >> 8)) & 255);
}
void fill(buffer& b) {
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = pattern(i, b.size());
}
bool is_filled(const buffer& b) {
  for (std::size_t i = 0; i < b.size(); ++i)
    if (b[i] != pattern(i, b.size())) return false;
  return true;
}

void add_quartiles(row& r, samples s) {
  r.count = s.size();
  std::sort(s.begin(), s.end());
  const auto at = [&s](double part) {
    const double where = part * static_cast<double>(s.size() - 1);
    const auto low = static_cast<std::size_t>(where);
    const double rest = where - static_cast<double>(low);
    return s[low] + rest * (s[std::min(low + 1, s.size() - 1)] - s[low]);
  };
  r.low = at(0.25), r.median = at(0.5), r.high = at(0.75);
}

class session {
public:
  session(network& over, const plan& what, const std::function<void(const row&)>& tell)
      : net_(over), plan_(what), tell_(tell) {
    agree_on_time();
  }

  void barriers();
  void latency(std::size_t bytes);
  void throughput(std::size_t bytes);
  void broadcast(const std::string& algorithm, std::size_t bytes);
  void pairs(int count, std::size_t bytes);

private:
  bool is_first() const { return net_.rank() == 0; }
  void send(int to, double x) { net_.send(to, std::as_bytes(std::span(&x, 1))); }
  double receive(int from) {
    double x = 0;
    net_.receive(from, std::as_writable_bytes(std::span(&x, 1)));
    return x;
  }
  // Rank 0's number, on all ranks.
  double from_first(double x) {
    if (!is_first()) return receive(0);
    for (int to = 1; to < net_.ranks(); ++to) send(to, x);
    return x;
  }
  // How often something is repeated that took rank 0 so long.
  std::size_t repetitions(double took, double most, double seconds) {
    const double fit = std::floor(seconds / std::max(took, 1e-9));
    return static_cast<std::size_t>(from_first(std::clamp(fit, 1.0, most)));
  }
  void require(bool right, const std::string& what) const {
    if (!right) throw std::runtime_error(what + ": what came is not what was sent");
  }

  void agree_on_time();
  double ahead_of_first(int rank);
  double spread(const std::string& algorithm, buffer& b);
  double spread_flat(buffer& b);
  double spread_binomial(buffer& b);
  double spread_chain(buffer& b);
  void windows(int peer, bool sends, buffer& b, std::size_t n, std::size_t window);

  network& net_;
  const plan& plan_;
  const std::function<void(const row&)>& tell_;
  double ahead_ = 0;  // how far this rank's clock is ahead of rank 0's
};

// ---- clocks

// Processes of one machine have the same clock, in containers too. Otherwise rank 0 asks for the
// time again and again; the answer that came back first tells best.
void session::agree_on_time() {
  for (int rank = 1; rank < net_.ranks(); ++rank) {
    if (is_first()) {
      send(rank, machine());
      const double differs = receive(rank);
      if (differs != 0) send(rank, ahead_of_first(rank));
    } else if (rank == net_.rank()) {
      const double differs = receive(0) != machine() ? 1 : 0;
      send(0, differs);
      for (int i = 0; differs != 0 && i < 100; ++i) {
        (void)receive(0);
        send(0, now());
      }
      if (differs != 0) ahead_ = receive(0);
    }
  }
}

double session::ahead_of_first(int rank) {
  double least = 1e9, ahead = 0;
  for (int i = 0; i < 100; ++i) {
    const double begin = now();
    send(rank, 0);
    const double there = receive(rank), end = now();
    if (end - begin >= least) continue;
    least = end - begin;
    ahead = there - (begin + end) / 2;
  }
  return ahead;
}

// ---- barriers

void session::barriers() {
  net_.barrier();
  const double begin = now();
  for (int i = 0; i < 3; ++i) net_.barrier();
  const auto n = repetitions((now() - begin) / 3, plan_.barriers, plan_.barrier_seconds);
  samples took;
  net_.barrier();
  for (std::size_t i = 0; i < n; ++i) {
    const double before = now();
    net_.barrier();
    took.push_back(now() - before);
  }
  row r{"barrier", "", 0, 0, 0, 0, 0, 0};
  add_quartiles(r, took);
  if (is_first()) tell_(r);
}

// ---- between two

// Until a send returns, and half a round trip. An answer of one byte separates the sends.
void session::latency(std::size_t bytes) {
  if (net_.rank() > 1) return void(from_first(0)), void(from_first(0));
  const int peer = 1 - net_.rank();
  buffer b(bytes), answer(1);
  if (is_first()) fill(b);
  const auto to_peer = [&] {
    const double begin = now();
    net_.send(peer, b);
    return now() - begin;
  };
  const auto once = [&](buffer& back) {
    if (is_first()) {
      const double took = to_peer();
      net_.receive(peer, back);
      return took;
    }
    net_.receive(peer, b);
    net_.send(peer, back);
    return 0.0;
  };
  for (const bool round : {false, true}) {
    buffer& back = round ? b : answer;
    once(back);
    double begin = now();
    once(back);
    const auto n = repetitions(now() - begin, plan_.count, plan_.seconds);
    samples took;
    for (std::size_t i = 0; i < n; ++i) {
      begin = now();
      const double sent = once(back);
      took.push_back(round ? (now() - begin) / 2 : sent);
    }
    require(is_filled(b), "latency");
    row r{round ? "half" : "send", "", 0, bytes, 0, 0, 0, 0};
    add_quartiles(r, took);
    if (is_first()) tell_(r);
  }
}

// Sends `n` windows of messages, or receives them and answers each window with one byte.
void session::windows(int peer, bool sends, buffer& b, std::size_t n, std::size_t window) {
  buffer answer(1);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < window; ++k) sends ? net_.send(peer, b) : net_.receive(peer, b);
    sends ? net_.receive(peer, answer) : net_.send(peer, answer);
  }
}

std::size_t window_of(std::size_t bytes) {
  return std::clamp<std::size_t>((std::size_t{4} << 20) / bytes, 1, 64);
}

void session::throughput(std::size_t bytes) {
  const std::size_t window = window_of(bytes);
  const double most = std::max(1.0, std::ceil(plan_.count / static_cast<double>(window)));
  if (net_.rank() > 1) return void(from_first(0));
  buffer b(bytes);
  if (is_first()) fill(b);
  const int peer = 1 - net_.rank();
  windows(peer, is_first(), b, 1, window);
  double begin = now();
  windows(peer, is_first(), b, 1, window);
  const auto n = repetitions(now() - begin, most, plan_.seconds);
  begin = now();
  windows(peer, is_first(), b, n, window);
  const double each = (now() - begin) / static_cast<double>(n * window);
  require(is_filled(b), "throughput");
  if (is_first()) tell_({"stream", "", 0, bytes, n * window, each, each, each});
}

void session::pairs(int count, std::size_t bytes) {
  const int rank = net_.rank();
  const bool sends = rank < count, takes_part = rank < 2 * count;
  const int peer = sends ? rank + count : rank - count;
  const std::size_t window = std::min<std::size_t>(window_of(bytes), 8);
  buffer b(bytes);
  if (sends) fill(b);
  const auto all = [&](std::size_t n) {  // how long it takes this rank
    net_.barrier();
    const double begin = now();
    if (takes_part) windows(peer, sends, b, n, window);
    return now() - begin;
  };
  constexpr std::size_t least = 4;  // so that buffers on the way hold little of it
  const auto n = std::max(least, repetitions(all(1), plan_.count, plan_.seconds));
  double took = all(n);
  require(!takes_part || is_filled(b), "pairs");
  if (rank > 0 && sends) send(0, took);
  if (!is_first()) return;
  for (int other = 1; other < count; ++other) took = std::max(took, receive(other));
  const double each = took / static_cast<double>(n * window);
  tell_({"pairs", "", count, bytes, n * window, each, each, each});
}

// ---- broadcasts: each returns when this rank had it

double session::spread_flat(buffer& b) {
  if (is_first()) {
    for (int to = 1; to < net_.ranks(); ++to) net_.send(to, b);
    return 0;
  }
  net_.receive(0, b);
  return now();
}

// Each rank that has it sends it to one that has not, in log2(ranks) steps. Long ones are answered:
// a send returns before its message is there, and messages that are on their way at once share the
// sender's link, so that none would be there sooner.
double session::spread_binomial(buffer& b) {
  constexpr std::size_t answered = 1 << 16;
  const int rank = net_.rank();
  buffer answer(1);
  double had = 0;
  int step = 1;
  while (step <= rank) step *= 2;
  if (rank > 0) {
    net_.receive(rank - step / 2, b);
    had = now();
    if (b.size() >= answered) net_.send(rank - step / 2, answer);
  }
  for (; rank + step < net_.ranks(); step *= 2) {
    net_.send(rank + step, b);
    if (b.size() >= answered) net_.receive(rank + step, answer);
  }
  return had;
}

// From each rank to the next one, in parts: 32 of them, of 8 KiB at least.
double session::spread_chain(buffer& b) {
  const std::size_t length = std::max<std::size_t>((b.size() + 31) / 32, 8192);
  const int rank = net_.rank();
  for (std::size_t at = 0; at < b.size(); at += length) {
    const auto part = std::span(b).subspan(at, std::min(length, b.size() - at));
    if (rank > 0) net_.receive(rank - 1, part);
    if (rank + 1 < net_.ranks()) net_.post(rank + 1, part);
  }
  const double had = now();
  net_.complete();
  return had;
}

double session::spread(const std::string& algorithm, buffer& b) {
  if (algorithm == "flat") return spread_flat(b);
  if (algorithm == "binomial") return spread_binomial(b);
  if (algorithm == "chain") return spread_chain(b);
  net_.broadcast(b);
  return now();
}

// Until the last rank has it, by rank 0's clock.
void session::broadcast(const std::string& algorithm, std::size_t bytes) {
  if (algorithm == "library" && !net_.has_broadcast()) return;
  buffer b(bytes);
  if (is_first()) fill(b);
  samples begins, ends;
  const auto once = [&] {
    net_.barrier();
    begins.push_back(now());
    ends.push_back(spread(algorithm, b) - ahead_);
  };
  const auto until_all_have_it = [&] {
    once();
    net_.barrier();  // what rank 0 has sent may not be there when it has
    return now() - begins.back();
  };
  // The first one makes connections; where one takes long that does not matter.
  double took = until_all_have_it();
  if (from_first(took) < plan_.seconds) took = until_all_have_it();
  const auto n = repetitions(took, plan_.count, plan_.seconds);
  begins.clear(), ends.clear();
  for (std::size_t i = 0; i < n; ++i) once();
  require(is_filled(b), "broadcast");
  if (!is_first()) return net_.send(0, std::as_bytes(std::span(ends)));
  samples all(n, 0.0), of_other(n);
  for (int other = 1; other < net_.ranks(); ++other) {
    net_.receive(other, std::as_writable_bytes(std::span(of_other)));
    for (std::size_t i = 0; i < n; ++i) all[i] = std::max(all[i], of_other[i] - begins[i]);
  }
  row r{"broadcast", algorithm, 0, bytes, 0, 0, 0, 0};
  add_quartiles(r, all);
  tell_(r);
}

}  // namespace

void measure(network& over, const plan& what, const std::function<void(const row&)>& tell) {
  session s(over, what, tell);
  const auto length = [](int bytes) { return static_cast<std::size_t>(bytes); };
  if (what.barriers > 0) s.barriers();
  for (const int bytes : what.latency) s.latency(length(bytes));
  for (const int bytes : what.throughput) s.throughput(length(bytes));
  for (const int bytes : what.broadcast)
    for (const auto& algorithm : what.algorithms) s.broadcast(algorithm, length(bytes));
  for (const int count : what.pairs) s.pairs(count, length(what.pair_bytes));
  over.barrier();
}

}  // namespace bench::net
