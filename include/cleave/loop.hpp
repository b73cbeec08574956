#pragma once

#include <cleave/detail/task.hpp>

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace cleave {
namespace detail {

/// The frame of a loop: iterations after `current` and before `end` can still be given away. The owner
/// alone changes current, a split (which the owner makes too) alone lowers end.
template <std::integral I, class Make> struct loop_frame : work_frame {
  using work_type = std::remove_cvref_t<std::invoke_result_t<Make&, I, I>>;
  using given_task = task_of<work_type>;

  CLEAVE_HOT loop_frame(frame* out, I first, I last, Make& m) : current(first), end(last), make(m) {
    outer = out;
    tag = fresh(type);
  }

  static bool splittable(const frame& f) noexcept {
    auto& self = static_cast<const loop_frame&>(f);
    return self.end - self.current > 1;
  }
  /// Gives the upper half, rounded up, of what remains.
  static task* split(frame& f) {
    auto& self = static_cast<loop_frame&>(f);
    const auto left = static_cast<I>(self.end - self.current - 1);
    const auto from = static_cast<I>(self.end - (left / 2 + left % 2));
    auto* t = new given_task(self.make.get()(from, self.end));
    t->before = was_given(self) ? self.part : nullptr;
    self.end = from;
    self.tag |= given;
    return self.part = t;
  }
  static constexpr frame_type type{frame_role::work, portable_task<work_type>, &splittable, &split,
                                   nullptr, nullptr};

  I current;
  I end;
  kept<Make> make;
};

/// Parts of a loop that are still to be taken in; abandons them if one of them, or the taking, throws.
struct parts {
  task* last;
  ~parts() {
    if (last != nullptr) abandon(last);
  }

  /// Waits for the part given last, which is the next in program order. Throws what it threw.
  template <class Task> CLEAVE_COLD std::unique_ptr<Task> next() {
    std::unique_ptr<Task> part(static_cast<Task*>(last));
    last = last->before;
    join(*part);
    if (part->error) std::rethrow_exception(part->error);
    return part;
  }
};

/// Merges the results of all parts, in program order, onto the first of them. Cold, and of no variable of the
/// loop: passing an accumulator's address here would keep it in memory for the whole loop.
template <class Task, class Merge> CLEAVE_COLD auto merge_parts(task* last, Merge merge) {
  parts rest{last};
  auto all = std::move(*rest.next<Task>()->result);
  while (rest.last != nullptr) merge(all, std::move(*rest.next<Task>()->result));
  return all;
}

/// The loop under every form: body(i) in order, parts made by make(from, to); take<Task>(last part) at the end.
template <std::integral I, class Body, class Make, class Take>
CLEAVE_HOT void loop(I first, I last, Body&& body, Make& make, Take&& take) {
  if (!(first < last)) return;
  using frame_of = loop_frame<I, Make>;
  frame* const outer = here.innermost;
  frame_of rest(outer, first, last, make);
  {
    leave left{rest, outer};
    enter(rest);
    for (I i = first; i < rest.end; ++i) {
      rest.current = i;
      body(i);
    }
    left.by_exception = false;
  }
  if (touched(rest, frame_of::type) && was_given(rest)) [[unlikely]] {
    take.template operator()<typename frame_of::given_task>(rest.part);
    here.innermost = outer;
  }
}

/// The loop over [from, to) as a task made of a copy of its body.
template <class I, class Form> struct range_task {
  I from;
  I to;
  Form form;
  decltype(auto) run() { return form(from, to); }
};

template <class I, class Form> CLEAVE_HOT auto make_range(Form form) {
  return [form](I from, I to) { return range_task<I, Form>{from, to, form}; };
}

template <class A, class B>
concept range = std::integral<A> && std::integral<B>;

template <class I, class Body, class Make> CLEAVE_HOT auto sum_loop(I first, I last, Body& body, Make& make) {
  using result = std::remove_cvref_t<std::invoke_result_t<Body&, I>>;
  result total{};
  loop(first, last, [&](I i) { total += body(i); }, make, [&]<class Task>(task* part) {
    total += merge_parts<Task>(part, [](result& all, auto&& next) { all += std::move(next); });
  });
  return total;
}

template <class I, class T, class Body, class Merge, class Make>
CLEAVE_HOT T reduce_loop(I first, I last, T total, Body& body, Merge& merge, Make& make) {
  loop(first, last, [&](I i) { total = merge(std::move(total), body(i)); }, make, [&]<class Task>(task* part) {
    total = merge(std::move(total), merge_parts<Task>(part, [merge](T& all, auto&& next) {
                    all = merge(std::move(all), std::move(next));
                  }));
  });
  return total;
}

}   // namespace detail

/// Adds up body(i) for i from first to last - 1: `sum(0, n, [=](int i) { return f(i); })`. Without a put, a copy of the
/// body is what a thief gets, so it captures by value and changes no workspace. The result starts
/// from a value-initialised one and needs `+=`; parts are added in program order.
///
/// A thief gets the upper half, rounded up, of the iterations left in the oldest loop. Throws what the
/// earliest iteration threw. Blocks at the end for parts given away, helping with them only.
/// Source: Tascell's parallel for.
template <class A, class B, class Body>
  requires detail::range<A, B>
CLEAVE_HOT auto sum(A first, B last, Body body) {
  using I = std::common_type_t<A, B>;
  auto make = detail::make_range<I>([body](I from, I to) { return cleave::sum(from, to, body); });
  return detail::sum_loop(static_cast<I>(first), static_cast<I>(last), body, make);
}

/// The same in a shared workspace: put(from, to) makes a task for the iterations [from, to), whose result is
/// their sum. It is called with every step undone that was made since the loop began.
template <class A, class B, class Body, class Put>
  requires detail::range<A, B>
CLEAVE_HOT auto sum(A first, B last, Body body, Put put) {
  using I = std::common_type_t<A, B>;
  static_assert(task<std::invoke_result_t<Put&, I, I>>, "put(from, to) must return a task: a struct with run()");
  return detail::sum_loop(static_cast<I>(first), static_cast<I>(last), body, put);
}

/// Merges body(i) for i from first to last - 1, in program order, onto `identity`, which must be the neutral
/// element of merge: every part starts from it. merge(a, b) must be associative, nothing else.
template <class A, class B, class T, class Body, class Merge>
  requires detail::range<A, B>
CLEAVE_HOT T reduce(A first, B last, T identity, Body body, Merge merge) {
  using I = std::common_type_t<A, B>;
  auto make = detail::make_range<I>(
      [=](I from, I to) { return cleave::reduce(from, to, identity, body, merge); });
  return detail::reduce_loop(static_cast<I>(first), static_cast<I>(last), identity, body, merge, make);
}

/// The same in a shared workspace: put(from, to) makes a task whose result is that of [from, to).
template <class A, class B, class T, class Body, class Merge, class Put>
  requires detail::range<A, B>
CLEAVE_HOT T reduce(A first, B last, T identity, Body body, Merge merge, Put put) {
  using I = std::common_type_t<A, B>;
  return detail::reduce_loop(static_cast<I>(first), static_cast<I>(last), std::move(identity), body, merge, put);
}

/// The general form: body(i) for i from first to last - 1. put(from, to) makes a task for [from, to); at
/// the end, on this worker and in program order, get(result) takes in what each task returned (get() if its
/// run() returns nothing).
template <class A, class B, class Body, class Put, class Get>
  requires detail::range<A, B>
CLEAVE_HOT void each(A first, B last, Body body, Put put, Get get) {
  using I = std::common_type_t<A, B>;
  detail::loop(static_cast<I>(first), static_cast<I>(last), body, put, [&]<class Task>(detail::task* part) {
    detail::parts rest{part};
    while (rest.last != nullptr) {
      const auto done = rest.next<Task>();
      if constexpr (std::is_same_v<typename Task::result_type, nothing>) {
        get();
      } else {
        get(std::move(*done->result));
      }
    }
  });
}

/// The same for tasks that return nothing.
template <class A, class B, class Body, class Put>
  requires detail::range<A, B>
CLEAVE_HOT void each(A first, B last, Body body, Put put) {
  cleave::each(first, last, std::move(body), std::move(put), [] {});
}

/// The same without a put: a copy of the body is what a thief gets, so it captures by value.
template <class A, class B, class Body>
  requires detail::range<A, B>
CLEAVE_HOT void each(A first, B last, Body body) {
  using I = std::common_type_t<A, B>;
  auto make = detail::make_range<I>([body](I from, I to) { cleave::each(from, to, body); });
  detail::loop(static_cast<I>(first), static_cast<I>(last), body, make, []<class Task>(detail::task* part) {
    detail::merge_parts<Task>(part, [](nothing, nothing) {});
  });
}

}   // namespace cleave
