#include "relay/folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "machine/saved_file.hpp"
#include "relay/keys.hpp"
#include "support/command_line.hpp"

namespace relay {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

[[noreturn]] void refuse(const fs::path& what, const std::string& why) {
  throw apps::usage_error(fmt::format("'{}': {}", what.string(), why));
}

[[noreturn]] void fail(const fs::path& what) {
  throw std::runtime_error(fmt::format("'{}': {}", what.string(), std::strerror(errno)));
}

// Writes a file that its owner alone may read; all of it or nothing.
void write(const fs::path& file, const std::string& text) {
  cleave::machine::saved_file to(file.string(), cleave::machine::saved_file::kind::secret);
  to.write(text);
  to.keep();
}

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) refuse(file, "cannot be read");
  return text;
}

json as_json(const std::vector<member>& members) {
  json all = json::array();
  for (const auto& m : members)
    all.push_back({{"name", m.name}, {"relay", m.is_relay}, {"public", m.public_key}});
  return all;
}

std::vector<member> members_of(const json& all) {
  std::vector<member> members;
  for (const auto& m : all) {
    members.push_back({m.at("name"), m.at("relay"), m.at("public")});
    if (!is_token(members.back().name) || !is_token(members.back().public_key))
      throw std::invalid_argument("a member");
  }
  return members;
}

// Checks that the folder is its owner's alone.
void check_mode(const fs::path& folder) {
  struct stat s {};
  if (stat(folder.c_str(), &s) != 0 || !S_ISDIR(s.st_mode)) refuse(folder, "no folder");
  if (s.st_uid != geteuid()) refuse(folder, "belongs to another user");
  if ((s.st_mode & 077) != 0)
    refuse(folder, fmt::format("expected mode 700, got {:o} (chmod 700)", s.st_mode & 0777));
}

fs::path in_config_home() {
  if (const char* const home = std::getenv("XDG_CONFIG_HOME"); home != nullptr && *home)
    return home;
  if (const char* const home = std::getenv("HOME"); home != nullptr && *home)
    return fs::path(home) / ".config";
  throw apps::usage_error("--folder: expected a folder, got none, and HOME is not set");
}

std::string user(const std::string& key, const std::vector<std::string>& publish,
                 const std::vector<std::string>& publish_not,
                 const std::vector<std::string>& subscribe) {
  const json nothing = {{"deny", ">"}};  // an empty list would allow all
  json may_publish = {{"allow", publish}}, may_subscribe = {{"allow", subscribe}};
  if (!publish_not.empty()) may_publish["deny"] = publish_not;
  return fmt::format("    {{ nkey: {}, permissions: {{ publish: {}, subscribe: {} }} }}\n", key,
                     (publish.empty() ? nothing : may_publish).dump(),
                     (subscribe.empty() ? nothing : may_subscribe).dump());
}

std::string url(const configuration& c, const std::string& host) {
  const bool brackets = host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", c.plain ? "nats" : "tls", brackets ? "[" : "", host,
                     brackets ? "]" : "", c.port);
}

}  // namespace

fs::path default_folder() { return in_config_home() / "cleave" / "relay"; }

bool is_host(const std::string& text) {
  if (is_address(text)) return true;
  return !text.empty() && text.size() <= 253 && text[0] != '-' && text[0] != '.' &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_';
         });
}

bool is_folder(const fs::path& folder) { return fs::exists(folder / "relay.json"); }

void make_folder(const fs::path& folder, const configuration& c) {
  if (fs::exists(folder) && (!fs::is_directory(folder) || !fs::is_empty(folder)))
    refuse(folder, "expected a relay's folder, an empty one or none");
  const auto where = fs::absolute(folder).lexically_normal();
  std::string part = (where.has_filename() ? where : where.parent_path()).string() + ".XXXXXX";
  std::error_code failed;
  fs::create_directories(fs::path(part).parent_path(), failed);
  if (mkdtemp(part.data()) == nullptr) fail(folder);  // mode 700
  try {
    if (!c.plain) {
      const auto authority = make_authority(c.site);
      write(fs::path(part) / "authority.key", authority.key);
      write(fs::path(part) / "authority.crt", authority.certificate);
    }
    write_folder(part, c);
    if (rename(part.c_str(), where.has_filename() ? where.c_str() : where.parent_path().c_str()) !=
        0)
      fail(folder);
  } catch (...) {
    fs::remove_all(part, failed);
    throw;
  }
}

