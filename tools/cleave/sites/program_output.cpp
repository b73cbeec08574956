#include "sites/program_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace sites {

void program_output::add(std::string_view text) {
  const std::size_t again = std::min(text.size(), kept_.size() - written_);
  if (kept_.compare(written_, again, text.substr(0, again)) != 0) {
    if (to_ != nullptr)
      fmt::print(stderr,
                 "cleave: begun again, the program writes something else; all of it follows\n");
    kept_.resize(written_);
    show(kept_);
    return add(text);
  }
  const std::string_view rest = text.substr(again);
  show(rest);
  if (!keeps_) return;
  kept_ += rest, written_ += text.size();
  if (to_ != nullptr && kept_.size() > most_kept) keeps_ = false, written_ = 0, kept_.clear();
}

bool program_output::begin_again() {
  written_ = 0;
  return keeps_;
}

void program_output::show(std::string_view text) const {
  if (to_ != nullptr &&
      (std::fwrite(text.data(), 1, text.size(), to_) != text.size() || std::fflush(to_) != 0))
    throw std::runtime_error("cannot write to standard output");
}

}  // namespace sites
