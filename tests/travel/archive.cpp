// Values become bytes that do not depend on the machine, and values again; other bytes are refused.
#include <cleave/detail/travel/archive.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cereal/types/complex.hpp>
#include <complex>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace {

using cleave::detail::byte_reader;
using cleave::detail::byte_writer;
using cleave::detail::can_travel;
using cleave::detail::malformed;

using bytes = std::vector<std::byte>;

template <class T>
bytes put(const T& value) {
  bytes out;
  byte_writer w(out);
  put_value(w, value);
  return out;
}
template <class T>
T get(const bytes& in) {
  T value{};
  byte_reader r(in);
  get_value(r, value);
  r.expect_end();
  return value;
}
template <class T>
void expect_same(const T& value) {
  EXPECT_EQ(get<T>(put(value)), value);
}
bytes literal(std::initializer_list<int> values) {
  bytes out;
  for (int v : values) out.push_back(static_cast<std::byte>(v));
  return out;
}

enum class colour : std::uint8_t { red, green = 200 };

struct point {
  int x = 0;
  double y = 0;
  friend bool operator==(const point&, const point&) = default;
};
struct place {
  double x = 0, y = 0, z = 0;
  friend bool operator==(const place&, const place&) = default;
};
struct aggregate {
  char text[3];
  int grid[2][3];
  point corner;
  std::array<std::uint16_t, 4> counts;
  colour hue;
  bool on;
  std::vector<point> more;
  std::optional<std::string> name;
  friend bool operator==(const aggregate&, const aggregate&) = default;
};
class named {
public:
  named() = default;
  explicit named(int v) : value_(v) {}
  auto fields() { return std::tie(value_, rest_); }
  friend bool operator==(const named&, const named&) = default;

private:
  int value_ = 0;
  std::map<std::string, std::vector<int>> rest_ = {{"a", {1, 2}}, {"b", {}}};
};
struct with_serialize {
  int a = 0, not_sent = 0;
  template <class Archive>
  void serialize(Archive& ar) {
    ar(a);
  }
};
struct tree_node {
  int label = 0;
  std::vector<tree_node> children;
  friend bool operator==(const tree_node&, const tree_node&) = default;
};

const aggregate sample{{'a', 'b', 'c'},  {{1, 2, 3}, {4, 5, -6}},
                       {7, 8.5},         {9, 10, 11, 65535},
                       colour::green,    true,
                       {{1, 1}, {2, 2}}, "name"};

TEST(archive, numbers_are_little_endian) {
  EXPECT_EQ(put(std::uint32_t{0x01020304}), literal({4, 3, 2, 1}));
  EXPECT_EQ(put(std::int16_t{-2}), literal({0xfe, 0xff}));
  EXPECT_EQ(put(1.0), literal({0, 0, 0, 0, 0, 0, 0xf0, 0x3f}));
  EXPECT_EQ(put(colour::green), literal({200}));
  EXPECT_EQ(put(std::vector<std::uint16_t>{1, 0x203}),
            literal({2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 3, 2}));
  EXPECT_EQ(put(point{1, 1.0}), literal({1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}));
}

TEST(archive, what_comes_back_is_what_went) {
  expect_same(true);
  expect_same('x');
  expect_same(std::numeric_limits<long>::min());
  expect_same(1e-30f);
  expect_same(sample);
  expect_same(named(5));
  expect_same(tree_node{1, {{2, {{3, {}}}}, {4, {}}}});
  expect_same(std::string("with a \0 inside", 15));
  expect_same(std::vector<bool>{true, false, true});
  expect_same(std::vector<std::string>{"a", "", "ccc"});
  expect_same(std::vector<colour>{colour::red, colour::green});
  expect_same(std::vector<place>{{1, 2, 3}, {4, 5, 6}});
  expect_same(std::vector<std::vector<place>>{{}, {{1, 2, 3}}});
  expect_same(std::deque<point>{{1, 2}, {3, 4}});
  expect_same(std::list<int>{1, 2, 3});
  expect_same(std::set<int>{3, 1, 2});
  expect_same(std::unordered_map<std::string, int>{{"a", 1}, {"b", 2}});
  expect_same(std::pair<const int, std::string>(1, "one").second);
  expect_same(std::tuple<int, std::string, double>(1, "x", 2.5));
  expect_same(std::variant<int, std::string, std::monostate>("text"));
  expect_same(std::optional<std::optional<int>>(std::optional<int>()));
  expect_same(std::complex<double>(1, -1));
  expect_same(std::array<std::array<int, 2>, 3>{{{1, 2}, {3, 4}, {5, 6}}});
  EXPECT_EQ(get<with_serialize>(put(with_serialize{3, 4})).a, 3);
  EXPECT_EQ(get<with_serialize>(put(with_serialize{3, 4})).not_sent, 0);
}

