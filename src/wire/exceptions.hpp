#pragma once

#include <cleave/detail/bytes.hpp>

#include <exception>

namespace cleave::detail {

/// Appends an exception: its type, what it says and, if that type is registered, what it consists
/// of.
void put_exception(const std::exception_ptr& e, byte_writer& w);

/// The exception again if its type is registered here, else a remote_error. Throws malformed.
std::exception_ptr get_exception(byte_reader& r);

}  // namespace cleave::detail
