#include "cosched/descriptors.hpp"

namespace cleave::cosched {

void descriptors::begin_look() noexcept {
  ready_ = false;
  all_.clear();
}

void descriptors::count(int ready) noexcept {
  if (ready <= 0 || ready_) return;
  ready_ = true;
  ++events_;
}

void descriptors::asked(const pollfd* some, nfds_t n, int ready) {
  all_.insert(all_.end(), some, some + n);
  count(ready);
}

void descriptors::asked(int epoll, int ready) {
  all_.push_back({epoll, POLLIN, 0});
  count(ready);
}

}  // namespace cleave::cosched
