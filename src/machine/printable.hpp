#pragma once

#include <string>

namespace cleave::machine {

/// What others have said, for a terminal: control characters are shown as '?'.
inline std::string printable(std::string text) {
  bool after_c2 = false;  // in UTF-8 it begins those from 0x80 to 0x9f
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || (after_c2 && byte < 0xa0)) c = '?';
    after_c2 = byte == 0xc2;
  }
  return text;
}

}  // namespace cleave::machine
