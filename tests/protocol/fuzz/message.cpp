// libFuzzer: what decode() makes of any bytes. tests/protocol/fuzz_message.sh builds and runs it.
#include "protocol/message.hpp"

#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace cleave::net;
  message m, again;
  if (decode(std::as_bytes(std::span(data, size)), m) != nullptr) return 0;
  // What is accepted comes back as it is.
  if (decode(encode(m), again) != nullptr || !(m == again)) std::abort();
  return 0;
}
