#pragma once

#include <cleave/detail/travel/bytes.hpp>

#include <cstddef>
#include <exception>
#include <vector>

namespace cleave::detail {

/// Appends an exception: its type, what it says and, if that type is registered, what it consists
/// of.
void put_exception(const std::exception_ptr& e, byte_writer& w);

/// The bytes of an exception. One that cannot be written is replaced by a std::runtime_error that
/// says so.
std::vector<std::byte> exception_bytes(const std::exception_ptr& e);

/// The exception again if its type is registered here, else a remote_error. Throws malformed.
std::exception_ptr get_exception(byte_reader& r);

}  // namespace cleave::detail
