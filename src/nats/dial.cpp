#include "nats/dial.hpp"

#include "nats/handshake.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace cleave::net::nats {
namespace {

bool is_refusal(natsStatus status) noexcept {
  return status == NATS_CONNECTION_AUTH_FAILED || status == NATS_SSL_ERROR ||
         status == NATS_SECURE_CONNECTION_WANTED || status == NATS_SECURE_CONNECTION_REQUIRED ||
         status == NATS_NOT_PERMITTED;
}

struct signer {
  const access& who;
  bool unlucky = false;  ///< a signature could not be used: another one will do
};

/// nats.c 3.4 takes a signature that begins with a zero for an empty one.
natsStatus sign(char** error, unsigned char** signature, int* length, const char* nonce,
                void* by) noexcept {
  *error = nullptr;
  auto& of = *static_cast<signer*>(by);
  const natsStatus s = nats_Sign(of.who.seed.c_str(), nonce, signature, length);
  if (s != NATS_OK || **signature != 0) return s;
  std::free(*signature);
  *signature = nullptr;
  of.unlucky = true;
  return NATS_ERR;
}

struct options_freed {
  void operator()(natsOptions* o) const { natsOptions_Destroy(o); }
};

}  // namespace

std::string last_words(natsStatus status) {
  natsStatus of = NATS_OK;
  const char* const last = nats_GetLastError(&of);
  std::string text = natsStatus_GetText(status);
  if (of == status && last != nullptr && *last != '\0') text = last;
  // The text may begin with a place in nats.c's source, as in "(conn.c:565): …".
  if (const auto end = text.find("): "); text.starts_with('(') && end != text.npos)
    text.erase(0, end + 3);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string owner_of(const access& who) {
  return who.site + "." + who.name + (who.file.empty() ? "" : " (" + who.file + ")");
}

nats_connection dial(const access& who, const std::string& url, const dialling& how) {
  const relay_url at = parse_url(url);
  natsOptions* o = nullptr;
  if (natsOptions_Create(&o) != NATS_OK) throw std::bad_alloc();
  const std::unique_ptr<natsOptions, options_freed> options(o);
  natsStatus s = NATS_OK;
  const auto set = [&](natsStatus done) {
    if (s == NATS_OK) s = done;
  };
  set(natsOptions_SetURL(o, url.c_str()));
  set(natsOptions_SetName(o, how.name.c_str()));
  set(natsOptions_SetTimeout(o, how.answer_within.count()));
  set(natsOptions_SetWriteDeadline(o, how.write_within.count()));
  set(natsOptions_SetSendAsap(o, true));
  set(natsOptions_SetNoEcho(o, true));
  set(natsOptions_SetIgnoreDiscoveredServers(o, true));
  set(natsOptions_SetAllowReconnect(o, false));
  set(natsOptions_SetPingInterval(o, 0));
  if (how.on_error != nullptr) set(natsOptions_SetErrorHandler(o, how.on_error, how.closure));
  if (how.on_closed != nullptr) set(natsOptions_SetClosedCB(o, how.on_closed, how.closure));
  // The handshake of a plain connection is watched too: nats.c begins TLS where a server asks for
  // it.
  std::optional<handshake> watched;
  try {
    watched.emplace(who.authority, how.answer_within);
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument((who.file.empty() ? url : who.file) + ": " + e.what());
  }
  const handshake& tls = *watched;
  if (at.tls) {
    set(natsOptions_SetSecure(o, true));
    set(natsOptions_SetExpectedHostname(o, at.host.c_str()));
  }
  signer by{who};
  if (!who.seed.empty()) set(natsOptions_SetNKey(o, who.public_key.c_str(), sign, &by));
  natsConnection* made = nullptr;
  const bool ready = s == NATS_OK;
  do {
    by.unlucky = false;
    if (ready) s = natsConnection_Connect(&made, o);
  } while (s != NATS_OK && by.unlucky);
  nats_connection opened(made);
  if (tls.was_cut_off())
    throw unreachable("relay " + url + ": it does not answer in the middle of TLS");
  if (s == NATS_OK && at.tls && !tls.was_seen())
    throw refused("relay " + url + ": nats.c uses another OpenSSL, whose trust cannot be limited");
  if (s == NATS_OK) return opened;
  const std::string why = "relay " + url + " refuses " + owner_of(who) + ": ";
  if (s == NATS_CONNECTION_AUTH_FAILED) throw key_refused(why + last_words(s));
  if (is_refusal(s)) throw refused(why + last_words(s));
  throw unreachable("relay " + url + ": " + last_words(s));
}

}  // namespace cleave::net::nats
