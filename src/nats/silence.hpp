#pragma once

#include <algorithm>
#include <chrono>

/// When a node of a job is lost, as another one sees it. Nothing here looks at the clock.
namespace cleave::net::nats {

using moment = std::chrono::steady_clock::time_point;

/// Whether the relay is believed when it says that nobody listens there. When it was away, others
/// may come back to it later than this node.
class relays_word {
public:
  /// The connection is there for the n-th time.
  void connected(moment now, unsigned times) noexcept {
    if (times > 1) doubted_until_ = now + others_later;
  }
  bool is_believed(moment now) const noexcept { return now >= doubted_until_; }

private:
  static constexpr std::chrono::seconds others_later{3};

  moment doubted_until_ = moment::min();
};

/// Since when a node has been silent, and how long that is borne.
class silence {
public:
  silence(moment now, std::chrono::milliseconds longest) noexcept
      : heard_(now), longest_(longest) {}

  std::chrono::milliseconds longest() const noexcept { return longest_; }
  void bear(std::chrono::milliseconds longest) noexcept { longest_ = longest; }
  /// The node was heard, or counts as heard.
  void end(moment now) noexcept { heard_ = std::max(heard_, now); }
  /// If the node is not heard within that time, it is lost.
  void bear_only(moment now, std::chrono::milliseconds more) noexcept {
    heard_ = std::min(heard_, now - (longest_ - more));
  }
  /// The relay says that nobody listens there. The node may only be connecting again.
  void nobody_listens(moment now, const relays_word& word) noexcept {
    if (word.is_believed(now)) bear_only(now, std::chrono::milliseconds(600));
  }
  bool is_too_long(moment now) const noexcept { return now - heard_ > longest_; }

private:
  moment heard_;
  std::chrono::milliseconds longest_;
};

}  // namespace cleave::net::nats
