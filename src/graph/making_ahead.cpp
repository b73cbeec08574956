#include "graph/making_ahead.hpp"

#include "core/pool.hpp"
#include "core/worker.hpp"

namespace cleave::detail {
namespace {

/// Both are for each worker. So few keep a worker busy while a message travels; the memory of as
/// many as `many` stays in its caches.
constexpr std::uint32_t few_ahead = 64, many = 512;

}  // namespace

making_ahead::making_ahead(group_scope& of, message_watch* messages) noexcept
    : of_(of),
      messages_(of.owner == nullptr || of.owner->of.cpus.oversubscribed ? nullptr : messages),
      few_(few_ahead * workers_of(of)),
      patience_(many * workers_of(of)) {}

making_ahead::~making_ahead() {
  if (of_.owner != nullptr && of_.owner->glances == &messages_) of_.owner->glances = nullptr;
}

/// Runs what is ready, and looks for messages after each subtask. Returns whether there was one.
bool making_ahead::run_ready() noexcept {
  bool any = false;
  for (; ahead() > few_ && help(of_); any = true) messages_.glance();
  return any;
}

void making_ahead::go_on() noexcept {
  if (of_.owner->glances != &messages_) {  // another graph's, or none
    if (of_.owner->glances != nullptr) of_.owner->glances->end();
    of_.owner->glances = &messages_;
  }
  const bool enough = ahead() > few_;
  // What is ready goes before what is made, and while nothing is, a message may make it so.
  if (!run_ready() && (enough || ++calls_ % 4 == 0)) {
    messages_.glance();
    run_ready();
  }
  // One that waited in vain has more made before it waits again.
  if (ahead() > patience_ && !messages_.until([&] { return help(of_); }))
    patience_ += patience_ / 8;
}

}  // namespace cleave::detail
