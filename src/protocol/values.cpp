#include "protocol/values.hpp"

namespace cleave::net {

void values::on_update(const shared_update& m) {
  all_.core.merge(m.values, false);
  spread(m.last, m.values);
}

void values::spread(address last, const bytes& newest) {
  peers_.spread(last, all_.how.update_branches, [&newest](address up_to) {
    return shared_update{up_to, newest};
  });
}

}  // namespace cleave::net
