#include "machine/standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <initializer_list>

namespace cleave::machine {

void open_standard_streams() noexcept {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    // A folder, which neither read() nor write() takes. It gets the lowest number that is free.
    const int opened = open("/", O_RDONLY | O_DIRECTORY);
    if (opened > stream) close(opened);  // another thread was faster
  }
}

}  // namespace cleave::machine
