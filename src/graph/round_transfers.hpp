#pragma once

#include <cleave/detail/graph/distribution.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

/// What goes between two nodes in the rounds of repeat().
namespace cleave::detail {

/// What has come for one subtask that receives: a value for each of its rounds, in turn.
///
/// Invariant: the places are a ring. The one that was taken last is followed by those that have
/// come and are not taken, `left_` of them; all others are free. One thread at a time puts, with
/// the team's mutex, and one takes, which runs the subtask. Each value is told of once: by who puts
/// it, if none was left, else by who takes the one before it.
class round_arrivals {
public:
  using arrived = distribution::arrived;

  round_arrivals() { taken_ = put_ = &add(nullptr); }
  round_arrivals(const round_arrivals&) = delete;
  round_arrivals& operator=(const round_arrivals&) = delete;

  // Whoever puts calls these in turn.

  /// A free place, whose memory is that of an earlier value. Throws std::bad_alloc.
  arrived& free_place();
  /// That place has a value. Returns true if the subtask has to be told of it.
  bool has_come() noexcept;
  /// How many values have come.
  std::uint64_t count() const noexcept { return count_; }

  // Whoever takes calls these.

  /// The next value, which has come. It stays until the next call.
  arrived& take() noexcept { return (taken_ = taken_->next)->value; }
  /// The taken one counts no more. Returns true if the subtask has to be told of the next one.
  bool has_next() noexcept;

private:
  struct place {
    arrived value;
    place* next = nullptr;
  };
  place& add(place* after);

  std::deque<place> all_;  // whoever puts adds some
  place* put_;
  place* taken_;
  std::uint64_t count_ = 0;
  std::atomic<std::size_t> left_{0};
};

/// The values for one other node that have not left. They leave as one message.
///
/// Values that are ready at about the same time form a group: one that is there waits a little for
/// the others.
class round_letter {
public:
  /// `missing`: how many values of all letters are waited for. `by_many`: several workers add.
  round_letter(distribution& by, unsigned to, std::atomic<std::size_t>& missing, bool by_many);

  // The owner of the graph calls these before there are values.

  std::size_t groups() const noexcept { return groups_.size(); }
  /// One more transfer of a round is of that group, which may be the next new one.
  void add_to_group(std::size_t n);

  // Any thread calls these.

  /// Adds a transfer's value, of the nth group. Throws what the value's type throws; then nothing
  /// was added.
  void add(std::uint64_t place, const transferred& data, std::size_t n);
  /// What was added leaves with the team's next flush.
  void send() noexcept;

  std::uint64_t transfers = 0;  // how many a round has

private:
  struct group {
    unsigned size = 0;        // all of a round
    unsigned added = 0;       // of this round
    bool is_awaited = false;  // the others are counted as missing
  };
  std::unique_lock<std::mutex> lock() {
    return by_many_ ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
  }
  void count(group& g) noexcept;
  void send_now();

  distribution& by_;
  const unsigned to_;
  const bool by_many_;
  std::vector<std::byte> without_any_;  // a letter to which nothing was added
  const std::size_t begun_;             // how much of that is the team's
  std::atomic<std::size_t>& missing_;
  std::atomic<bool> has_any_{false};
  std::mutex mutex_;
  // With that mutex, where several workers add.
  std::vector<std::byte> letter_;
  std::vector<group> groups_;
  std::vector<group*> awaited_;  // of which some, but not all, are in the letter
};

/// The transfers of a round, which are the same in all rounds.
class round_transfers {
public:
  /// `by_many`: several workers run subtasks.
  round_transfers(distribution& by, replay& of, std::uint64_t rounds, bool by_many);

  // The owner of the graph calls these.

  /// How many rounds there are.
  std::uint64_t count() const noexcept { return rounds_; }
  round_letter& letter(unsigned to) noexcept { return letters_[to]; }
  /// It is the next one of the first round.
  void add_receive(unsigned from, replayed& n) { receives_[from].push_back(&n); }
  /// The rounds begin. What comes from that node has this number, and those that follow.
  void begin(unsigned from, std::uint64_t first_place) noexcept {
    first_places_[from] = first_place;
  }
  /// How many go to that node in all rounds but the first.
  std::uint64_t later_sends(unsigned to) const noexcept {
    return (rounds_ - 1) * letters_[to].transfers;
  }
  /// How many come from that node in all rounds.
  std::uint64_t receives(unsigned from) const noexcept { return rounds_ * receives_[from].size(); }

  // Any thread calls these.

  /// What was added for other nodes leaves.
  void flush() noexcept;
  /// Whether values of the same groups as those that were added are still to come.
  bool awaits_more() const noexcept { return missing_.load(std::memory_order_relaxed) != 0; }
  /// The rounds.
  replay& of() const noexcept { return of_; }

  // These are called with the team's mutex.

  /// Whether a place among the transfers from that node is one of these.
  bool has(unsigned from, std::uint64_t place) const noexcept {
    return place - first_places_[from] < receives(from);
  }
  /// Where the value of that transfer is to be put. Throws malformed if it has come, or one is
  /// missing before it; std::bad_alloc.
  distribution::arrived& free_place(unsigned from, std::uint64_t place);
  /// It is there.
  void has_come() noexcept;
  /// Has the subtasks run that have got what they need.
  void make_ready() noexcept;

private:
  distribution& by_;
  replay& of_;
  const std::uint64_t rounds_;
  std::atomic<std::size_t> missing_{0};
  std::deque<round_letter> letters_;              // by rank
  std::vector<std::vector<replayed*>> receives_;  // by rank
  std::vector<std::uint64_t> first_places_;       // by rank: of what comes from it
  // With the team's mutex.
  replayed* next_ = nullptr;   // what free_place() was called for
  replayed* ready_ = nullptr;  // what make_ready() tells of
};

}  // namespace cleave::detail
