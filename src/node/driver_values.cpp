#include "node/driver.hpp"

#include <cleave/detail/travel/types.hpp>

#include <cstdio>
#include <stdexcept>
#include <utility>

// Shared values and published data, between the workers here and other nodes.
namespace cleave::net {
namespace {

detail::replicas& values() noexcept { return detail::replicas_of_process(); }

/// So long after somebody has asked for it, what was written is kept.
constexpr std::chrono::seconds published_kept{5};

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

/// From now on values of this process go to other nodes, and those of others come here.
void driver::carry_values() {
  values().identify(maker_of(carries_->self()), is_first_rank());
  values().install(this);
}

/// Data to be fetched, and shared values that have improved.
void driver::tell_requests(instant at) {
  if (at > last_published_.until) last_published_ = {};
  std::vector<std::pair<address, std::uint64_t>> to_fetch;
  bool better = false;
  {
    std::lock_guard lock(mutex_);
    for (auto& [name, wait] : wanted_data_) {
      if (!std::exchange(wait->asked, true)) to_fetch.push_back(name);
    }
    better = std::exchange(improved_, false);
  }
  for (const auto& [publisher, id] : to_fetch) protocol_->fetch_from(at, publisher, id);
  if (!better) return;
  bytes newest;
  sent_version_ = improved_since(sent_version_, newest);
  protocol_->improved(at, std::move(newest));
}

/// No task of another node is here any more.
void driver::forget_values() {
  if (team_task_ != nullptr) return;
  {
    const std::lock_guard lock(mutex_);
    if (led_) return;
  }
  values().forget_unused();
}

bytes driver::shared() const {
  bytes all;
  improved_since(0, all);
  return all;
}

/// Appends them; returns the version that this is. What cannot be written is said.
std::uint64_t driver::improved_since(std::uint64_t version, bytes& newest) const {
  std::exception_ptr failed;
  detail::byte_writer w(newest);
  const std::uint64_t is = values().put_improved(version, w, &failed);
  if (failed) complain("a shared value cannot be written", failed);
  return is;
}

/// Returns why one cannot be read, or null.
std::exception_ptr driver::take_in(std::span<const std::byte> from, bool with_result) noexcept {
  try {
    detail::byte_reader r(from);
    values().merge_improved(r, with_result && (!in_.empty() || team_task_ != nullptr));
    return nullptr;
  } catch (...) {
    complain("a shared value cannot be read", std::current_exception());
    return std::current_exception();
  }
}

bytes driver::merge(std::span<const std::byte> from, bool with_result) {
  bytes why;
  detail::byte_writer w(why);
  if (const auto error = take_in(from, with_result)) detail::put_failure(error, w);
  return why;
}

/// Kept for a while: where many nodes ask, to write it for each would keep this thread from all
/// else, and others would take this node for lost.
std::optional<bytes> driver::publication(std::uint64_t id) const {
  try {
    if (last_published_.id != id) {
      bytes contents;
      if (!values().put_published({maker_of(carries_->self()), id}, contents)) return std::nullopt;
      check_length(contents, "published data");
      last_published_ = {id, std::move(contents), {}};
    }
    last_published_.until = now() + published_kept;
    return last_published_.contents;
  } catch (...) { complain("published data cannot be written", std::current_exception()); }
  return std::nullopt;
}

bytes driver::fetch(detail::value_name name) {
  auto wait = std::make_shared<wait_for_data>();
  {
    std::lock_guard lock(mutex_);
    auto& entry = wanted_data_[{node_of(name.maker), name.number}];
    if (entry == nullptr) entry = wait;
    wait = entry;
  }
  carries_->ring();
  await([&] { return wait->arrived || stopping_; });
  if (!wait->arrived || !wait->contents)
    throw std::runtime_error(
        "cleave: published data cannot be had: its node does not have it, or is gone");
  return *wait->contents;
}

void driver::await(const std::function<bool()>& holds) {
  if (!core_->await(holds, *this)) carrier::await(holds);
}

void driver::tell() noexcept {
  carrier::tell();
  core_->tell();
}

void driver::fetched(address publisher, std::uint64_t id, std::optional<bytes> contents) {
  {
    std::lock_guard lock(mutex_);
    const auto entry = wanted_data_.find({publisher, id});
    if (entry == wanted_data_.end()) return;
    entry->second->contents = std::move(contents);
    entry->second->arrived = true;
    wanted_data_.erase(entry);
  }
  tell();
}

void driver::improved() noexcept {
  {
    std::lock_guard lock(mutex_);
    improved_ = true;
  }
  carries_->ring();
}

}  // namespace cleave::net
