// What the daemons of a gang say to each other, each to all, in JSON. The sender is in the subject,
// which the relay checks (nats/subjects.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gang/timetable.hpp"

namespace gang {

// The version grows by one whenever what is below changes. Messages of another version are not
// understood.
inline constexpr int messages_version = 1;

// The highest `version` in what follows: the next one after it is a number, too.
inline constexpr std::uint64_t most_version = std::uint64_t{1} << 60;

// What a node has of a job.
struct part {
  std::string user, job, command;  // `user`: who has queued it there, by name
  bool paused = false;
  std::uint64_t version = 0;  // the version of `paused`: the higher one holds
  job_id id() const { return job + " " + user; }
  bool operator==(const part&) const = default;
};

// What a user has asked of a daemon. It is said again for a while, as any message may be lost.
struct order {
  std::uint64_t number = 0;   // the order's number among its daemon's orders
  std::string what;           // pause, resume, kill
  std::string job, user;      // the job, and the user whose job it is
  std::string by;             // the user who asks, by the word of the kernel there
  std::uint64_t version = 0;  // the version that pause or resume sets
};

// How late a node's keepers were of late: the median, and what 99 of 100 were within.
struct lateness {
  std::int64_t median_us = 0, most_us = 0, counted = 0;
};

// "I am there": a node sends this five times a second, and whenever something in it has changed.
struct heartbeat {
  bool may_lead = false;  // the node has listened for long enough
  std::uint32_t slice_ms = 100;
  std::int64_t round_trip_us = 0;  // the round trip to the leader; 0: not known
  std::int64_t error_us = 0;       // the largest error of its clock's offset
  lateness late;
  std::vector<part> parts;
  std::vector<order> orders;
};

// What the leader says: the last turns, in its own time.
struct announcement {
  std::vector<std::string> led;  // the processes that it hears, and counts in
  std::vector<turn> turns;
};

inline constexpr std::string_view heartbeat_topic = "gang.here", turns_topic = "gang.turns";
// The limits make all fit into one message.
inline constexpr std::size_t most_parts = 64, most_orders = 32;  // what one node may have
inline constexpr std::size_t most_nodes = 512;                   // the nodes of a gang

std::string encode(const heartbeat& h);
std::string encode(const announcement& a);
// Reads a message; nothing if it is something else, or of another version. What a heartbeat names
// can be printed.
std::optional<heartbeat> decode_heartbeat(std::string_view text);
std::optional<announcement> decode_announcement(std::string_view text);

// Whether this can be a job's name: letters, digits, '.', '_' and '-', at most 80.
bool is_job_name(std::string_view text);
// Whether a text can be printed: its characters are one byte each, and none that a terminal obeys;
// at most 80.
bool is_printable(std::string_view text);
// A command made short; is_printable() is true of it.
std::string shortened(const std::string& command);

}  // namespace gang
