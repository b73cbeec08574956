#pragma once

#include <cleave/detail/graph/distribution.hpp>
#include <cleave/detail/travel/bytes.hpp>

#include <cstdint>
#include <limits>
#include <span>

#include "graph/lending.hpp"

/// The two sides of a transfer from one node to another.
namespace cleave::detail {

/// The number of no datum, for messages that tell only that something is done.
constexpr std::uint32_t no_datum = std::numeric_limits<std::uint32_t>::max();
inline std::uint32_t place_number(const any_datum* d) noexcept {
  return d != nullptr ? d->place.number : no_datum;
}

class distribution::send final : public subtask {
public:
  send(distribution& by, const any_datum* d, unsigned to, std::uint64_t place) noexcept
      : subtask(by.graph_, kind::send), by_(by), datum_(d), to_(to), place_(place) {
    name = "send";
  }
  void call() override { bytes = by_.send_value(datum_, {in_graph().number, to_, place_}); }
  void skip() noexcept override { by_.send_value(datum_, {in_graph().number, to_, place_}); }

  std::size_t bytes = 0;  // the length of the message

private:
  distribution& by_;
  const any_datum* datum_;  // null: the message tells only that something is done
  unsigned to_;
  std::uint64_t place_;
};

class distribution::receive_value final : public subtask {
public:
  receive_value(distribution& by, any_datum* d, unsigned of) noexcept
      : subtask(by.graph_, kind::receive), from(of), by_(by), datum_(d) {
    name = "receive";
  }
  ~receive_value() override {
    if (by_.graph_.lends != nullptr) by_.graph_.lends->has_spare();
  }
  void call() override {
    bytes = arrival.message.size();
    if (!arrival.has_value) return by_.keep_reason(arrival);
    if (arrival.datum != place_number(datum_)) throw distribution::different_graphs();
    if (datum_ == nullptr) return;
    byte_reader r(std::span<const std::byte>(arrival.message).subspan(arrival.first));
    datum_->get(r);
    r.expect_end();
    arrival.message = {};
  }
  const unsigned from;
  arrived arrival;
  std::size_t bytes = 0;

private:
  distribution& by_;
  any_datum* datum_;
};

}  // namespace cleave::detail
