#include "travel/exceptions.hpp"

#include <cxxabi.h>
#include <cleave/detail/travel/types.hpp>
#include <cleave/remote_error.hpp>

#include <any>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>
#include <variant>
#include <vector>

#include "travel/demangled.hpp"
#include "travel/type_list.hpp"

namespace cleave::detail {

namespace {

constinit type_list<error_type> all_errors;

std::uint64_t id_of(const std::type_info& type) noexcept {
  name_hash h;
  h.add(type.name());
  return h.value();
}

template <class E>
error_type of_standard(typeid(E), {&error_functions<E>::put, &error_functions<E>::get});

/// A remote_error that goes on to another node.
void put_remote(const std::exception_ptr& thrown, byte_writer& w) {
  try {
    std::rethrow_exception(thrown);
  } catch (const remote_error& e) { w.put_text(e.type()); }
}
std::exception_ptr get_remote(byte_reader& r, const std::string& what) {
  return std::make_exception_ptr(remote_error(r.get_text(), what));
}
const error_type of_remote(typeid(remote_error), {&put_remote, &get_remote});

void put_system(const std::exception_ptr& thrown, byte_writer& w) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::system_error& e) {
    w.put<std::int32_t>(e.code().value());
    w.put_text(e.code().category().name());
  }
}
/// A code of a category that is not the standard library's is one of this process alone.
std::exception_ptr get_system(byte_reader& r, const std::string& what) {
  const auto value = r.get<std::int32_t>();
  const std::string category = r.get_text();
  const std::error_category* found = nullptr;
  for (const std::error_category* c :
       {&std::generic_category(), &std::system_category(), &std::future_category()})
    if (category == c->name()) found = c;
  if (found == nullptr) return std::make_exception_ptr(remote_error("std::system_error", what));
  const std::error_code code(value, *found);
  const std::string added = ": " + code.message();  // what the constructor adds
  return std::make_exception_ptr(
      what.ends_with(added) ? std::system_error(code, what.substr(0, what.size() - added.size()))
                            : std::system_error(code));
}
const error_type of_system(typeid(std::system_error), {&put_system, &get_system});

template <class... E>
bool use_all() noexcept {
  ((void)&of_standard<E>, ...);
  return true;
}
[[maybe_unused]] const bool used =
    use_all<std::logic_error, std::domain_error, std::invalid_argument, std::length_error,
            std::out_of_range, std::runtime_error, std::range_error, std::overflow_error,
            std::underflow_error, std::exception, std::bad_alloc, std::bad_array_new_length,
            std::bad_cast, std::bad_typeid, std::bad_exception, std::bad_function_call,
            std::bad_weak_ptr, std::bad_optional_access, std::bad_variant_access,
            std::bad_any_cast>();

struct told {
  const std::type_info* type;  // null: not a C++ exception
  std::string what;
};

told tell(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& e) { return {&typeid(e), e.what()}; } catch (...) {
    return {abi::__cxa_current_exception_type(), ""};
  }
}

}  // namespace

error_type::error_type(const std::type_info& type, const functions& f) noexcept
    : type_(type), id_(id_of(type)), f_(f) {
  all_errors.enter(*this, next_);
}

void put_exception(const std::exception_ptr& e, byte_writer& w) {
  const auto [type, what] = tell(e);
  const error_type* registered =
      type == nullptr
          ? nullptr
          : all_errors.find([&wanted = *type](const error_type& t) { return t.type() == wanted; });
  w.put<std::uint64_t>(registered == nullptr ? 0 : registered->id());
  w.put_text(type == nullptr ? "unknown" : demangled(type->name()));
  w.put_text(what);
  w.put_block([&, &thrown = e] {
    if (registered != nullptr) registered->call().put(thrown, w);
  });
}

std::vector<std::byte> exception_bytes(const std::exception_ptr& e) {
  const auto written = [](const std::exception_ptr& thrown) {
    std::vector<std::byte> bytes;
    byte_writer w(bytes);
    put_exception(thrown, w);
    return bytes;
  };
  try {
    return written(e);
  } catch (...) {
    return written(std::make_exception_ptr(
        std::runtime_error("cleave: an exception of another node, which cannot be written")));
  }
}

std::exception_ptr get_exception(byte_reader& r) {
  const auto id = r.get<std::uint64_t>();
  const std::string type = r.get_text(), what = r.get_text();
  byte_reader fields = r.get_block();
  const error_type* registered =
      all_errors.find([id](const error_type& t) { return t.id() == id; });
  if (registered == nullptr) return std::make_exception_ptr(remote_error(type, what));
  auto e = registered->call().get(fields, what);
  fields.expect_end();
  return e;
}

}  // namespace cleave::detail