configuration read_folder(const fs::path& folder) {
  if (!is_folder(folder))
    refuse(folder,
           fmt::format("no relay's folder (made by: cleave relay --folder {})", folder.string()));
  check_mode(folder);
  const auto file = folder / "relay.json";
  try {
    const auto j = json::parse(read(file));
    configuration c;
    c.site = j.at("site"), c.hosts = j.at("hosts"), c.listen = j.at("listen");
    c.port = j.at("port"), c.plain = j.at("plain"), c.upstream = j.at("upstream");
    c.bridge_key = j.at("bridge");
    c.members = members_of(j.at("members")), c.revoked = members_of(j.at("revoked"));
    if (!is_site(c.site) || !is_address(c.listen) || c.hosts.empty() ||
        !std::all_of(c.hosts.begin(), c.hosts.end(), is_host) || !is_token(c.bridge_key))
      throw std::invalid_argument("a field");
    return c;
  } catch (const apps::usage_error&) { throw; } catch (const std::exception& e) {
    refuse(file, fmt::format("expected what cleave relay has written: {}", e.what()));
  }
}

void write_folder(const fs::path& folder, const configuration& c) {
  const nlohmann::ordered_json j = {{"site", c.site},
                                    {"hosts", c.hosts},
                                    {"listen", c.listen},
                                    {"port", c.port},
                                    {"plain", c.plain},
                                    {"upstream", c.upstream},
                                    {"bridge", c.bridge_key},
                                    {"members", as_json(c.members)},
                                    {"revoked", as_json(c.revoked)}};
  write(folder / "nats-server.conf", server_configuration(c));
  write(folder / "relay.json", j.dump(2) + "\n");
}

void write_certificate(const fs::path& folder, const configuration& c) {
  const identity authority{read(folder / "authority.crt"), read(folder / "authority.key")};
  auto hosts = c.hosts;
  for (const std::string& own : {std::string("localhost"), std::string("127.0.0.1"), c.listen})
    if (std::find(hosts.begin(), hosts.end(), own) == hosts.end()) hosts.push_back(own);
  identity server;
  try {
    server = make_server(authority, hosts);
  } catch (const std::runtime_error& e) {
    refuse(
        folder / "authority.key",
        fmt::format("expected, as in authority.crt, what cleave relay has written: {}", e.what()));
  }
  write(folder / "server.key", server.key);
  write(folder / "server.crt", server.certificate);
}

changing::changing(const fs::path& folder)
    : lock_(open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
  if (lock_ < 0) fail(folder / "lock");
  while (flock(lock_, LOCK_EX) != 0 && errno == EINTR) {}
}
changing::~changing() { close(lock_); }

std::string path_of(const configuration& c, const member& m) {
  return m.is_relay && !c.upstream ? m.name : c.site + "." + m.name;
}

std::string name_of(const configuration& c, const member& m) {
  return (m.is_relay ? "the relay of " : "") + path_of(c, m);
}

std::string server_configuration(const configuration& c) {
  std::string text = fmt::format(
      "# Written by cleave relay from relay.json; what is changed here is lost.\n"
      "server_name: \"cleave-{}\"\n"
      "listen: \"{}:{}\"\n"
      "ping_interval: \"5s\"\n"
      "ping_max: 2\n"
      "write_deadline: \"5s\"\n"
      "debug: true  # else nothing is said of who connects and stays silent\n",
      c.site, c.listen.find(':') == std::string::npos ? c.listen : "[" + c.listen + "]", c.port);
  if (!c.plain) text += "tls { cert_file: \"server.crt\", key_file: \"server.key\", timeout: 2 }\n";
  text += "authorization {\n  timeout: 2\n  users: [\n";
  using namespace cleave::net::nats;
  const auto spoken_by = [](const std::string& who) {
    return std::vector{pattern_to("", who), pattern_to_all(who)};
  };
  const auto heard_by = [](const std::string& who) {
    return std::vector{pattern_to(who, ""), pattern_to_all("")};
  };
  if (!c.bridge_key.empty())  // the bridge may not speak for this site, or for those below it
    text += c.upstream ? user(c.bridge_key, heard_by(c.site), spoken_by(c.site), spoken_by(c.site))
                       : user(c.bridge_key, {}, {}, {});
  for (const auto& m : c.members)
    text += user(m.public_key, spoken_by(path_of(c, m)), {}, heard_by(path_of(c, m)));
  return text + "  ]\n}\n";
}

access access_to(const fs::path& folder, const configuration& c) {
  access a;
  a.site = c.site;
  for (const auto& host : c.hosts) a.urls.push_back(url(c, host));
  if (!c.plain) a.authority = read(folder / "authority.crt");
  return a;
}

access access_from_here(const fs::path& folder, const configuration& c) {
  access a = access_to(folder, c);
  const bool any = c.listen == "0.0.0.0" || c.listen == "::";
  a.urls = {url(c, any ? "127.0.0.1" : c.listen)};
  return a;
}

}  // namespace relay
