#include "sites/program_output.hpp"

#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "sites/write_some.hpp"

namespace sites {

void program_output::add(std::string_view text) {
  const std::size_t again = std::min(text.size(), kept_.size() - written_);
  if (kept_.compare(written_, again, text.substr(0, again)) != 0) {
    std::string line =
        "cleave: begun again, the program writes something else; all of it follows\n";
    if (to_ >= 0) write_some(STDERR_FILENO, line);
    kept_.resize(written_);
    show(kept_);
    return add(text);
  }
  const std::string_view rest = text.substr(again);
  show(rest);
  if (!keeps_) return;
  kept_ += rest, written_ += text.size();
  if (to_ >= 0 && kept_.size() > most_kept) keeps_ = false, written_ = 0, kept_.clear();
}

void program_output::show(std::string_view text) {
  if (to_ >= 0) unwritten_ += text;
}

void program_output::write(std::chrono::milliseconds at_most) {
  if (!write_some(to_, unwritten_, at_most))
    throw std::runtime_error("cannot write to standard output");
}

}  // namespace sites
