// Two nodes in one process: what travels between them is bytes.
#pragma once

#include <atomic>
#include <cleave/cleave.hpp>
#include <cleave/detail/travel/types.hpp>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tests {

using cleave::detail::byte_reader;
using cleave::detail::byte_writer;
using cleave::detail::replicas;

using bytes = std::vector<std::byte>;

// Of what put_improved() appends where nothing has improved: the lengths of two empty blocks.
constexpr std::size_t empty_size = 16;

// A node that asks one other for what is published there.
class node final : cleave::detail::carrier {
public:
  explicit node(node* other = nullptr) : other_(other) { values.install(this); }

  bytes fetch(cleave::detail::value_name name) override {
    fetched++;
    bytes found;
    if (other_ == nullptr || !other_->values.put_published(name, found))
      throw std::runtime_error("not published there");
    return found;
  }
  void improved() noexcept override { improvements++; }
  void updated() noexcept override { updates++; }

  using carrier::tell;

  replicas values;
  int fetched = 0;
  std::atomic<int> improvements = 0, updates = 0;

private:
  node* other_;
};

// The same task on another node.
template <class Work>
std::unique_ptr<cleave::detail::task> sent(cleave::detail::task_of<Work>& t, node& from, node& to) {
  const auto* type = cleave::detail::wire_of<Work>();
  bytes message;
  byte_writer w(message, from.values);
  type->put_input(t, w);
  byte_reader r(message, to.values);
  return cleave::detail::find_wire_type(type->id())->make(r);
}

// Brings back how it ended.
template <class Work>
void returned(cleave::detail::task& there, cleave::detail::task_of<Work>& t, node& from, node& to) {
  const auto* type = cleave::detail::wire_of<Work>();
  bytes message;
  byte_writer w(message, from.values);
  from.values.put_improved(0, w);
  put_outcome(there, *type, w);
  byte_reader r(message, to.values);
  to.values.merge_improved(r);
  get_outcome(t, *type, r);
}

// What a task gives that another node runs.
template <class Work>
auto run_away(Work work, node& home, node& away) {
  cleave::detail::task_of<Work> t(std::move(work));
  const auto there = sent(t, home, away);
  there->execute();
  returned(*there, t, away, home);
  if (t.error) std::rethrow_exception(t.error);
  return std::move(*t.result);
}

template <class Work>
auto run_away(Work work) {
  node home, away(&home);
  return run_away(std::move(work), home, away);
}

}  // namespace tests
