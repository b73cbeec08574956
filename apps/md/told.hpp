// What a block tells the blocks around it, or is told by them, in each of 13 directions. What goes
// to the blocks of one node is one datum.
#pragma once

#include <cleave/cleave.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "grid.hpp"

namespace apps::md::parallel {

template <class T>
class told {
public:
  using list = std::vector<T>;
  using lists = std::vector<cleave::datum<list>>;

  // What goes in direction k shares a list with all that has the same key. make() makes a list.
  template <class Make>
  void add(int k, int key, const Make& make) {
    const std::size_t number = number_of(key);
    if (number == lists_.size()) {
      lists_.push_back(make());
      sizes_.push_back(0);
    }
    places_[k] = {number, sizes_[number]++};
  }
  // Direction k is that of another block, whose number is `block`.
  void read(int k, const told& others, int block) {
    const auto [theirs, at] = others.places_[k];
    const std::size_t number = number_of(block * half + static_cast<int>(theirs));
    if (number == lists_.size()) lists_.push_back(others.lists_[theirs]);
    places_[k] = {number, at};
  }

  const lists& data() const { return lists_; }
  // Direction k, in the values of data().
  const T& in(const cleave::values<const list>& all, int k) const {
    return all[places_[k].list][places_[k].at];
  }
  T& in(const cleave::values<list>& all, int k) const {
    list& of = all[places_[k].list];
    if (of.empty()) of.resize(sizes_[places_[k].list]);
    return of[places_[k].at];
  }

private:
  struct place {
    std::size_t list = 0, at = 0;
  };
  // The number of its list: the next one for a new key.
  std::size_t number_of(int key) {
    const auto at = std::ranges::find(keys_, key);
    const auto number = static_cast<std::size_t>(at - keys_.begin());
    if (at == keys_.end()) keys_.push_back(key);
    return number;
  }

  lists lists_;
  std::vector<int> keys_;           // of each list
  std::vector<std::size_t> sizes_;  // of those that this block writes
  std::array<place, half> places_;  // by direction
};

}  // namespace apps::md::parallel
