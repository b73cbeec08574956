#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// Which of the requests that this rank has not completed yet are receives. Whoever has only those
/// has nothing left to send; and who waits for such a request waits for a message.
namespace cleave::cosched {

/// A table of handles. What it cannot know it takes for a send; so a mistake costs a ring for
/// nothing, never a lost one. A handle may be used again after its request was completed: what was
/// started last counts.
class requests {
public:
  using handle = std::uint64_t;
  enum class kind : std::uint8_t { none, receive, file, other };

  void started(handle h, kind k) noexcept;
  void completed(handle h) noexcept;
  /// The kind of a request; `none`: it was not started, or is completed, or is not known.
  kind of(handle h) const noexcept;
  /// Whether a wait for this request may be one for a file, as far as is known.
  bool may_be_of_file(handle h) const noexcept { return lost_ ? files_ : of(h) == kind::file; }
  /// From this call on there may always be something to send.
  void lose_track() noexcept { lost_ = true; }
  /// Whether no requests but receives are open.
  bool only_receives() const noexcept { return !lost_ && others_ == 0; }

private:
  struct entry {
    handle of = 0;
    kind is = kind::none;
  };
  static constexpr std::size_t capacity = 256;  // a power of two

  static bool may_send(kind k) noexcept { return k == kind::file || k == kind::other; }
  static std::size_t first_place(handle h) noexcept;
  std::size_t find(handle h) const noexcept;  // the request's place, or the free one for it

  std::array<entry, capacity> entries_{};
  std::size_t used_ = 0, others_ = 0;
  bool lost_ = false;
  bool files_ = false;  // a request of a file was started
};

}  // namespace cleave::cosched
