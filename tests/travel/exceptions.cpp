// What a task throws on another node is thrown here.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tuple>
#include <typeinfo>

#include "travel/exceptions.hpp"
#include "travel/two_nodes.hpp"

namespace {

struct by_fields : std::runtime_error {
  int row;
  std::string why;
  by_fields(int r, std::string w) : runtime_error("row " + std::to_string(r)), row(r), why(w) {}
  auto input() { return std::tie(row, why); }
};
inline const cleave::travels<by_fields> by_fields_travels;

struct assigned {
  int code = 0;
  auto input() { return std::tie(code); }
};
inline const cleave::travels<assigned> assigned_travels;

struct by_what : std::logic_error {
  using std::logic_error::logic_error;
};
inline const cleave::travels<by_what> by_what_travels;

struct unknown_here : by_what {
  unknown_here() : by_what("derived") {}
};

template <class E>
std::exception_ptr over(E e) {
  tests::bytes message;
  tests::byte_writer w(message);
  put_exception(std::make_exception_ptr(std::move(e)), w);
  tests::byte_reader r(message);
  auto arrived = cleave::detail::get_exception(r);
  r.expect_end();
  return arrived;
}
template <class E>
void expect_itself(E e) {
  const std::string what = e.what();
  try {
    std::rethrow_exception(over(std::move(e)));
  } catch (const E& arrived) {
    EXPECT_EQ(typeid(arrived), typeid(E));
    EXPECT_EQ(arrived.what(), what);
    return;
  } catch (...) {}
  ADD_FAILURE() << what;
}

TEST(exception, of_the_standard_library_arrives_as_itself) {
  expect_itself(std::runtime_error("r"));
  expect_itself(std::logic_error("l"));
  expect_itself(std::invalid_argument("i"));
  expect_itself(std::out_of_range("o"));
  expect_itself(std::overflow_error(""));
  expect_itself(std::bad_alloc());
  expect_itself(std::bad_optional_access());
  expect_itself(std::bad_function_call());
  expect_itself(std::exception());
}

TEST(exception, system_error_keeps_its_code) {
  for (const auto& code :
       {std::make_error_code(std::errc::timed_out), std::error_code(5, std::system_category())}) {
    expect_itself(std::system_error(code, "reading"));
    expect_itself(std::system_error(code));
    try {
      std::rethrow_exception(over(std::system_error(code, "x")));
    } catch (const std::system_error& e) { EXPECT_EQ(e.code(), code); }
  }
}

TEST(exception, registered_arrives_as_itself) {
  try {
    std::rethrow_exception(over(by_fields(3, "because")));
  } catch (const by_fields& e) {
    EXPECT_EQ(e.row, 3);
    EXPECT_EQ(e.why, "because");
    EXPECT_STREQ(e.what(), "row 3");
  }
  EXPECT_THROW(std::rethrow_exception(over(by_fields(3, ""))), by_fields);
  try {
    std::rethrow_exception(over(assigned{5}));
  } catch (const assigned& e) { EXPECT_EQ(e.code, 5); }
  EXPECT_THROW(std::rethrow_exception(over(assigned{5})), assigned);
  expect_itself(by_what("what"));
}

TEST(exception, another_becomes_a_remote_error) {
  const auto expect = [](const std::exception_ptr& e, const std::string& type,
                         const std::string& what) {
    try {
      std::rethrow_exception(e);
    } catch (const cleave::remote_error& r) {
      EXPECT_NE(r.type().find(type), std::string::npos) << r.type();
      EXPECT_EQ(r.what(), what);
      return;
    } catch (...) {}
    ADD_FAILURE() << type;
  };
  expect(over(unknown_here()), "unknown_here", "derived");
  expect(over(42), "int", "");
  expect(over(std::string("text")), "string", "");
  expect(over(cleave::remote_error("a type", "said")), "a type", "said");
}

struct throws {
  int n;
  auto input() { return std::tie(n); }
  int run() { throw std::out_of_range("item " + std::to_string(n)); }
};

TEST(exception, of_a_task_is_its_outcome) {
  try {
    tests::run_away(throws{7});
    ADD_FAILURE();
  } catch (const std::out_of_range& e) { EXPECT_STREQ(e.what(), "item 7"); }
}

TEST(exception, malformed_bytes_are_refused) {
  tests::bytes message;
  tests::byte_writer w(message);
  put_exception(std::make_exception_ptr(by_fields(1, "why")), w);
  for (std::size_t n = 0; n < message.size(); n++) {
    const tests::bytes part(message.begin(), message.begin() + static_cast<long>(n));
    tests::byte_reader r(part);
    EXPECT_THROW(cleave::detail::get_exception(r), cleave::detail::malformed) << n;
  }
}

}  // namespace
