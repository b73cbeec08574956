#include "relay/invite.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <random>
#include <stdexcept>

#include "gang/channel.hpp"
#include "nats/access.hpp"
#include "relay/folder.hpp"
#include "relay/keys.hpp"
#include "relay/run.hpp"
#include "support/command_line.hpp"

namespace relay {
namespace {

namespace fs = std::filesystem;
namespace nats = cleave::net::nats;
using gang::channel;

constexpr auto loopback = "127.0.0.1";

fs::path folder_of(const std::string& given) {
  return given.empty() ? default_folder() : fs::path(given);
}

// The host's name, up to its first dot.
std::string name_of_host() {
  char name[HOST_NAME_MAX + 1] = "";
  gethostname(name, sizeof name - 1);
  std::string site(name);
  site.resize(std::min({site.size(), site.find('.'), std::size_t{64}}));
  for (char& c : site)
    if (!is_token(std::string(1, c))) c = '-';
  return site.empty() ? "site" : site;
}

// This machine's address as others see it: the one from which the machine would send to far away.
// Nothing is sent.
std::string own_address() {
  const channel to(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET, address.sin_port = htons(9);
  inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);  // an address that nobody has: RFC 5737
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  char text[INET_ADDRSTRLEN] = "";
  if (connect(to.descriptor(), any, size) != 0 || getsockname(to.descriptor(), any, &size) != 0 ||
      inet_ntop(AF_INET, &address.sin_addr, text, sizeof text) == nullptr)
    return loopback;
  return text;
}

// A port at which nobody listens, and none of those that the system gives to whoever asks for any,
// so that it is likely to be free after a restart too.
int free_port(const std::string& listen) {
  const bool old = listen.find(':') == std::string::npos;
  sockaddr_storage address{};
  auto* const four = reinterpret_cast<sockaddr_in*>(&address);
  auto* const six = reinterpret_cast<sockaddr_in6*>(&address);
  address.ss_family = old ? AF_INET : AF_INET6;
  inet_pton(address.ss_family, listen.c_str(),
            old ? static_cast<void*>(&four->sin_addr) : static_cast<void*>(&six->sin6_addr));
  std::random_device random;
  std::uniform_int_distribution<int> any(10'000, 32'000);
  for (int tries = 0; tries < 1'000; ++tries) {
    const int port = any(random);
    (old ? four->sin_port : six->sin6_port) = htons(static_cast<std::uint16_t>(port));
    const channel at(socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const socklen_t size = old ? sizeof *four : sizeof *six;
    if (bind(at.descriptor(), reinterpret_cast<const sockaddr*>(&address), size) == 0) return port;
    if (errno != EADDRINUSE) break;
  }
  throw apps::usage_error(fmt::format("--listen: '{}': {}", listen, std::strerror(errno)));
}

// Puts what the command line says over what the folder says.
void change(configuration& c, const wanted& w) {
  if (!w.hosts.empty()) c.hosts = w.hosts;
  for (const auto& host : c.hosts)
    if (!is_host(host))
      throw apps::usage_error(fmt::format("--host: '{}': expected a name or an address", host));
  if (!w.listen.empty()) c.listen = w.listen;
  if (!is_address(c.listen))
    throw apps::usage_error(fmt::format("--listen: '{}': expected an address", c.listen));
  const bool local =
      nats::is_loopback(c.listen) && std::all_of(c.hosts.begin(), c.hosts.end(), nats::is_loopback);
  if (c.plain && !local)
    throw apps::usage_error("--plain: expected nothing but loopback addresses with it");
  if (w.port >= 0) c.port = w.port;
  if (c.port == 0) c.port = free_port(c.listen);
}

configuration new_configuration(const wanted& w, const std::string& site) {
  configuration c;
  c.site = site;
  c.plain = w.plain;
  c.listen = c.plain ? loopback : "0.0.0.0";
  if (!w.listen.empty() && w.listen != "0.0.0.0" && w.listen != "::") c.hosts = {w.listen};
  else c.hosts = {c.plain ? loopback : own_address()};
  c.port = 4222;
  c.bridge_key = make_nkey().public_key;  // nobody has it until the bridge runs
  change(c, w);
  return c;
}

std::string names(const std::vector<member>& members) {
  std::string all;
  for (const auto& m : members) all += (all.empty() ? "" : ", ") + m.name;
  return all.empty() ? "nobody" : all;
}

// The name of a site's relay, without those of the relays above.
std::string last_of(const std::string& site) { return site.substr(site.rfind('.') + 1); }

// From now on the relay joins another one. The names of sites below it begin with its own then.
void join(configuration& c, const fs::path& folder) {
  for (const auto& m : c.members)
    if (m.is_relay && !c.upstream)
      throw apps::usage_error(
          fmt::format("--upstream: '{}': expected no relay below this, which joins the one above "
                      "first; has invited: {} (cleave revoke)",
                      folder.string(), m.name));
  c.upstream = true;
}

auto find(std::vector<member>& members, const std::string& name) {
  return std::find_if(members.begin(), members.end(), [&](auto& m) { return m.name == name; });
}

}  // namespace

int make_and_run(const wanted& w) {
  const fs::path folder = folder_of(w.folder);
  find_server();  // if there is none, nothing has been made yet
  if (!w.site.empty() && !is_token(w.site))
    throw apps::usage_error(
        fmt::format("--site: '{}': expected letters, digits, _ and -, at most 64", w.site));
  access above;
  if (!w.upstream.empty()) {
    above = nats::read_access(w.upstream);
    if (above.name != relay_name)
      throw apps::usage_error(fmt::format(
          "--upstream: '{}': expected a relay's key (cleave invite --relay), got that of {}.{}",
          w.upstream, above.site, above.name));
    if (!w.site.empty() && w.site != last_of(above.site))
      throw apps::usage_error(fmt::format("--upstream: '{}': expected the key of site {}, got {}'s",
                                          w.upstream, w.site, above.site));
  }
  const std::string& site = above.site.empty() ? w.site : above.site;
  if (!is_folder(folder))
    make_folder(folder, new_configuration(w, site.empty() ? name_of_host() : site));
  configuration c = read_folder(folder);
  if (!site.empty() && site != (above.site.empty() ? last_of(c.site) : c.site))
    throw apps::usage_error(
        fmt::format("'{}': expected site {}, got {}'s relay", folder.string(), site, c.site));
  if (w.plain && !c.plain)
    throw apps::usage_error(fmt::format("'{}': was made without --plain", folder.string()));
  change(c, w);
  if (!w.upstream.empty()) join(c, folder);
  return run(folder, std::move(c), above);
}

int invite(const std::string& given, const std::string& name, bool for_relay, std::string output) {
  const fs::path folder = folder_of(given);
  if (!is_token(name))
    throw apps::usage_error(
        fmt::format("NAME: '{}': expected letters, digits, _ and -, at most 64", name));
  if (output.empty()) output = name + ".cleave";
  std::string who;
  {
    read_folder(folder);  // throws if it is no relay's folder
    const changing now(folder);
    configuration c = read_folder(folder);
    if (find(c.members, name) != c.members.end())
      throw apps::usage_error(
          fmt::format("NAME: '{}': is invited already (cleave revoke takes that back)", name));
    if (!for_relay && name == relay_name)
      throw apps::usage_error("NAME: 'relay': is what relays are called");
    if (for_relay && name == last_of(c.site))
      throw apps::usage_error(fmt::format("NAME: '{}': is this relay's own site", name));
    const auto key = make_nkey();
    const member added{name, for_relay, key.public_key};
    access a = access_to(folder, c);
    a.name = name;
    if (for_relay) a.site = path_of(c, added), a.name = relay_name;
    if (!is_site(a.site))
      throw apps::usage_error(fmt::format("NAME: '{}': is too long as a site's name", a.site));
    a.public_key = key.public_key, a.seed = key.seed;
    nats::write_access(output, a);
    try {
      c.members.push_back(added);
      write_folder(folder, c);
    } catch (...) {
      fs::remove(output);
      throw;
    }
    who = name_of(c, added);
  }
  if (const auto wrong = reload(folder))
    throw std::runtime_error(fmt::format("{} is made, but the running relay: {}", output, *wrong));
  fmt::print("{}: the key of {}; whoever has this file is {}\n", output, who,
             for_relay ? "that relay" : "that machine");
  return 0;
}

int revoke(const std::string& given, const std::string& name) {
  const fs::path folder = folder_of(given);
  {
    read_folder(folder);  // throws if it is no relay's folder
    const changing now(folder);
    configuration c = read_folder(folder);
    const auto found = find(c.members, name);
    if (found == c.members.end())
      throw apps::usage_error(
          fmt::format("NAME: '{}': is not invited; invited: {}", name, names(c.members)));
    c.revoked.push_back(*found);
    c.members.erase(found);
    write_folder(folder, c);
  }
  if (const auto wrong = reload(folder))
    throw std::runtime_error(
        fmt::format("{} is revoked, but the running relay: {}; stop it to be sure", name, *wrong));
  fmt::print("{}: revoked\n", name);
  return 0;
}

}  // namespace relay
