#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/core_port.hpp"
#include "protocol/encoding.hpp"

namespace sim {

namespace net = cleave::net;

/// The gathered variable of all simulated nodes: the list of all updates. An update says who made
/// it, and how many that process had made before.
class gathered_list final : public net::gathered_port {
public:
  using entry = std::pair<net::incarnation, std::uint64_t>;
  static constexpr net::gathered_name name{0, 1};

  net::bytes make(net::incarnation by) {
    net::bytes update;
    put(net::writer(update), {by, ++made_});
    return update;
  }
  std::uint64_t made() const { return made_; }
  const std::vector<entry>& all() const { return all_; }
  /// What is wrong with the list of the home, or nothing.
  std::string fault() const {
    std::map<net::incarnation, std::uint64_t> last;
    for (const auto& [by, number] : all_)
      if (number != ++last[by]) return "updates of a gathered variable are lost, or twice there";
    return {};
  }

  bool has(const net::gathered_name& which) const override { return which == name; }
  void arrived(const net::gathered_name&, std::uint64_t,
               const std::vector<net::ordered_update>& updates) override {
    for (const net::ordered_update& u : updates) all_.push_back(get(net::reader(u.update)));
  }
  std::optional<net::gathered_state> here(const net::gathered_name&) const override {
    net::bytes value;
    for (const entry& e : all_) put(net::writer(value), e);
    return net::gathered_state{value, 0};
  }
  void replaced(const net::gathered_name&, const net::gathered_value& m,
                const std::vector<net::bytes>&) override {
    all_.clear();
    constexpr std::size_t size = 16;
    for (std::size_t i = 0; i + size <= m.value.size(); i += size)
      all_.push_back(get(net::reader(std::span(m.value).subspan(i, size))));
  }
  void taken(const net::gathered_name&, std::uint64_t, std::uint64_t) override {}
  void gone(const net::gathered_name&) override {}

private:
  static void put(net::writer w, const entry& e) { w.fixed(e.first), w.fixed(e.second); }
  static entry get(net::reader r) {
    const std::uint64_t by = r.fixed();
    return {by, r.fixed()};
  }

  std::vector<entry> all_;
  std::uint64_t made_ = 0;
};

}  // namespace sim
