#include "graph/lending.hpp"

#include <algorithm>
#include <utility>

#include "graph/recorder.hpp"
#include "travel/exceptions.hpp"

// The node that borrows.
namespace cleave::detail {

/// A subtask of another node: runs its function, and sends back what it has written.
class lending::borrowed final : public subtask {
public:
  borrowed(lending& by, entry& of, unsigned from, std::vector<std::byte> message, std::size_t first)
      : subtask(by.graph_),
        lender(from),
        uses(std::move(of.uses)),
        by_(by),
        function_(std::move(of.function)),
        message_(std::move(message)),
        first_(first) {
    in_graph().number = of.number;
    name = function_->name;
    floating = function_->floating;
    objects.reserve(uses.size());
  }
  ~borrowed() override {
    if (!may_be_listed) return;
    const std::lock_guard opening(by_.copies_.opening);
    const std::lock_guard lock(by_.node_.mutex);
    std::erase(by_.copies_.unopened, this);
  }
  /// Where the values are in the message.
  byte_reader values() const {
    return byte_reader(std::span<const std::byte>(message_).subspan(first_));
  }
  void end_opening() noexcept { is_open = true, message_ = {}; }

  void call() override try {
    by_.open(*this);
    double run = 0;
    try {
      run = call_function();
    } catch (const cancelled&) {
      if (detail::stopped(&by_.graph_)) throw;
    } catch (...) {
      auto result = begin(ending::error, 0);
      const auto bytes = exception_bytes(std::current_exception());
      byte_writer(result).raw(bytes.data(), bytes.size());
      return send(std::move(result));
    }
    auto result = begin(ending::values, run);
    byte_writer w(result);
    for (std::size_t i = 0; i < uses.size(); ++i)
      if (uses[i].writes()) objects[i]->put(w);
    send(std::move(result));
  } catch (const cancelled&) { throw; } catch (...) {
    by_.nodes_->cancel();  // the lender waits for something that it does not get
    throw;
  }
  /// A subtask before it has thrown: the lender is told that, too. Others may lack the values that
  /// came with this one.
  void skip() noexcept override {
    by_.open(*this);
    by_.nodes_->tell(lender, begin(ending::not_run, 0));
  }

  const unsigned lender;
  const std::vector<use_of> uses;
  std::vector<any_datum*> objects;  // what it works on
  std::exception_ptr wrong;         // why its values could not be read
  bool is_open = false;             // with copies::opening
  bool may_be_listed = true;        // among those that are not opened

private:
  double call_function() {
    if (wrong != nullptr) std::rethrow_exception(wrong);
    function_->use_instead(objects);
    const double began = recorder::now();
    function_->call();
    return recorder::now() - began;
  }
  std::vector<std::byte> begin(ending how, double run) {
    auto result = by_.begin(lending::kind::result);
    byte_writer w(result);
    w.put(in_graph().number), w.put(static_cast<std::uint8_t>(how)), w.put(run);
    return result;
  }
  void send(std::vector<std::byte> result) {
    by_.node_.send(lender, result);
    by_.node_.flush();
  }

  lending& by_;
  const std::unique_ptr<subtask> function_;
  std::vector<std::byte> message_;
  const std::size_t first_;  // where the values begin in it
};

/// How many more subtasks this node could begin.
unsigned lending::room() const noexcept {
  const unsigned room = graph_.order_->room();
  return room - (room != 0 && !asks_.owner_waits ? 1 : 0);
}

void lending::ask() noexcept {
  asks_.may_ask = false;
  if (asks_.waits_for_answer || is_over()) return;
  unsigned to = asks_.next;
  for (unsigned i = 0; i < node_.size && (to == node_.rank || asks_.has_none[to]); ++i)
    to = (to + 1) % node_.size;
  if (to == node_.rank || asks_.has_none[to]) return;
  asks_.may_ask = true;  // before the look for room: partner of is_idle()
  const unsigned wanted = room();
  // The next one comes while the last ones run. What the owner does meanwhile is not known.
  const bool is_ahead = asks_.owner_waits && graph_.order_->waiting() == 0 &&
                        (wanted != 0 || !asks_.is_ahead_in_vain);
  const unsigned ahead = is_ahead ? 1 : 0;
  if (wanted + ahead == 0) return;
  try {
    auto message = begin(kind::ask);
    byte_writer w(message);
    w.put(made_.up_to), w.put(std::uint32_t{wanted}), w.put(std::uint32_t{ahead});
    node_.send(to, message);
  } catch (...) { return; }  // no memory: the next one that is idle asks
  node_.flush();
  asks_.next = to;
  asks_.waits_for_answer = true, asks_.may_ask = false, asks_.come = 0;
}

void lending::is_idle() noexcept {
  if (!asks_.may_ask) return;
  const std::lock_guard lock(node_.mutex);
  if (asks_.may_ask) ask();
}

void lending::borrow(unsigned from, std::vector<std::byte> message, byte_reader r) {
  if (is_over()) return;
  ++asks_.come;
  const auto number = r.get<std::uint64_t>();
  entry* const e = find(number);
  try {
    if (e == nullptr || e->function == nullptr) throw distribution::different_graphs();
    const std::size_t first = message.size() - r.left();
    std::unique_ptr<borrowed> s(new (memory_) borrowed(*this, *e, from, std::move(message), first));
    copies_.unopened.push_back(s.get());  // no worker opens it before this function has ended
    try {
      start(*s);
    } catch (...) {
      s->may_be_listed = false;
      copies_.unopened.pop_back();
      throw;
    }
    static_cast<void>(s.release());
  } catch (...) { refuse(from, number, std::current_exception()); }
}

void lending::refuse(unsigned from, std::uint64_t number, const std::exception_ptr& why) {
  auto result = begin(kind::result);
  byte_writer w(result);
  const auto bytes = exception_bytes(why);
  w.put(number), w.put(static_cast<std::uint8_t>(ending::error)), w.put(0.0);
  w.raw(bytes.data(), bytes.size());
  node_.send(from, result);
  node_.flush();
}

/// Reads values in the order in which they came.
void lending::open(borrowed& b) {
  b.may_be_listed = false;
  const std::lock_guard opening(copies_.opening);
  if (b.is_open) return;
  std::vector<borrowed*> come;
  {
    const std::lock_guard lock(node_.mutex);
    come.swap(copies_.unopened);
  }
  for (borrowed* const one : come) open_one(copies_, *one), one->end_opening();
}

void lending::open_one(copies& of, borrowed& b) noexcept {
  byte_reader r = b.values();
  for (const use_of& u : b.uses) {
    copies::copy* c = nullptr;
    try {
      c = &of.all[{b.lender, u.of->place.number}];
      const bool comes = b.wrong == nullptr && r.get<bool>();
      if (c->object == nullptr) c->object = u.of->make_other();
      if (comes) c->object->get(r);
      if (comes || u.mode == access_mode::out) c->wrong = nullptr;
      if (b.wrong == nullptr) b.wrong = c->wrong;
    } catch (...) { b.wrong = std::current_exception(); }
    if (c == nullptr) return;
    if (b.wrong != nullptr) c->wrong = b.wrong;
    b.objects.push_back(c->object.get());
  }
}

}  // namespace cleave::detail
