#pragma once

#include "nats/presence.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// What servers (`queens --serve`) and their clients (`cleave submit`, `cleave nodes`) say to each
/// other. A message is one line of JSON, and after it bytes as they are. The sender is in the
/// subject (subjects.hpp); so is the kind.
namespace cleave::net::nats {

using words = std::vector<std::string>;

/// 16 hexadecimal digits.
bool is_job_name(std::string_view text) noexcept;

/// Sent to all: asks who is there.
struct who {};

/// A job as one server sees it.
struct job_here {
  std::string job;
  words arguments;
  std::string root;       // the machine that the root's node is on
  bool is_root = false;   // this server has it
  std::string submitter;  // the submitter's machine, if this server has the root
  std::uint64_t seconds = 0;
  // What the job's node here has said last; no workers: it has not said anything yet.
  std::uint32_t workers = 0, computing = 0;
  std::uint64_t tasks_in = 0, tasks_out = 0;
};

/// A server's answer to `who`.
struct offer {
  std::string program, hash;
  std::uint32_t workers = 0;  // the workers of each node that the server starts
  bool leaving = false;
  std::vector<job_here> jobs;
};

/// Asks a server to have the root of this job. It is said again until it is answered.
struct start {
  std::string job, hash;
  words arguments;
  std::uint32_t patience =
      0;                 // seconds without a word after which each side takes the other as gone
  std::string ask = {};  // CLEAVE_ASK of the job's nodes; empty: each server's own
};
struct refusal {
  std::string job, why;
};
/// The submitter says each second that it is there, and how many parts it has.
struct beat {
  std::string job;
  std::uint64_t have = 0;
};
/// The answer to each start and beat.
struct alive {
  std::string job;
  std::uint64_t sent = 0;
};
struct cancel {
  std::string job;
};
/// What the root has written, and then how it has ended: part after part, numbered from 0.
struct part {
  enum class of : std::uint8_t { output, errors, end };
  std::string job;
  std::uint64_t number = 0;
  of what = of::output;
  int status = 0;  // how the program has ended, as a shell tells it, in the part `end`
  std::string text;
};

/// The server that has the root asks all, each second, to help with this job.
struct notice {
  std::string job, program, hash;
  words arguments;
  bool over = false;
  std::string ask = {};  // as in `start`
};

using control = std::variant<who, offer, start, refusal, beat, alive, cancel, part, notice>;

/// The last token, or tokens, of the message's subject.
std::string_view kind_of(const control& message) noexcept;
/// The message as bytes. Throws std::invalid_argument if a text in it is not UTF-8 (a part's may be
/// anything).
std::string encode(const control& message);
/// Reads a message. Returns nullptr, or what is wrong with `payload`.
const char* decode(std::string_view kind, std::string_view payload, control& message);

}  // namespace cleave::net::nats
