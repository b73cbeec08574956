// What a measurement was made on.
#pragma once

#include <fstream>
#include <string>

namespace apps {

// The processor's name, as Linux tells it.
inline std::string processor() {
  std::ifstream cpus("/proc/cpuinfo");
  for (std::string line; std::getline(cpus, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

}  // namespace apps
