#pragma once

#include "protocol/neighbours.hpp"

namespace cleave::net {

/// Shared values that go to all nodes.
class values {
public:
  values(const surroundings& all, neighbours& peers) : all_(all), peers_(peers) {}

  /// Shared values were improved here.
  void improved(const bytes& newest) { spread(all_.self.self - 1, newest); }
  void on_update(const shared_update& m);

private:
  void spread(address last, const bytes& newest);

  const surroundings& all_;
  neighbours& peers_;
};

}  // namespace cleave::net
