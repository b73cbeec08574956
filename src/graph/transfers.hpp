#pragma once

#include <cleave/detail/graph/distribution.hpp>
#include <cleave/detail/travel/bytes.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "graph/lending.hpp"
#include "graph/round_transfers.hpp"

/// The two sides of a transfer from one node to another.
namespace cleave::detail {

/// The number of no datum, for messages that tell only that something is done.
constexpr std::uint32_t no_datum = std::numeric_limits<std::uint32_t>::max();

/// What a transfer carries: nothing, one datum as a rule, or several that one subtask has written.
class transferred {
public:
  explicit transferred(std::span<any_datum* const> data)
      : first_(data.empty() ? nullptr : data.front()) {
    if (data.size() > 1) others_.assign(data.begin() + 1, data.end());
  }
  void put(byte_writer& w) const {
    w.put(number_of(first_));
    if (first_ == nullptr) return;
    first_->put(w);
    for (const any_datum* const d : others_) w.put(number_of(d)), d->put(w);
  }
  /// The number of the first one has been read.
  void get(byte_reader& r, std::uint32_t number) const {
    if (number != number_of(first_)) throw distribution::different_graphs();
    if (first_ == nullptr) return;
    first_->get(r);
    for (any_datum* const d : others_) {
      if (r.get<std::uint32_t>() != number_of(d)) throw distribution::different_graphs();
      d->get(r);
    }
    r.expect_end();
  }

private:
  static std::uint32_t number_of(const any_datum* d) noexcept {
    return d != nullptr ? d->place.number : no_datum;
  }
  any_datum* first_;
  std::vector<any_datum*> others_;
};

class distribution::send final : public subtask {
public:
  send(distribution& by, data_list data, unsigned to_rank, std::uint64_t place)
      : subtask(by.graph_, kind::send), to(to_rank), by_(by), data_(data), place_(place) {
    name = "send";
  }
  void call() override { bytes = by_.send_values(data_, it()); }
  void skip() noexcept override { by_.send_values(data_, it()); }
  /// The next value is that of the next round.
  void next_round() noexcept { place_ += within->transfers; }

  const unsigned to;
  round_letter* within = nullptr;  // in a round of repeat()
  std::size_t group = 0;           // in that
  std::size_t bytes = 0;           // the length of the message

private:
  transfer_of it() noexcept { return {in_graph().number, to, place_, within, group}; }

  distribution& by_;
  const transferred data_;
  std::uint64_t place_;
};

class distribution::receive_values final : public subtask {
public:
  receive_values(distribution& by, data_list data, unsigned of)
      : subtask(by.graph_, kind::receive), from(of), by_(by), data_(data) {
    name = "receive";
  }
  ~receive_values() override {
    if (by_.graph_.lends != nullptr) by_.graph_.lends->has_spare();
  }
  void call() override {
    if (of_round != nullptr) return read(*of_round);
    read(arrival);
    arrival.message = {};
  }
  const unsigned from;
  arrived arrival;
  const arrived* of_round = nullptr;  // what it reads in a round of repeat()
  std::size_t bytes = 0;

private:
  void read(const arrived& from_there) {
    bytes = from_there.message.size();
    if (!from_there.has_value) return by_.keep_reason(from_there);
    byte_reader r(std::span<const std::byte>(from_there.message).subspan(from_there.first));
    data_.get(r, from_there.datum);
  }

  distribution& by_;
  const transferred data_;
};

}  // namespace cleave::detail
