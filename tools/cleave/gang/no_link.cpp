// Where there is no nats.c, a daemon is alone.
#include <stdexcept>

#include "gang/link.hpp"

namespace gang {

std::unique_ptr<link> link::make(const std::string&) {
  throw std::runtime_error(
      "--join: this cleave was built without nats.c (Debian and Ubuntu: libnats-dev), which it "
      "needs to reach other machines");
}

}  // namespace gang
