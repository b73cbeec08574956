#pragma once

#include "protocol/core_port.hpp"

namespace cleave::net {

/// A core that does nothing, and has nothing.
struct idle_core : core_port {
  void ask(unsigned, std::uint64_t) override {}
  bool withdraw(unsigned) override { return true; }
  bool start(asker, const traveller&) override { return true; }
  void refuse(asker) override {}
  void complete(std::uint64_t, const outcome&) override {}
  void again(std::uint64_t, unsigned) override {}
  void cancel(std::uint64_t) override {}
  load state() const override { return {}; }
  bytes shared() const override { return {}; }
  bytes merge(std::span<const std::byte>, bool) override { return {}; }
  std::optional<bytes> publication(std::uint64_t) const override { return {}; }
  void fetched(address, std::uint64_t, std::optional<bytes>) override {}
};

}  // namespace cleave::net
