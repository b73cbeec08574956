// strangers KEYFILE N SECONDS: N of each kind knock at that relay's door at once: without a key,
// with one that nobody has (both by TLS), garbage instead of TLS, half of TLS's first message,
// silent. Who is refused comes back after so long, as clients of NATS do; 0: never. They stay until
// standard input ends.
// All in one thread and without nats.c, which takes 50 ms of a CPU for each connection by TLS: what
// they cost whom they call on is to be seen. Prints how many knocked, how many were let in, and its
// own CPU time.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "machine/descriptor.hpp"
#include "nats/access.hpp"

namespace {

using cleave::machine::descriptor;
using clock_type = std::chrono::steady_clock;
using namespace std::chrono_literals;

enum class kind { without_key, wrong_key, garbage, half, silent };
constexpr std::array kinds = {kind::without_key, kind::wrong_key, kind::garbage, kind::half,
                              kind::silent};

// Of nobody, and of no use: relays look for the key first. nats.c takes 2 ms for one that is right.
constexpr const char* wrong_public = "UCNW3FRK4GB5E5UUGSOETAGXZ5LT37MNNT3PYJ6ZHC6RLQ6NAEXNSCKL";
const std::string signature(86, 'A');

struct freed {
  void operator()(SSL* s) const { SSL_free(s); }
  void operator()(SSL_CTX* c) const { SSL_CTX_free(c); }
};

struct totals {
  long knocks = 0, greeted = 0, refused = 0, let_in = 0;
};

class stranger {
public:
  stranger(kind is, const sockaddr_in& to, SSL_CTX* tls, totals& count,
           std::chrono::seconds back_after)
      : is_(is), to_(to), tls_(tls), count_(count), back_after_(back_after) {}

  void knock() {
    socket_ = descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (*socket_ < 0) throw std::runtime_error("no socket");
    at_ = state::outside, greeting_.clear();
    static_cast<void>(connect(*socket_, reinterpret_cast<const sockaddr*>(&to_), sizeof to_));
    ++count_.knocks;
  }
  clock_type::time_point back_at() const { return back_at_; }
  bool is_here() const { return *socket_ >= 0; }
  pollfd polled() const {
    const bool writes = ssl_ != nullptr && wants_write_;
    return {*socket_, static_cast<short>(writes ? POLLOUT : POLLIN), 0};
  }

  // When something has happened at the socket.
  void look() {
    char text[4096];
    for (;;) {
      if (at_ == state::in_tls && !shake_hands()) return;
      const auto got = ssl_ != nullptr ? SSL_read(ssl_.get(), text, sizeof text)
                                       : static_cast<int>(recv(*socket_, text, sizeof text, 0));
      if (got <= 0) {
        const bool later = ssl_ != nullptr ? SSL_get_error(ssl_.get(), got) == SSL_ERROR_WANT_READ
                                           : got < 0 && errno == EAGAIN;
        if (!later) go();
        return;
      }
      greeting_.append(text, static_cast<std::size_t>(got));
      if (at_ == state::outside && greeting_.find("\r\n") != greeting_.npos) greeted();
      if (at_ == state::asked && greeting_.find("PONG\r\n") != greeting_.npos) {
        ++count_.let_in;
        return go();
      }
    }
  }

private:
  enum class state { outside, in_tls, asked, waits };

  void greeted() {
    ++count_.greeted;
    at_ = state::waits;
    const std::string noise(3000, '\x5a');
    // A ClientHello of 512 bytes, of which there are some.
    const std::string half("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
    if (is_ == kind::garbage) send(*socket_, noise.data(), noise.size(), MSG_NOSIGNAL);
    if (is_ == kind::half) send(*socket_, half.data(), half.size(), MSG_NOSIGNAL);
    if (is_ != kind::without_key && is_ != kind::wrong_key) return;
    greeting_.clear();
    ssl_.reset(SSL_new(tls_));
    SSL_set_fd(ssl_.get(), *socket_);
    at_ = state::in_tls;
  }
  // True once they are shaken.
  bool shake_hands() {
    const int done = SSL_connect(ssl_.get());
    if (done != 1) {
      const int why = SSL_get_error(ssl_.get(), done);
      wants_write_ = why == SSL_ERROR_WANT_WRITE;
      if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) go();
      return false;
    }
    wants_write_ = false;
    std::string key;
    if (is_ == kind::wrong_key)
      key = fmt::format(R"(,"nkey":"{}","sig":"{}")", wrong_public, signature);
    const auto line = fmt::format(
        "CONNECT {{\"verbose\":false,\"pedantic\":false,\"lang\":\"C\",\"version\":\"3.4.1\","
        "\"protocol\":1{}}}\r\nPING\r\n",
        key);
    SSL_write(ssl_.get(), line.data(), static_cast<int>(line.size()));
    at_ = state::asked;
    return true;
  }
  void go() {
    ++count_.refused;
    ssl_.reset();
    socket_ = descriptor();
    back_at_ = clock_type::now() + back_after_;
  }

  const kind is_;
  const sockaddr_in& to_;
  SSL_CTX* const tls_;
  totals& count_;
  const std::chrono::seconds back_after_;
  descriptor socket_;
  std::unique_ptr<SSL, freed> ssl_;
  bool wants_write_ = false;
  state at_ = state::outside;
  std::string greeting_;
  clock_type::time_point back_at_{};
};

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) throw std::invalid_argument("usage: strangers KEYFILE N SECONDS");
  const auto url =
      cleave::net::nats::parse_url(cleave::net::nats::read_access(argv[1]).urls.front());
  sockaddr_in to{};
  to.sin_family = AF_INET, to.sin_port = htons(static_cast<std::uint16_t>(url.port));
  if (inet_pton(AF_INET, url.host.c_str(), &to.sin_addr) != 1)
    throw std::invalid_argument("expected an address in the URL");
  const std::unique_ptr<SSL_CTX, freed> tls(SSL_CTX_new(TLS_client_method()));
  totals count;
  std::vector<std::unique_ptr<stranger>> all;
  constexpr std::chrono::seconds never = 24h;
  const std::chrono::seconds given(std::stoi(argv[3]));
  const auto back_after = given > 0s ? given : never;
  for (int i = 0; i < std::stoi(argv[2]); ++i)
    for (const kind k : kinds)
      all.push_back(std::make_unique<stranger>(k, to, tls.get(), count, back_after));
  const double before = cpu_seconds();
  for (;;) {
    const auto now = clock_type::now();
    auto next = now + 1h;
    std::vector<pollfd> polled{{STDIN_FILENO, POLLIN, 0}};
    std::vector<stranger*> of{nullptr};
    for (auto& s : all) {
      if (!s->is_here() && s->back_at() <= now) s->knock();
      if (s->is_here()) polled.push_back(s->polled()), of.push_back(s.get());
      else next = std::min(next, s->back_at());
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now);
    poll(polled.data(), polled.size(), static_cast<int>(left.count()));
    for (std::size_t i = 1; i < polled.size(); ++i)
      if (polled[i].revents != 0) of[i]->look();
    char any[64];
    if (polled[0].revents != 0 && read(STDIN_FILENO, any, sizeof any) <= 0) break;
  }
  fmt::print("{} strangers knocked {} times, {} greeted, {} refused, {} let in, {:.2f} CPU s\n",
             all.size(), count.knocks, count.greeted, count.refused, count.let_in,
             cpu_seconds() - before);
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "strangers: {}\n", e.what());
  return 1;
}
