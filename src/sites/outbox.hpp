#pragma once

#include "sites/control.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace cleave::net::nats {

using moment = std::chrono::steady_clock::time_point;

/// What goes to the submitter of a job, kept until it has said that it has it: NATS delivers at
/// most once.
class outbox {
public:
  explicit outbox(std::string job) : job_(std::move(job)) {}

  /// The new part, to be sent now.
  const part& add(moment now, part::of what, std::string text, int status = 0) {
    parts_.push_back({{job_, next_++, what, status, std::move(text)}, now});
    kept_ += parts_.back().what.text.size();
    return parts_.back().what;
  }

  /// The other side has the first `have` parts. Returns the parts to be sent again: the next one
  /// only, if nothing was taken since the last time.
  std::vector<part> acknowledged(moment now, std::uint64_t have) {
    while (!parts_.empty() && parts_.front().what.number < have) {
      kept_ -= parts_.front().what.text.size();
      parts_.pop_front();
    }
    const bool rests = std::exchange(had_, have) == have;
    std::vector<part> again;
    for (auto& p : parts_) {
      if (now - p.sent < again_after) continue;
      p.sent = now;
      again.push_back(p.what);
      if (rests) break;
    }
    return again;
  }

  std::uint64_t sent() const noexcept { return next_; }
  bool empty() const noexcept { return parts_.empty(); }
  /// Whoever writes more than this waits until the submitter has some of it.
  bool full() const noexcept { return kept_ >= most; }

private:
  static constexpr std::chrono::milliseconds again_after{900};
  static constexpr std::size_t most = 4u << 20;

  struct kept {
    part what;
    moment sent;
  };
  std::string job_;
  std::deque<kept> parts_;
  // How many the other side had when it last said so.
  std::uint64_t next_ = 0, had_ = ~std::uint64_t{0};
  std::size_t kept_ = 0;  // the bytes of all parts that are kept
};

}  // namespace cleave::net::nats
