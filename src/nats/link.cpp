#include "nats/link.hpp"

#include "nats/parts.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace cleave::net::nats {
namespace {

// Parts are no longer than this, so that what follows one does not wait long.
constexpr std::size_t longest_part = std::size_t{256} << 10;

// arrived() and ended() are called in threads of nats.c.

void arrived(natsConnection*, natsSubscription*, natsMsg* message, void* to) {
  if (message == nullptr) return;
  if (auto said = read_subject(natsMsg_GetSubject(message))) {
    const auto* const content = reinterpret_cast<const std::byte*>(natsMsg_GetData(message));
    letter one{std::move(said->from),
               !said->to,
               std::move(said->topic),
               natsMsg_IsNoResponders(message),
               {}};
    one.content.assign(content, content + natsMsg_GetDataLength(message));
    (*static_cast<std::shared_ptr<inbox>*>(to))->put(std::move(one));
  }
  natsMsg_Destroy(message);
}

void ended(void* to) {
  const std::unique_ptr<std::shared_ptr<inbox>> owned(static_cast<std::shared_ptr<inbox>*>(to));
  (*owned)->suspect();
}

}  // namespace

link::~link() {
  natsConnection_Close(nats_.get());
  for (natsSubscription* s : subscriptions_) natsSubscription_Destroy(s);
}

std::string link::why() const {
  if (pulse_.is_silent()) return "it does not answer";
  const char* text = nullptr;
  const natsStatus s = natsConnection_GetLastError(nats_.get(), &text);
  if (s == NATS_OK || s == NATS_CONNECTION_CLOSED || text == nullptr || *text == '\0')
    return "it closed the connection";
  return text;
}

std::size_t link::most_bytes() const noexcept {
  const auto most = std::max<std::int64_t>(natsConnection_GetMaxPayload(nats_.get()), 0);
  return std::clamp(static_cast<std::size_t>(most), 2 * part_header, longest_part);
}

bool link::is_forbidden() const noexcept {
  const char* text = nullptr;
  return natsConnection_GetLastError(nats_.get(), &text) == NATS_NOT_PERMITTED;
}

bool link::publish(const std::string& subject, const std::string& reply,
                   std::span<const std::byte> content) noexcept {
  const auto size = static_cast<int>(content.size());
  const natsStatus s =
      reply.empty() ? natsConnection_Publish(nats_.get(), subject.c_str(), content.data(), size)
                    : natsConnection_PublishRequest(nats_.get(), subject.c_str(), reply.c_str(),
                                                    content.data(), size);
  if (s != NATS_OK) broken_ = true;
  return s == NATS_OK;
}

bool link::subscribe(const std::string& subject, const std::shared_ptr<inbox>& to) {
  auto closure = std::make_unique<std::shared_ptr<inbox>>(to);
  natsSubscription* made = nullptr;
  if (natsConnection_Subscribe(&made, nats_.get(), subject.c_str(), arrived, closure.get()) !=
      NATS_OK)
    return false;
  subscriptions_.push_back(made);
  natsSubscription_SetPendingLimits(made, -1, -1);  // the inbox has limits of its own
  const natsStatus s = natsSubscription_SetOnCompleteCB(made, ended, closure.get());
  // If the connection is lost by now, nats.c's thread may still use the closure.
  static_cast<void>(closure.release());
  return s == NATS_OK;
}

}  // namespace cleave::net::nats
