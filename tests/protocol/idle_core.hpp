#pragma once

#include "protocol/core_port.hpp"

namespace cleave::net {

/// A node without gathered variables.
struct no_gathered final : gathered_port {
  bool has(const gathered_name&) const override { return false; }
  void arrived(const gathered_name&, std::uint64_t, const std::vector<ordered_update>&) override {}
  std::optional<gathered_state> here(const gathered_name&) const override { return {}; }
  void replaced(const gathered_name&, const gathered_value&, const std::vector<bytes>&) override {}
  void taken(const gathered_name&, std::uint64_t, std::uint64_t) override {}
  void gone(const gathered_name&) override {}
};

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
