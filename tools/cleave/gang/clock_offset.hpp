// How far another node's clock is ahead of this one's, by pings, as NTP measures it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>

namespace gang {

using moment = std::chrono::nanoseconds;  // on a node's monotonic clock

// Invariant: if the clocks' speeds differ by at most `drift`, the offset is wrong by at most
// `error`: half of what the round trip took that was not spent at the other node, whatever each way
// took, and what the clocks may have drifted apart since.
class clock_offset {
public:
  struct estimate {
    moment offset{};      // added to this node's time it gives the other's
    moment error{};       // the offset's largest error
    moment round_trip{};  // the longest of the last round trips
  };

  // Takes a ping in: it left here at `sent`, came there at `received`, left there at `returned`,
  // and came here at `now`.
  void add(moment sent, moment received, moment returned, moment now) {
    const moment round_trip = (now - sent) - (returned - received);
    if (round_trip < moment(0) || now < sent) return;
    samples_.push_back({((received - sent) + (returned - now)) / 2, round_trip, now});
    if (samples_.size() > most) samples_.pop_front();
  }

  // The estimate at that moment; nothing before the first answer.
  std::optional<estimate> at(moment now) const {
    if (samples_.empty()) return std::nullopt;
    estimate best;
    best.error = moment::max();
    for (const sample& s : samples_) {
      const moment error = s.round_trip / 2 + (now - s.at) / drift;
      if (error < best.error) best.offset = s.offset, best.error = error;
    }
    const std::size_t recent = std::min<std::size_t>(samples_.size(), 8);
    for (std::size_t i = samples_.size() - recent; i < samples_.size(); ++i)
      best.round_trip = std::max(best.round_trip, samples_[i].round_trip);
    return best;
  }
  std::size_t samples() const { return samples_.size(); }

private:
  static constexpr std::size_t most = 32;
  static constexpr int drift = 10'000;  // one part in so many: 100 ppm, more than quartz has
  struct sample {
    moment offset, round_trip, at;
  };
  std::deque<sample> samples_;
};

}  // namespace gang
