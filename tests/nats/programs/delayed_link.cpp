// delayed_link TAP TAP MBIT: a cable between two TAP devices, which it makes. Frames wait their
// turn at that rate, and then as long as the last line on standard input says, in microseconds (0
// to begin with). Ends with standard input. Prints "ready" when the devices are there.
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <string>
#include <system_error>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr std::size_t longest_frame = 1 << 16;
constexpr std::size_t most_waiting = 4 << 20;  // bytes in each direction; more are dropped
constexpr std::size_t framing = 24;            // bytes that Ethernet adds to a frame

struct frame {
  clock_type::time_point due;
  std::vector<char> bytes;
};

int make_tap(const char* name) {
  const int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ifreq wanted{};
  wanted.ifr_flags = IFF_TAP | IFF_NO_PI;
  std::strncpy(wanted.ifr_name, name, IFNAMSIZ - 1);
  if (device < 0 || ioctl(device, TUNSETIFF, &wanted) < 0)
    throw std::system_error(errno, std::generic_category(), name);
  return device;
}

// One direction.
class lane {
public:
  lane(int from, int to, double mbit) : from_(from), to_(to), ns_per_byte_(8e3 / mbit) {}

  int from() const { return from_; }
  void take(nanoseconds delay) {
    std::array<char, longest_frame> frame_read{};
    for (ssize_t n; (n = read(from_, frame_read.data(), frame_read.size())) > 0;) {
      const auto size = static_cast<std::size_t>(n);
      if (waiting_ + size > most_waiting) continue;
      const auto now = clock_type::now();
      const auto takes = static_cast<long>(static_cast<double>(size + framing) * ns_per_byte_);
      free_at_ = std::max(now, free_at_) + nanoseconds(takes);
      frames_.push_back({free_at_ + delay, {frame_read.data(), frame_read.data() + size}});
      waiting_ += size;
    }
  }
  void pass_on() {
    while (!frames_.empty() && frames_.front().due <= clock_type::now()) {
      const auto& bytes = frames_.front().bytes;
      static_cast<void>(!write(to_, bytes.data(), bytes.size()));  // a device that is down drops it
      waiting_ -= bytes.size();
      frames_.pop_front();
    }
  }
  clock_type::time_point next() const {
    return frames_.empty() ? clock_type::time_point::max() : frames_.front().due;
  }

private:
  int from_, to_;
  double ns_per_byte_;
  std::deque<frame> frames_;
  std::size_t waiting_ = 0;
  clock_type::time_point free_at_{};
};

// The last whole line there is, in microseconds; false at the end.
bool read_delay(std::string& line, nanoseconds& delay) {
  std::array<char, 256> text{};
  const ssize_t n = read(STDIN_FILENO, text.data(), text.size());
  if (n <= 0) return false;
  line.append(text.data(), static_cast<std::size_t>(n));
  for (std::size_t end; (end = line.find('\n')) != std::string::npos; line.erase(0, end + 1))
    delay = std::chrono::microseconds(std::atol(line.c_str()));
  return true;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) {
    std::fputs("usage: delayed_link TAP TAP MBIT\n", stderr);
    return 2;
  }
  prctl(PR_SET_TIMERSLACK, 1);
  const int a = make_tap(argv[1]), b = make_tap(argv[2]);
  const double mbit = std::atof(argv[3]);
  std::array<lane, 2> lanes = {lane(a, b, mbit), lane(b, a, mbit)};
  std::puts("ready");
  std::fflush(stdout);

  nanoseconds delay{0};
  std::string line;
  for (;;) {
    const auto next = std::min(lanes[0].next(), lanes[1].next());
    timespec timeout{};
    if (next != clock_type::time_point::max()) {
      const auto left = std::max(nanoseconds(0), nanoseconds(next - clock_type::now()));
      timeout = {left.count() / 1'000'000'000, left.count() % 1'000'000'000};
    }
    std::array<pollfd, 3> polled = {{{a, POLLIN, 0}, {b, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
    ppoll(polled.data(), polled.size(), next == clock_type::time_point::max() ? nullptr : &timeout,
          nullptr);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (polled[i].revents != 0) lanes[i].take(delay);
      lanes[i].pass_on();
    }
    if (polled[2].revents != 0 && !read_delay(line, delay)) return 0;
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "delayed_link: %s\n", e.what());
  return 1;
}
