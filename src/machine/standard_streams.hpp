#pragma once

namespace cleave::machine {

/// Opens those of the descriptors 0, 1 and 2 that are closed (`program >&-`), so that no file and
/// no socket that is opened later gets one of these numbers, and with it what is printed. What is
/// read from or written to them goes on to fail. To be called before anything else is opened.
void open_standard_streams() noexcept;

}  // namespace cleave::machine
