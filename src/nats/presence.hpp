#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace cleave::net::nats {

/// To all, under the topic `job.<job>`, from each node of a job: it is there, and has done so much.
struct presence {
  bool here = true;         // false: it goes
  std::string incarnation;  // of its process
  std::uint32_t workers = 0, computing = 0;
  std::uint64_t tasks_in = 0, tasks_out = 0;  // that crossed
  std::uint32_t every = 500;                  // milliseconds: it says so again within
  std::uint32_t asked = 0;  // workers, by the job, where its machine's owner allows it fewer
};
/// A node that has said nothing for so long is gone. It may not ask for more than ten minutes.
inline std::chrono::milliseconds longest_silence(const presence& p) {
  using std::chrono::milliseconds;
  return std::clamp(4 * milliseconds(p.every), milliseconds(3'000), milliseconds(600'000));
}
inline constexpr std::string_view presence_topic = "job.";
std::string encode(const presence& p);
/// Returns nullptr, or what is wrong with it.
const char* decode(std::string_view payload, presence& p);

}  // namespace cleave::net::nats
