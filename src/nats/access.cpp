#include "nats/access.hpp"

#include "machine/descriptor.hpp"
#include "nats/subjects.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

namespace cleave::net::nats {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_file = std::size_t{1} << 20;

[[noreturn]] void refuse(const std::string& what, const std::string& why) {
  throw std::invalid_argument(what + ": " + why);
}

std::string why() { return std::strerror(errno); }

std::string text_of(const fs::path& file) {
  const cleave::machine::descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (*opened < 0) refuse(file.string(), "expected a key file: " + why());
  struct stat about {};
  if (fstat(*opened, &about) != 0) refuse(file.string(), why());
  if (!S_ISREG(about.st_mode)) refuse(file.string(), "expected a key file, got no regular file");
  if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    refuse(file.string(), "expected a key that its owner alone may read (chmod 600)");
  std::string text;
  char part[4096];
  for (;;) {
    const ssize_t got = read(*opened, part, sizeof part);
    if (got < 0) refuse(file.string(), why());
    if (got == 0) return text;
    text.append(part, static_cast<std::size_t>(got));
    if (text.size() > longest_file) refuse(file.string(), "expected a key file, got a larger one");
  }
}

constexpr std::string_view base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Checks an nkey in base 32, which has this prefix and so many letters in all.
void check_key(const char* what, std::string_view text, std::string_view prefix,
               std::size_t letters) {
  const auto expected = [&](const char* why) {
    throw std::invalid_argument(std::string("expected a ") + what + ", " + std::string(prefix) +
                                "…" + why);
  };
  if (text.size() != letters || !text.starts_with(prefix)) expected("");
  std::vector<unsigned char> bytes;
  unsigned pending = 0;
  int bits = 0;
  for (const char c : text) {
    const auto digit = base32.find(c);
    if (digit == base32.npos) expected("");
    pending = pending << 5 | static_cast<unsigned>(digit);
    bits += 5;
    if (bits >= 8) bytes.push_back(static_cast<unsigned char>(pending >> (bits -= 8)));
  }
  const std::size_t size = bytes.size() - 2;
  const unsigned found = bytes[size] | unsigned{bytes[size + 1]} << 8;
  if (found != checksum_of_key(std::span(bytes).first(size)))
    expected(": its checksum is wrong, so a letter of it was altered");
}

access access_of(const nlohmann::json& in) {
  const auto text = [&](const char* field, bool needed) -> std::string {
    const auto at = in.find(field);
    if (at == in.end() && !needed) return {};
    if (at == in.end() || !at->is_string())
      throw std::invalid_argument(std::string("expected a text \"") + field + "\"");
    return *at;
  };
  if (!in.is_object() || !in.contains("cleave"))
    throw std::invalid_argument("expected a key file of Cleave");
  if (in["cleave"] != 1) throw std::invalid_argument("expected a key file of version 1");
  access a;
  a.site = text("site", true), a.name = text("name", true);
  a.authority = text("authority", false);
  a.public_key = text("public", false), a.seed = text("seed", false);
  const auto urls = in.find("urls");
  if (urls == in.end() || !urls->is_array())
    throw std::invalid_argument("expected a list \"urls\"");
  for (const auto& url : *urls) {
    if (!url.is_string()) throw std::invalid_argument("expected texts in \"urls\"");
    a.urls.push_back(url);
  }
  return a;
}

fs::path folder_of_keys() {
  const auto variable = [](const char* name) -> std::string {
    const char* const found = std::getenv(name);
    return found != nullptr ? found : "";
  };
  if (const std::string set = variable("XDG_CONFIG_HOME"); !set.empty())
    return fs::path(set) / "cleave";
  if (const std::string home = variable("HOME"); !home.empty())
    return fs::path(home) / ".config" / "cleave";
  return {};
}

}  // namespace

