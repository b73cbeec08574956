// Output to readers that may rest, and must not keep the writer from its work.
#pragma once

#include <chrono>
#include <string>

namespace sites {

// The descriptor to write to: for a terminal one of its own, which takes what fits and does not
// block; else the same.
int descriptor_for(int terminal);

// Takes from `text` what can be written at once, after waiting for a reader if there is none.
// False, with errno, if it cannot write.
bool write_some(int to, std::string& text, std::chrono::milliseconds at_most = {});

}  // namespace sites
