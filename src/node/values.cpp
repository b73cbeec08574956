#include "node/values.hpp"

#include "transport/launch.hpp"

#include <cleave/detail/travel/gathered.hpp>

#include <cstdio>
#include <stdexcept>
#include <vector>

namespace cleave::net {
namespace {

detail::replicas& of_process() noexcept { return detail::replicas_of_process(); }

/// One line, with what an exception says.
void complain(const std::string& line, const std::exception_ptr& thrown) {
  std::string why;
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const std::exception& e) { why = std::string(": ") + e.what(); } catch (...) {
    why = ": something that is no std::exception was thrown";
  }
  std::fprintf(stderr, "cleave: %s%s\n", line.c_str(), why.c_str());
}

/// The number of a node in the names of its values: 0 is no node's.
std::uint64_t maker_of(address node) noexcept { return node + 1; }
address node_of(std::uint64_t maker) noexcept { return maker - 1; }

}  // namespace

void value_exchange::carry(detail::carrier& by) {
  of_process().identify(maker_of(out_.self().self), is_first_rank());
  of_process().install(&by);
  of_process().gathered().begin_job();
}

void value_exchange::tell(instant at, node& protocol) {
  std::vector<std::pair<address, std::uint64_t>> to_fetch;
  bool better = false;
  {
    std::lock_guard lock(mutex_);
    for (auto& [name, wait] : wanted_) {
      if (!std::exchange(wait->asked, true)) to_fetch.push_back(name);
    }
    better = std::exchange(improved_, false);
  }
  for (const auto& [publisher, id] : to_fetch) protocol.fetch_from(at, publisher, id);
  if (!better) return;
  bytes newest;
  sent_version_ = improved_since(sent_version_, newest);
  protocol.improved(at, newest);
}

void value_exchange::forget() { of_process().forget_unused(); }

bytes value_exchange::shared() const {
  bytes all;
  improved_since(0, all);
  return all;
}

/// Appends the values that improved since `version`; returns the version that this is. Complains of
/// what cannot be written.
std::uint64_t value_exchange::improved_since(std::uint64_t version, bytes& newest) const {
  std::exception_ptr failed;
  detail::byte_writer w(newest);
  const std::uint64_t is = of_process().put_improved(version, w, &failed);
  if (failed) complain("a shared value cannot be written", failed);
  return is;
}

std::exception_ptr value_exchange::take_in(std::span<const std::byte> from,
                                           bool passed_on) noexcept {
  try {
    detail::byte_reader r(from);
    of_process().merge_improved(r, passed_on);
    return nullptr;
  } catch (...) {
    complain("a shared value cannot be read", std::current_exception());
    return std::current_exception();
  }
}

std::optional<bytes> value_exchange::publication(std::uint64_t id) const {
  try {
    bytes contents;
    if (!of_process().put_published({maker_of(out_.self().self), id}, contents))
      return std::nullopt;
    out_.check_length(contents, "published data");
    return contents;
  } catch (...) { complain("published data cannot be written", std::current_exception()); }
  return std::nullopt;
}

bytes value_exchange::fetch(detail::value_name name, detail::carrier& by,
                            const std::atomic<bool>& over) {
  auto wait = std::make_shared<wait_for_data>();
  {
    std::lock_guard lock(mutex_);
    auto& entry = wanted_[{node_of(name.maker), name.number}];
    if (entry == nullptr) entry = wait;
    wait = entry;
  }
  out_.carrier().ring();
  by.await([&] { return wait->arrived || over; });
  if (!wait->arrived || !wait->contents)
    throw std::runtime_error(
        "cleave: published data cannot be had: its node does not have it, or is gone");
  return *wait->contents;
}

void value_exchange::fetched(address publisher, std::uint64_t id, std::optional<bytes> contents) {
  std::lock_guard lock(mutex_);
  const auto entry = wanted_.find({publisher, id});
  if (entry == wanted_.end()) return;
  entry->second->contents = std::move(contents);
  entry->second->arrived = true;
  wanted_.erase(entry);
}

void value_exchange::improved() {
  {
    std::lock_guard lock(mutex_);
    improved_ = true;
  }
  out_.carrier().ring();
}

}  // namespace cleave::net
