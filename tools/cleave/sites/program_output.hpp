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
  // `to` is a descriptor; -1: the output is only kept.
  explicit program_output(int to) : to_(to) {}

  // Adds text, which later calls write. To add more than there is room for takes memory.
  void add(std::string_view text);
  bool has_room() const { return unwritten_.size() < most_unwritten; }
  bool is_written() const { return unwritten_.empty(); }
  // Writes as much as can be written at once, after waiting for a reader if there is none. Throws
  // std::runtime_error if it cannot write.
  void write(std::chrono::milliseconds at_most = {});

  // Whether all that is shown is kept. If not, the job cannot begin again: the program has written
  // more than is kept.
  bool is_kept() const { return keeps_; }
  void begin_again() { written_ = 0; }
  // What was written since the job has begun last, if it is kept.
  std::string text() const { return kept_.substr(0, written_); }

  static constexpr std::size_t most_kept = 64 << 20, most_unwritten = 1 << 20;  // bytes

private:
  void show(std::string_view text);

  const int to_;
  bool keeps_ = true;
  std::string kept_;         // what is shown, or would be if there were a descriptor
  std::size_t written_ = 0;  // how much the program has written since the job has begun last
  std::string unwritten_;    // what this process has still to write
};

}  // namespace sites
