#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "sim/gathered.hpp"
#include "sim/world.hpp"

namespace sim {

/// A node of the world: a process, or the place where one was.
struct world::machine final : net::network_port {
  world& in;
  unsigned number;
  std::uint64_t generation = 0;
  bool alive = false;
  bool foreign = false;
  net::incarnation process = 0;
  std::unique_ptr<sim::core> core;
  gathered_list gathered;
  std::unique_ptr<protocol> node;
  instant tick_at = instant::max();
  std::optional<std::uint64_t> started_at_leave;

  machine(world& w, unsigned n) : in(w), number(n) {}
  void send(net::address to, net::message m) override { in.send(number, to, std::move(m)); }
  void say(const std::string& line) override {
    if (in.how_.logs) in.note("node " + std::to_string(number) + ": " + line);
  }
};

}  // namespace sim
