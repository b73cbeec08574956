#include <cleave/detail/travel/gathered.hpp>
#include <cleave/detail/travel/types.hpp>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "travel/demangled.hpp"
#include "travel/exceptions.hpp"
#include "travel/type_list.hpp"

namespace cleave::detail {

namespace {

constinit type_list<wire_type> all_tasks;

enum class ending : std::uint8_t { result, error, cancelled };

std::exception_ptr cancellation() { return std::make_exception_ptr(cancelled{}); }

ending ending_of(const task& t) noexcept {
  if (!t.error) return ending::result;
  try {
    std::rethrow_exception(t.error);
  } catch (const cancelled&) { return ending::cancelled; } catch (...) {
    return ending::error;
  }
}

}  // namespace

wire_type::wire_type(const std::type_info& work, std::uint64_t layout, const functions& f) noexcept
    : id_([&] {
        name_hash h;
        h.add(work.name());
        h.add(layout);
        return h.value();
      }()),
      mangled_(work.name()),
      f_(f) {
  all_tasks.enter(*this, next_);
}

std::string wire_type::name() const { return demangled(mangled_); }

const wire_type* wire_types() noexcept { return all_tasks.first(); }

const wire_type* find_wire_type(std::uint64_t id) noexcept {
  return all_tasks.find([id](const wire_type& t) { return t.id() == id; });
}

/// Adds the ids of types of values that live on several nodes.
template <class Type>
static void add_ids(name_hash& h, const Type* first, const char* what) {
  std::set<std::uint64_t> ids;
  for (const Type* t = first; t != nullptr; t = t->next()) {
    if (ids.insert(t->id()).second) continue;
    // A library may have a type once more; but two unnamed namespaces have two types.
    if (std::string_view(t->mangled).find("_GLOBAL__N_") != std::string_view::npos)
      throw std::logic_error(std::string("cleave: two types of ") + what + " are named " +
                             demangled(t->mangled) +
                             ": expected different names, also in unnamed namespaces");
  }
  for (const std::uint64_t id : ids) h.add(id);
}

std::uint64_t program_hash() {
  std::vector<const wire_type*> all;
  for (const auto* t = wire_types(); t != nullptr; t = t->next()) all.push_back(t);
  std::sort(all.begin(), all.end(), [](auto* a, auto* b) { return a->id() < b->id(); });
  name_hash h;
  h.add(wire_format);
  for (std::size_t i = 0; i < all.size(); i++) {
    if (i > 0 && all[i]->id() == all[i - 1]->id())
      throw std::logic_error("cleave: two types of tasks are named " + all[i]->name() +
                             ": expected different names, also in unnamed namespaces");
    h.add(all[i]->id());
  }
  add_ids(h, shared_types(), "shared values");
  add_ids(h, gathered_types(), "gathered variables");
  return h.value();
}

void put_failure(const std::exception_ptr& e, byte_writer& w) {
  w.put(static_cast<std::uint8_t>(ending::error));
  const auto bytes = exception_bytes(e);
  w.raw(bytes.data(), bytes.size());
}

void put_outcome(task& t, const wire_type& type, byte_writer& w) {
  const ending e = ending_of(t);
  w.put(static_cast<std::uint8_t>(e));
  if (e == ending::result) type.put_result(t, w);
  if (e == ending::error) put_exception(t.error, w);
}

void get_outcome(task& t, const wire_type& type, byte_reader& r) {
  switch (static_cast<ending>(r.get<std::uint8_t>())) {
    case ending::result: return type.get_result(t, r);
    case ending::error: {
      auto e = get_exception(r);
      r.expect_end();
      t.error = std::move(e);
      return;
    }
    case ending::cancelled:
      r.expect_end();
      t.error = cancellation();
      return;
  }
  r.fail("how a task ended");
}

}  // namespace cleave::detail