std::uint16_t checksum_of_key(std::span<const unsigned char> bytes) noexcept {
  std::uint16_t crc = 0;
  for (const unsigned char b : bytes) {
    crc = static_cast<std::uint16_t>(crc ^ (b << 8));
    for (int i = 0; i < 8; ++i)
      crc = static_cast<std::uint16_t>((crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1);
  }
  return crc;
}

relay_url parse_url(const std::string& url) {
  const auto expected = [&]() {
    throw std::invalid_argument("expected tls://HOST:PORT or nats://HOST:PORT, got '" + url + "'");
  };
  relay_url found;
  std::string_view rest = url;
  if (rest.starts_with("tls://")) {
    rest.remove_prefix(6);
  } else if (rest.starts_with("nats://")) {
    rest.remove_prefix(7);
    found.tls = false;
  } else {
    expected();
  }
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const std::size_t colon = rest.rfind(':');
  const std::size_t bracket = rest.rfind(']');
  std::string_view host = rest;
  if (colon != rest.npos && (bracket == rest.npos || colon > bracket)) {
    host = rest.substr(0, colon);
    const std::string_view digits = rest.substr(colon + 1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), found.port);
    if (error != std::errc{} || end != digits.data() + digits.size() || found.port < 1 ||
        found.port > 65535)
      expected();
  }
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != host.npos) {
    expected();
  }
  if (host.empty() || host.find_first_of("@/?#[], \t\n") != host.npos) expected();
  found.host = host;
  return found;
}

bool is_loopback(std::string_view host) noexcept {
  if (host == "localhost" || host == "::1") return true;
  return host.starts_with("127.") &&
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

void check(const access& a) {
  constexpr auto token = "expected letters, digits, _ and -, at most 64, as the ";
  if (!is_site(a.site)) throw std::invalid_argument(token + ("site, got '" + a.site) + "'");
  if (!is_token(a.name)) throw std::invalid_argument(token + ("name, got '" + a.name) + "'");
  if (a.urls.empty()) throw std::invalid_argument("expected the relay's URL, got none");
  bool tls = false;
  for (const std::string& url : a.urls) {
    const relay_url at = parse_url(url);
    tls |= at.tls;
    if (at.tls && a.authority.empty())
      throw std::invalid_argument("expected the certificate of who vouches for " + url);
    if (!at.tls && !is_loopback(at.host))
      throw std::invalid_argument("expected tls:// except on loopback, got '" + url + "'");
  }
  if (!tls && !a.authority.empty())
    throw std::invalid_argument("expected a tls:// URL beside a certificate");
  if (a.public_key.empty() && a.seed.empty() && !tls) return;
  check_key("public key", a.public_key, "U", 56);
  check_key("seed", a.seed, "SU", 58);
}

access read_access(const fs::path& file) {
  const std::string text = text_of(file);
  const auto json = nlohmann::json::parse(text, nullptr, false);
  try {
    if (json.is_discarded()) throw std::invalid_argument("expected a key file of Cleave");
    access a = access_of(json);
    check(a);
    a.file = file.string();
    return a;
  } catch (const std::exception& e) { refuse(file.string(), e.what()); }
}

access read_machines_access(const fs::path& file) {
  access a = read_access(file);
  if (a.name == relay_name)
    refuse(file.string(),
           "expected a machine's key (cleave invite NAME), got that of the relay of " + a.site);
  return a;
}

void write_access(const fs::path& file, const access& a, cleave::machine::saved_file::kind as) {
  try {
    check(a);
  } catch (const std::invalid_argument& e) { refuse(file.string(), e.what()); }
  nlohmann::ordered_json out{{"cleave", 1}, {"site", a.site}, {"name", a.name}, {"urls", a.urls}};
  if (!a.authority.empty()) out["authority"] = a.authority;
  if (!a.public_key.empty()) out["public"] = a.public_key, out["seed"] = a.seed;
  try {
    cleave::machine::saved_file to(file.string(), as);
    to.write(out.dump(2) + "\n");
    to.keep();
  } catch (const std::runtime_error& e) { throw std::invalid_argument(e.what()); }
}

fs::path find_key(const std::string& where) {
  if (where.find("://") == where.npos) return where;
  try {
    parse_url(where);
  } catch (const std::invalid_argument& e) { refuse(where, e.what()); }
  if (const char* set = std::getenv("CLEAVE_KEY"); set != nullptr && *set != '\0') return set;
  const fs::path folder = folder_of_keys();
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".cleave") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const access a = read_access(file);
    if (std::find(a.urls.begin(), a.urls.end(), where) != a.urls.end()) return file;
  }
  refuse(where, "expected its key file in $CLEAVE_KEY or in " + folder.string() + "/*.cleave");
}

access find_access(const std::string& where) {
  access a = read_machines_access(find_key(where));
  if (where.find("://") == where.npos) return a;
  a.urls = {where};
  try {
    check(a);
  } catch (const std::invalid_argument& e) { refuse(where, e.what()); }
  return a;
}

}  // namespace cleave::net::nats
