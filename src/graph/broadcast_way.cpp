#include "graph/broadcast_way.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>

namespace cleave::detail {
namespace {

using shape = broadcast_setting::way;
constexpr std::string_view names[] = {"auto", "flat", "binomial", "chain", "binary"};
constexpr std::size_t least_part = std::size_t{8} << 10, largest_part = std::size_t{1} << 20;
/// Where more members than CPUs are on one host, a member that is to pass something on of_alone so
/// long for its turn, in microseconds, for each member that a CPU has.
constexpr double turn = 35;
/// The longer a message is, the more of it leaves the caches before it is passed on: each byte of
/// one of a megabyte costs so much more.
constexpr double megabyte = 1 << 20, from_memory = 0.25;
/// How much of the time that it would take if each member had a CPU is added where they share them:
/// who has most to do does not always have one.
constexpr double of_alone = 0.1;

/// What broadcasts take in a network, in microseconds.
class cost {
public:
  cost(const broadcast_setting& how, std::size_t bytes, unsigned members, unsigned cpus) noexcept
      : how_(how),
        bytes_(static_cast<double>(bytes)),
        others_(members - 1),
        levels_(std::bit_width(members - 1)),
        cpus_(members > cpus ? cpus : 0) {}

  /// The first member sends to one after the other.
  double flat() const { return on_cpus(1, bytes_, (others_ - 1) * port(bytes_) + hop(bytes_)); }
  double binomial() const { return on_cpus(levels_, bytes_, levels_ * hop(bytes_)); }
  /// The last member gets the first part after all hops; then parts follow each other.
  double chain(double part) const {
    return on_cpus(others_, part, others_ * hop(part) + followers(part) * relayed(part));
  }
  double binary(double part) const {
    return on_cpus(
        levels_, part,
        levels_ * (hop(part) + port(part)) + followers(part) * (relayed(part) + port(part)));
  }

private:
  /// What takes that long if each member has a CPU takes longer if members share them: what all
  /// members do, one after the other, and the turns that are waited for.
  double on_cpus(double hops, double part, double alone) const {
    if (cpus_ == 0) return alone;
    const double bytes = bytes_ * (1 + from_memory * std::min(part / megabyte, 1.0));
    const double messages = followers(part) + 1,
                 work = others_ * 2 * (messages * how_.overhead + bytes * how_.per_byte);
    return std::max(alone, work / cpus_ + hops * turn * (others_ + 1) / cpus_) + of_alone * alone;
  }
  /// How long a message of k bytes keeps its sender.
  double port(double k) const { return how_.overhead + k * how_.per_byte; }
  /// How long a member is kept by a message that it receives and sends on.
  double relayed(double k) const { return how_.overhead + port(k); }
  /// Nobody passes on a byte of a message before all of it is there.
  double hop(double k) const { return relayed(k) + k * how_.per_byte + how_.latency; }
  double followers(double part) const { return std::max(bytes_ / part - 1, 0.0); }

  const broadcast_setting& how_;
  double bytes_, others_, levels_;
  double cpus_;  // that members share; 0: each has its own
};

[[noreturn]] void refuse(const char* setting, std::string_view text) {
  throw std::invalid_argument(
      std::string(setting) +
      ": expected auto[,L,o,G] (microseconds; G of a byte), flat, binomial, "
      "chain or binary, got '" +
      std::string(text) + "'");
}

}  // namespace

broadcast_setting read_broadcast_setting(const char* setting, std::string_view text) {
  broadcast_setting s;
  const std::size_t comma = text.find(',');
  const auto* const named = std::find(std::begin(names), std::end(names), text.substr(0, comma));
  const bool has_numbers = comma != std::string_view::npos;
  if (named == std::end(names) || (has_numbers && named != names)) refuse(setting, text);
  s.is = static_cast<shape>(named - std::begin(names));
  if (!has_numbers) return s;
  std::string_view rest = text.substr(comma);
  for (double* const to : {&s.latency, &s.overhead, &s.per_byte}) {
    if (rest.empty() || rest.front() != ',') refuse(setting, text);
    const auto read = std::from_chars(rest.data() + 1, rest.data() + rest.size(), *to);
    if (read.ec != std::errc() || !(*to >= 0) || *to > 1e9) refuse(setting, text);
    rest.remove_prefix(static_cast<std::size_t>(read.ptr - rest.data()));
  }
  if (!rest.empty()) refuse(setting, text);
  return s;
}

broadcast_setting& broadcast_setting_in_use() {
  static broadcast_setting read = [] {
    constexpr const char* setting = "CLEAVE_BROADCAST";
    const char* const text = std::getenv(setting);
    return text == nullptr || *text == '\0' ? broadcast_setting{}
                                            : read_broadcast_setting(setting, text);
  }();
  return read;
}

broadcast_way way_of_broadcast(std::size_t bytes, unsigned members, const broadcast_setting& how,
                               unsigned cpus) {
  const cost costs(how, bytes, members, cpus);
  broadcast_way best{how.is, bytes};
  double least = std::numeric_limits<double>::infinity();
  const auto take = [&](shape is, std::size_t part, double microseconds) {
    if (microseconds >= least || (how.is != shape::cheapest && how.is != is)) return;
    least = microseconds;
    best = {is, part};
  };
  take(shape::binomial, bytes, costs.binomial());
  take(shape::flat, bytes, costs.flat());
  for (std::size_t part = least_part; part <= largest_part; part *= 2) {
    take(shape::chain, part, costs.chain(static_cast<double>(part)));
    take(shape::binary, part, costs.binary(static_cast<double>(part)));
  }
  return best;
}

std::vector<unsigned> broadcast_way::children(unsigned self, unsigned members) const {
  std::vector<unsigned> all;
  const auto add = [&](unsigned child) {
    if (child < members) all.push_back(child);
  };
  if (is == shape::flat) {
    for (unsigned child = 1; self == 0 && child < members; ++child) add(child);
  } else if (is == shape::chain) {
    add(self + 1);
  } else if (is == shape::binary) {
    add(2 * self + 1), add(2 * self + 2);
  } else {
    const int levels =
        self == 0 ? static_cast<int>(std::bit_width(members - 1)) : std::countr_zero(self);
    for (int k = levels; k-- > 0;) add(self + (1U << k));
  }
  return all;
}

std::vector<unsigned> order_of_broadcast(unsigned root, const std::vector<std::uint64_t>& sites) {
  const auto members = static_cast<unsigned>(sites.size());
  std::vector<unsigned> order;
  const auto add_all_of = [&](std::uint64_t site) {
    for (unsigned i = 0; i < members; ++i)
      if (sites[(root + i) % members] == site) order.push_back((root + i) % members);
  };
  std::set<std::uint64_t> done;
  for (unsigned i = 0; i < members; ++i) {
    const std::uint64_t site = sites[(root + i) % members];
    if (done.insert(site).second) add_all_of(site);
  }
  return order;
}

}  // namespace cleave::detail