TEST(archive, long_arrays_come_in_pieces) {
  std::vector<std::uint64_t> long_one(100'003);
  for (std::size_t i = 0; i < long_one.size(); i++) long_one[i] = i * i;
  expect_same(long_one);
  EXPECT_EQ(put(long_one).size(), 8 + 8 * long_one.size());
}

struct alignas(32) square {
  double at[2][2] = {};
  auto fields() { return std::tie(at); }
  bool operator==(const square&) const = default;
};
struct labelled {
  std::int32_t label = 0, at[3] = {};
  bool operator==(const labelled&) const = default;
};
struct half {
  double sent[2] = {}, kept[2] = {};
  auto fields() { return std::tie(sent); }
};
struct flags {
  bool at[4] = {};
  auto fields() { return std::tie(at); }
};

TEST(archive, arrays_in_structs_are_arrays) {
  const std::vector<square> squares{{{{1, 2}, {3, 4}}}, {{{5, 6}, {7, 8}}}};
  expect_same(squares);
  EXPECT_EQ(put(squares).size(), 8 + 8 * sizeof(double));
  expect_same(std::vector<labelled>{{1, {2, 3, 4}}, {5, {6, 7, 8}}});
  const auto halves = get<std::vector<half>>(put(std::vector<half>{{{1, 2}, {3, 4}}}));
  EXPECT_EQ(halves[0].sent[1], 2);
  EXPECT_EQ(halves[0].kept[1], 0);
  EXPECT_THROW(get<std::vector<flags>>(bytes{
                   std::byte{1}, {}, {}, {}, {}, {}, {}, {}, std::byte{1}, {}, {}, std::byte{2}}),
               malformed);
  bytes most = put(std::uint64_t{1} << 60);
  EXPECT_THROW(get<std::vector<square>>(most), malformed);
}

struct pointed {
  int* to;
};
struct closed {
  closed() = default;
  int hidden() const { return hidden_; }

private:
  int hidden_ = 0;
};

static_assert(cleave::detail::row_of_numbers<place> && !cleave::detail::row_of_numbers<point>);
static_assert(cleave::detail::row_of_numbers<square> && cleave::detail::row_of_numbers<labelled>);
static_assert(!cleave::detail::row_of_numbers<half> && !cleave::detail::row_of_numbers<flags>);
static_assert(can_travel<std::vector<place>>() && can_travel<aggregate>() &&
              can_travel<tree_node>() && can_travel<with_serialize>());
static_assert(can_travel<std::map<std::string, std::vector<std::optional<point>>>>());
static_assert(!can_travel<int*>() && !can_travel<pointed>() && !can_travel<std::vector<int*>>());
static_assert(!can_travel<std::map<int, pointed>>() && !can_travel<std::tuple<int, int*>>());
static_assert(!can_travel<std::variant<int, pointed>>() && !can_travel<std::optional<int*>>());
static_assert(!can_travel<closed>() && !can_travel<long double>() && !can_travel<int&>());
static_assert(!can_travel<std::unique_ptr<int>>() && !can_travel<std::string_view>());

TEST(archive, refuses_what_is_cut_short_or_too_long) {
  const bytes whole = put(sample);
  for (std::size_t n = 0; n < whole.size(); n++)
    EXPECT_THROW(get<aggregate>(bytes(whole.begin(), whole.begin() + static_cast<long>(n))),
                 malformed)
        << n;
  bytes longer = whole;
  longer.push_back({});
  EXPECT_THROW(get<aggregate>(longer), malformed);
}

TEST(archive, believes_no_length) {
  const bytes most = put(std::numeric_limits<std::uint64_t>::max());
  EXPECT_THROW(get<std::vector<int>>(most), malformed);
  EXPECT_THROW(get<std::string>(most), malformed);
  EXPECT_THROW(get<std::vector<bool>>(most), malformed);
  EXPECT_THROW(get<std::vector<std::string>>(most), malformed);
  EXPECT_THROW((get<std::unordered_map<int, int>>(most)), malformed);
  // One that could be, if elements were a byte: 8 MB of bytes must not become 8 million large
  // objects.
  using large = std::array<std::uint64_t, 1024>;
  bytes some = put(std::uint64_t{8'000'000});
  some.resize(some.size() + 8'000'000);
  EXPECT_THROW(get<std::vector<large>>(some), malformed);
  EXPECT_THROW(get<std::deque<large>>(some), malformed);
  EXPECT_THROW(get<std::list<large>>(some), malformed);
  EXPECT_THROW(get<std::vector<std::uint64_t>>(some), malformed);
  EXPECT_THROW(get<std::vector<place>>(some), malformed);
}

TEST(archive, many_structs_of_numbers_are_as_each_by_itself) {
  const std::vector<place> two{{1, 2, 3}, {4, 5, 6}};
  bytes expected = put(std::uint64_t{2});
  for (const place& each : two) {
    const bytes one = put(each);
    expected.insert(expected.end(), one.begin(), one.end());
  }
  EXPECT_EQ(put(two), expected);
}

TEST(archive, refuses_what_is_no_value) {
  EXPECT_THROW(get<bool>(literal({2})), malformed);
  EXPECT_THROW((get<std::array<bool, 2>>(literal({1, 2}))), malformed);
  EXPECT_THROW(get<std::vector<bool>>(literal({1, 0, 0, 0, 0, 0, 0, 0, 3})), malformed);
  EXPECT_THROW((get<std::variant<int, bool>>(literal({2, 0, 0, 0, 0, 0, 0, 0}))), malformed);
}

TEST(archive, a_deep_tree_travels) {
  tree_node tree{0, {}};
  for (int i = 1; i < 1'000; i++) {
    tree_node above{i, {}};
    above.children.push_back(std::move(tree));
    tree = std::move(above);
  }
  expect_same(tree);
}

TEST(archive, objects_within_objects_do_not_take_the_stack) {
  bytes deep;
  byte_writer w(deep);
  for (int i = 0; i < 1'000'000; i++) {
    w.put(0);
    w.put_length(1);
  }
  EXPECT_THROW(get<tree_node>(deep), malformed);
}

TEST(archive, what_is_too_deep_to_be_read_is_not_written) {
  tree_node tree{0, {}};
  for (int i = 1; i < 3'000; i++) {
    tree_node above{i, {}};
    above.children.push_back(std::move(tree));
    tree = std::move(above);
  }
  bytes out;
  byte_writer w(out);
  EXPECT_THROW(cleave::detail::put_value(w, tree), std::length_error);
}

// Cereal takes a type for its base. What it adds must not be lost.
struct path : std::vector<int> {
  int cost = 0;
  auto fields() { return std::tie(static_cast<std::vector<int>&>(*this), cost); }
};
struct silent_path : std::vector<int> {
  int cost = 0;
};
struct silent_name : std::string {
  int length = 0;
};
struct holds_silent {
  silent_path way;
};
struct rather_two : std::pair<int, int> {
  int third = 0;
};
static_assert(can_travel<path>() && can_travel<std::vector<path>>());
static_assert(!can_travel<silent_path>() && !can_travel<std::vector<silent_path>>());
static_assert(!can_travel<silent_name>() && !can_travel<holds_silent>());
static_assert(!can_travel<rather_two>());

TEST(archive, what_a_container_is_extended_by_travels) {
  path there;
  there.push_back(3), there.push_back(4), there.cost = 7;
  bytes out;
  byte_writer w(out);
  cleave::detail::put_value(w, std::vector<path>{there, there});
  byte_reader r(out);
  std::vector<path> here;
  cleave::detail::get_value(r, here);
  r.expect_end();
  ASSERT_EQ(here.size(), 2u);
  for (const path& p : here) {
    EXPECT_EQ(p, there);
    EXPECT_EQ(p.cost, 7);
  }
}

// Whatever bytes come: a value, or malformed.
TEST(archive, any_bytes) {
  std::mt19937 random(1);
  const bytes whole = put(sample);
  int values = 0;
  for (int i = 0; i < 20'000; i++) {
    bytes changed = whole;
    for (int k = 0; k < 1 + i % 4; k++)
      changed[random() % changed.size()] = static_cast<std::byte>(random());
    if (i % 3 == 0) changed.resize(random() % (changed.size() + 1));
    try {
      get<aggregate>(changed);
      values++;
    } catch (const malformed&) {}
  }
  EXPECT_GT(values, 1000);
  EXPECT_LT(values, 19'000);
}

}  // namespace
