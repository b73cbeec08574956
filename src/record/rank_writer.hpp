#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "record/rank_file.hpp"

namespace cleave::record {

/// The file of this rank. If it cannot be written, a line on standard error says so once, and the
/// file stays without its end.
class rank_writer {
public:
  /// Makes the file `FOLDER/rank-N`, which must not be there.
  void open(const char* folder, int rank) noexcept;
  bool is_open() const noexcept { return file_ >= 0; }
  void put(const entry& e) noexcept {
    if (buffered_.size() == buffered_.capacity()) flush();
    buffered_.push_back(e);
  }
  /// Puts an entry with a text behind it.
  void put(entry e, std::string_view text) noexcept;
  void close() noexcept;

private:
  static constexpr std::size_t most_buffered = 32768;
  void flush() noexcept;
  void give_up(const char* what) noexcept;

  int file_ = -1;
  std::vector<entry> buffered_;
};

}  // namespace cleave::record
