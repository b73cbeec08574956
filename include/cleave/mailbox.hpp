#pragma once

#include <cleave/detail/travel/archive.hpp>
#include <cleave/detail/travel/bytes.hpp>
#include <cleave/detail/travel/letters.hpp>
#include <cleave/team.hpp>

#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace cleave {

/// Messages from one member of a team to another, for what is no graph: who sends, and when, is
/// known only while the task runs.
///
///     cleave::mailbox<tour> found(all);
///     if (all.rank() != 0) found.send(0, t);
///     for (auto& [from, t] : found.take()) ...
///
/// All members make it, in the same order as they make graphs and broadcasts. What is sent to a
/// member that has none any more is dropped. T needs to travel (task.hpp).
template <class T>
class mailbox {
  static_assert(detail::can_travel<T>() || !CLEAVE_HAVE_CEREAL,
                "cleave::mailbox: this type cannot be serialized: it needs `auto fields() { return "
                "std::tie(...); }` or cereal's serialize()");

public:
  struct message {
    unsigned from = 0;  // the sender's rank
    T contents{};
  };

  /// Called by the task's own thread. Throws std::logic_error if a member has ended without it.
  explicit mailbox(const team& all) : all_(all), letters_(all.node_) {}

  /// Sends x to another member; returns its length in bytes. Any thread may call it; does not
  /// block. Between two members messages come in the order in which they were sent. Throws
  /// std::out_of_range if there is no such other member, and what writing a T throws.
  std::size_t send(unsigned to, const T& x) {
    if (to >= all_.size() || to == all_.rank())
      throw std::out_of_range("cleave::mailbox: a message to no other member");
    std::vector<std::byte> bytes;
    if constexpr (detail::can_travel<T>()) {
      detail::byte_writer w(bytes);
      detail::put_value(w, x);
    }
    letters_.send(to, bytes);
    return bytes.size();
  }

  /// Whether something has come, by one load. Any thread.
  bool any() const noexcept { return letters_.any(); }

  /// Takes all that has come. Any thread; does not block. Throws what reading a T throws.
  std::vector<message> take() {
    std::vector<message> all;
    for (auto& [from, bytes] : letters_.take()) {
      message& one = all.emplace_back();
      one.from = from;
      if constexpr (detail::can_travel<T>()) {
        detail::byte_reader r(bytes);
        detail::get_value(r, one.contents);
        r.expect_end();
      }
    }
    return all;
  }

  /// Blocks until something has come, and takes it; serves requests meanwhile. Called by the task's
  /// own thread. Throws std::logic_error in a team of one if there is nothing.
  std::vector<message> wait() {
    letters_.await();
    return take();
  }

private:
  const team& all_;
  detail::letters letters_;
};

}  // namespace cleave
