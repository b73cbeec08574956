#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace cleave::net::nats {

/// What each node of a job tells all under the topic `job.<job>`: it is there, and has done so
/// much.
struct presence {
  bool here = true;         // false: the node goes
  std::string incarnation;  // a random token of the node's process
  std::uint32_t workers = 0, computing = 0;
  std::uint64_t tasks_in = 0, tasks_out = 0;  // tasks that have crossed between nodes
  std::uint32_t every = 500;  // in milliseconds: the node says so again within this time
  // How many workers the job asked for, where the machine's owner allows fewer.
  std::uint32_t asked = 0;
};
/// A node that has said nothing for this long is gone. It cannot ask for more than ten minutes.
inline std::chrono::milliseconds longest_silence(const presence& p) {
  using std::chrono::milliseconds;
  return std::clamp(4 * milliseconds(p.every), milliseconds(3'000), milliseconds(600'000));
}
inline constexpr std::string_view presence_topic = "job.";
std::string encode(const presence& p);
/// Reads a presence. Returns nullptr, or what is wrong with `payload`.
const char* decode(std::string_view payload, presence& p);

}  // namespace cleave::net::nats
