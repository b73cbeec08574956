#include "commands.hpp"

#include <string>
#include <vector>

#include "support/command_line.hpp"

#ifdef CLEAVE_WITH_SITES
#include "relay/invite.hpp"
#endif

namespace relay {
namespace {

struct parts {
  std::string folder, site, listen, upstream, name, output;
  std::vector<std::string> hosts;
  int port = -1;
  bool plain = false, for_relay = false;

  apps::command_line relay, invite, revoke;

  explicit parts(apps::command_line& program)
      : relay(program, "relay", "Be the relay of a site, until interrupted"),
        invite(program, "invite", "Make a key for one more machine of the site"),
        revoke(program, "revoke", "Take a key back, and cut off who uses it") {
    for (auto* c : {&relay, &invite, &revoke})
      c->option("--folder", "FOLDER", folder,
                "The relay's own (default: cleave/relay in $XDG_CONFIG_HOME or ~/.config)");
    relay.option("--site", "NAME", site, "The site's name (default: this machine's)");
    relay.option_list("--host", "NAME", hosts,
                      "Names or addresses under which machines reach it (default: its address)");
    relay.option("--listen", "ADDRESS", listen, "Listen on this one (default: on all, 0.0.0.0)");
    relay.option_number("--port", port, 0, 65535,
                        "Listen on this one (default: 4222); 0: on a free one, from then on");
    relay.option("--upstream", "FILE", upstream,
                 "Join the relay that made this key for the site (cleave invite --relay)");
    relay.flag("--plain", plain, "Without TLS, on 127.0.0.1 only");
    invite.optional_text("NAME", name, "What the machine will be called");
    invite.flag("--relay", for_relay, "Of another site: NAME is the site, and the key its relay's");
    invite.option("--output,-o", "FILE", output, "The key file (default: NAME.cleave)");
    revoke.optional_text("NAME", name, "The machine, or the site whose relay it is");
  }
};

class group final : public apps::command_group {
public:
  explicit group(apps::command_line& program) : parts_(program) {}
  bool given() const override {
    return parts_.relay.parsed() || parts_.invite.parsed() || parts_.revoke.parsed();
  }
  int run() override;

private:
  parts parts_;
};

int group::run() {
#ifdef CLEAVE_WITH_SITES
  const parts& p = parts_;
  if (p.relay.parsed())
    return relay::make_and_run({p.folder, p.site, p.listen, p.upstream, p.hosts, p.port, p.plain});
  if (p.name.empty()) throw apps::usage_error("NAME: expected a name, got nothing");
  if (p.revoke.parsed()) return relay::revoke(p.folder, p.name);
  return relay::invite(p.folder, p.name, p.for_relay, p.output);
#else
  throw apps::usage_error(
      "this cleave was built without OpenSSL or nats.c (Debian and Ubuntu: libssl-dev, "
      "libnats-dev), which relays need");
#endif
}

}  // namespace

std::unique_ptr<apps::command_group> commands(apps::command_line& program) {
  return std::make_unique<group>(program);
}

}  // namespace relay
