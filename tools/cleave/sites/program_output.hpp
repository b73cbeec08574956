// What a job's program writes to standard output, at the submitter.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace sites {

// When the job begins again it is written again: what is shown already is not shown twice, as long
// as it is the same.
class program_output {
public:
  // A descriptor; -1: it is only kept.
  explicit program_output(int to) : to_(to) {}

  // To be written by the calls below. Who adds more than there is room for takes memory.
  void add(std::string_view text);
  bool has_room() const { return unwritten_.size() < most_unwritten; }
  bool is_written() const { return unwritten_.empty(); }
  // As much as can be written at once, after waiting for a reader if there is none. Throws
  // std::runtime_error if it cannot be written.
  void write(std::chrono::milliseconds at_most = {});

  // False: it cannot begin again, as the program has written more than is kept of what is shown.
  bool is_kept() const { return keeps_; }
  void begin_again() { written_ = 0; }
  // What was written since the job has begun last, if it is kept.
  std::string text() const { return kept_.substr(0, written_); }

  static constexpr std::size_t most_kept = 64 << 20, most_unwritten = 1 << 20;  // bytes

private:
  void show(std::string_view text);

  const int to_;
  bool keeps_ = true;
  std::string kept_;         // what is shown, or was not to be
  std::size_t written_ = 0;  // of it since the job has begun last, by the program
  std::string unwritten_;    // here
};

}  // namespace sites
