#pragma once

#include <cleave/detail/travel/archive.hpp>
#include <cleave/detail/travel/bytes.hpp>
#include <cleave/detail/travel/replicas.hpp>

#include <cassert>
#include <concepts>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cleave {

/// Data that tasks read and nobody changes: a graph, a puzzle, long arrays.
///
///     cleave::published<graph> g(load(file));
///     ... struct piece { cleave::published<graph> g; int from, to; auto input() { return
/// std::tie(g, from, to); } ... };
///
/// This is a handle; copies of it mean the same data. It travels in input() or as an argument of a
/// call, and the data do not: a node that has not got them fetches them, once, from the node that
/// published them or from another one that has them, when something there first looks at them.
/// Within a process nothing is copied.
/// Freed when no handle is left, or at the end of the job where it has travelled. Only with a
/// result, or a shared value, data travel that the same node has published: it may be lost then.
///
/// T needs to be serializable (see task.hpp) for the handle to travel. Any thread may use a
/// handle, and copies of it.
template <class T>
class published {
public:
  static constexpr bool travels = detail::can_travel<T>();

  /// Refers to nothing, until it is assigned to.
  published() noexcept = default;
  explicit published(T value) : published(std::make_shared<const T>(std::move(value))) {}
  /// Publishes something that others hold too; `value` is not null.
  explicit published(std::shared_ptr<const T> value)
      : data_(std::make_shared<detail::publication>(std::move(value))) {}

  /// The data. Blocks while they are fetched, and answers requests meanwhile as poll() does: not
  /// for the first time in a closure of a step. Throws what fetching threw: std::runtime_error if
  /// their node is gone.
  const T& operator*() const {
    assert(data_ != nullptr);
    return *static_cast<const T*>(data_->value());
  }
  const T* operator->() const { return &**this; }
  explicit operator bool() const noexcept { return data_ != nullptr; }

  /// put() and get() are for archives.
  void put(detail::byte_writer& w) const requires travels {
    w.put(data_ != nullptr);
    if (data_) w.node().put_handle(data_, functions, w);
  }
  void get(detail::byte_reader& r) requires travels {
    data_ = r.get<bool>() ? r.node().get_handle(functions, r) : nullptr;
  }

private:
  static void put_data(const void* value, detail::byte_writer& w) {
    detail::put_value(w, *static_cast<const T*>(value));
  }
  static std::shared_ptr<const void> get_data(detail::byte_reader& r) {
    auto value = std::make_shared<T>();
    detail::get_value(r, *value);
    r.expect_end();
    return value;
  }
  static constexpr detail::publication::functions functions{&put_data, &get_data};

  std::shared_ptr<detail::publication> data_;
};

#if CLEAVE_HAVE_CEREAL
template <class T>
struct detail::parts_of<published<T>> {
  using type = std::tuple<T>;
};
#endif

}  // namespace cleave
