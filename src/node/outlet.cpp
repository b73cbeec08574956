#include "node/outlet.hpp"

#include <cleave/detail/travel/types.hpp>

#include <cstdio>
#include <stdexcept>

namespace cleave::net {

outcome failure(const std::exception_ptr& e) {
  outcome end{ending::error, {}};
  detail::byte_writer w(end.result);
  detail::put_failure(e, w);
  return end;
}

void outlet::send(address to, message m) {
  bytes encoded = encode(m);
  if (encoded.size() > carries_.longest_message()) {
    leave_shared_out(m);
    encoded = encode(m);
  }
  // A result_receipt only keeps a result from being sent again, later.
  std::holds_alternative<result_receipt>(m.body)
      ? carries_.send_without_waking(to, std::move(encoded))
      : carries_.send(to, std::move(encoded));
}

void outlet::say(const std::string& line) { std::fprintf(stderr, "cleave: %s\n", line.c_str()); }

void outlet::check_length(const bytes& contents, const char* of_what) const {
  const std::size_t most = carries_.longest_message(), around = most / 16;
  if (contents.size() > most - around)
    throw std::length_error(
        std::string("cleave: ") + of_what + " of " + std::to_string(contents.size()) +
        " bytes: this transport carries fewer than " + std::to_string(most - around));
}

/// Leaves shared values out of a message that would be dropped. A task without its bounds takes
/// longer; but what was found under one is nothing without it.
void outlet::leave_shared_out(message& m) const {
  bytes none;  // neither shared values nor versions of gathered variables
  detail::byte_writer w(none);
  w.put_block([] {});
  w.put_block([] {});
  if (auto* const given = std::get_if<task>(&m.body)) given->shared = none;
  auto* const result = std::get_if<task_result>(&m.body);
  if (result == nullptr) return;
  const std::length_error why("cleave: a result of " + std::to_string(result->result.size()) +
                              " bytes with shared values of " +
                              std::to_string(result->shared.size()) + ": this transport carries " +
                              std::to_string(carries_.longest_message()));
  *result = {result->key, ending::error, failure(std::make_exception_ptr(why)).result, none};
}

}  // namespace cleave::net
