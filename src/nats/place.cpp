#include "nats/place.hpp"

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace cleave::net::nats {
namespace {

constexpr address most_address = address{1} << 62;

std::string variable(const char* name) {
  const char* const found = std::getenv(name);
  return found != nullptr ? found : "";
}

}  // namespace

std::optional<address> read_address(std::string_view text) {
  address found = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found, 16);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return {};
  if (found >= most_address) return {};
  return found;
}

place read_place() {
  const auto refuse = [](const char* name, const char* expected, const std::string& got) {
    throw std::invalid_argument(std::string("--transport nats: ") + name + ": expected " +
                                expected + ", as a server (--serve) sets it, got '" + got + "'");
  };
  place found;
  found.job = variable("CLEAVE_JOB");
  if (!is_token(found.job) || found.job.find('-') != found.job.npos)
    refuse("CLEAVE_JOB", "letters and digits", found.job);
  const std::string node = variable("CLEAVE_NODE");
  if (const auto self = read_address(node)) {
    found.self = *self;
  } else {
    refuse("CLEAVE_NODE", "a hexadecimal number below 2^62", node);
  }
  const std::string root = variable("CLEAVE_ROOT");
  if (const auto at = read_machine(root)) {
    found.root = *at;
  } else {
    refuse("CLEAVE_ROOT", "SITE.NAME", root);
  }
  return found;
}

access read_key() {
  const std::string file = variable("CLEAVE_KEY");
  if (file.empty())
    throw std::invalid_argument("--transport nats: CLEAVE_KEY: expected the name of a key file");
  return read_access(file);
}

}  // namespace cleave::net::nats
