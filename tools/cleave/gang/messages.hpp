// What the daemons of a gang say to each other, each to all, in JSON. Who says it is in the
// subject, which the relay checks (nats/subjects.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gang/plan.hpp"

namespace gang {

// Grows by one whenever what is below changes. Messages of another number are not understood.
inline constexpr int messages_version = 1;

// Of `version` in what follows: so the next one is a number, too.
inline constexpr std::uint64_t most_version = std::uint64_t{1} << 60;

// What a node has of a job.
struct part {
  std::string user, job, command;  // who has queued it there, by name
  bool paused = false;
  std::uint64_t version = 0;  // of `paused`: the higher one holds
  job_id id() const { return job + " " + user; }
  bool operator==(const part&) const = default;
};

// What a user has asked of a daemon. Said again for a while, as any message may be lost.
struct order {
  std::uint64_t number = 0;   // of its daemon's orders
  std::string what;           // pause, resume, kill
  std::string job, user;      // whose job it is
  std::string by;             // who asks, by the word of the kernel there
  std::uint64_t version = 0;  // of pause and resume
};

// How late its keepers were of late: the middle of it, and what 99 of 100 were within.
struct lateness {
  std::int64_t median_us = 0, most_us = 0, counted = 0;
};

// "I am there": five times a second, and whenever it has changed.
struct here {
  bool may_lead = false;  // it has listened for long enough
  std::uint32_t slice_ms = 100;
  std::int64_t round_trip_us = 0;  // to the leader; 0: not known
  std::int64_t error_us = 0;       // of its clock's offset, at most
  lateness late;
  std::vector<part> parts;
  std::vector<order> orders;
};

// From the leader: the last turns, in its own time.
struct announcement {
  std::vector<std::string> led;  // the processes that it hears, and counts in
  std::vector<turn> turns;
};

inline constexpr std::string_view here_topic = "gang.here", turns_topic = "gang.turns";
// So that all fits into one message.
inline constexpr std::size_t most_parts = 64, most_orders = 32;  // of a node
inline constexpr std::size_t most_nodes = 512;                   // of a gang

std::string encode(const here& h);
std::string encode(const announcement& a);
// Nothing if it is something else, or of another version. What `here` names can be printed.
std::optional<here> decode_here(std::string_view text);
std::optional<announcement> decode_announcement(std::string_view text);

// Of a job: letters, digits, '.', '_' and '-', at most 80.
bool is_job_name(std::string_view text);
// One byte each, and none that a terminal obeys; at most 80.
bool is_printable(std::string_view text);
// Is printable.
std::string shortened(const std::string& command);

}  // namespace gang
