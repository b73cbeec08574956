// What a job's program writes to standard output, at the submitter.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace sites {

// When the job begins again it is written again: what is shown already is not shown twice, as long
// as it is the same.
class program_output {
public:
  // Null: it is only kept.
  explicit program_output(std::FILE* to) : to_(to) {}

  // Throws std::runtime_error if it cannot be written.
  void add(std::string_view text);
  // False: it cannot, as the program has written more than is kept of what is shown.
  bool begin_again();
  // What was written since the job has begun last, if it is kept.
  std::string text() const { return kept_.substr(0, written_); }

  static constexpr std::size_t most_kept = 64 << 20;  // bytes

private:
  void show(std::string_view text) const;

  std::FILE* const to_;
  bool keeps_ = true;
  std::string kept_;         // what is shown, or was not to be
  std::size_t written_ = 0;  // of it since the job has begun last
};

}  // namespace sites
