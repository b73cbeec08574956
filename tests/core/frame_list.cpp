// The list of frames against a simple oracle, which keeps all frames of one stack in a vector and
// searches it anew each time.
#include "core/frame_list.hpp"

#include "core/requests.hpp"

#include <algorithm>
#include <memory>

namespace cleave::tests {
namespace {

using detail::frame;
using detail::frame_role;
using detail::frame_type;
using detail::scope;
using detail::scope_frame;
using detail::work_frame;

/// What undo and redo were called for, in order: undone ones negative.
std::vector<int> steps_called;

struct test_work : work_frame {
  static detail::division splittable(const frame& f) noexcept {
    const auto& self = static_cast<const test_work&>(f);
    return self.left == 0 ? detail::division::never
           : self.waits   ? detail::division::later
                          : detail::division::now;
  }
  static constexpr frame_type type{frame_role::work, nullptr, &splittable,
                                   nullptr,          nullptr, nullptr};
  int left;    // parts to give
  bool waits;  // nothing may be given before something else is done
};
struct test_step : frame {
  static void undo(frame& f) noexcept { steps_called.push_back(-static_cast<test_step&>(f).name); }
  static void redo(frame& f) noexcept { steps_called.push_back(static_cast<test_step&>(f).name); }
  static constexpr frame_type type{frame_role::step, nullptr, nullptr, nullptr, &undo, &redo};
  int name;
};

/// One frame of the stack, and what the oracle knows of it. Frames are made in memory full of
/// flags.
struct entry {
  explicit entry(frame_role r) : role(r), unlisted(detail::here.unlisted) {
    for (auto& word : memory) word = ~std::uintptr_t{0};
  }
  template <class T>
  T& as() {
    return *reinterpret_cast<T*>(memory);
  }

  frame_role role;
  std::uint32_t unlisted;  // steps on no list at its push
  std::unique_ptr<scope> opened;
  alignas(64) std::uintptr_t memory[16];
};

class frame_list : public testing::Test {
protected:
  ~frame_list() override {
    while (!stack.empty()) pop();
    detail::here.unlisted = 0;
  }

  std::uint64_t draw(std::uint64_t n) { return (state = mix(state)) % n; }

  void push(frame_role role) {
    entry& e = *stack.emplace_back(std::make_unique<entry>(role));
    if (role == frame_role::scope) {
      e.opened = std::make_unique<scope>(draw(4) != 0 ? detail::here.current : any_scope());
      new (e.memory) scope_frame(*e.opened);
      return;
    }
    if (role == frame_role::step) {
      auto& s = *new (e.memory) test_step;
      s.name = ++names;
      s.outer = detail::here.innermost, s.tag = detail::fresh(test_step::type);
    } else {
      auto& w = *new (e.memory) test_work;
      w.left = static_cast<int>(draw(4));
      w.waits = false;
      detail::begin_frame(w, detail::here.innermost, test_work::type);
    }
    detail::here.innermost = &e.as<frame>();
  }
  /// Of those on the stack, or none: a task of an outer group runs on top of an inner scope.
  scope* any_scope() {
    const std::size_t i = draw(stack.size() + 1);
    return i == stack.size() ? nullptr : scope_of(i);
  }
  void pop() {
    entry& e = *stack.back();
    if (e.role == frame_role::scope) e.as<scope_frame>().~scope_frame();
    else detail::here.innermost = e.as<frame>().outer;
    stack.pop_back();
    // What winds did since is over.
    if (!stack.empty() && detail::here.unlisted > 0 && draw(2) == 0)
      detail::here.unlisted = std::max(least(), detail::here.unlisted - 1);
  }
  /// No fewer steps are unlisted than when the innermost frame was pushed.
  std::uint32_t least() const { return stack.empty() ? 0 : stack.back()->unlisted; }

  // ---- the oracle

  scope* scope_of(std::size_t i) const {
    while (i-- > 0) {
      if (stack[i]->role == frame_role::scope) return stack[i]->opened.get();
    }
    return nullptr;
  }
  static bool is_below(const scope* s, const scope* wanted) {
    for (; s != nullptr; s = s->parent) {
      if (s == wanted) return true;
    }
    return wanted == nullptr;
  }
  /// Where in the stack; its size: there is none.
  std::size_t oldest(const scope* wanted, bool& mine) const {
    mine = false;
    for (std::size_t i = 0; i < stack.size(); ++i) {
      entry& e = *stack[i];
      if (e.role == frame_role::scope) mine = mine || is_below(e.opened.get(), wanted);
      if (!mine || e.role != frame_role::work || e.as<test_work>().left == 0) continue;
      if (e.as<test_work>().waits) continue;
      // Below any scope at all there is nobody to give for.
      if (e.unlisted == detail::here.unlisted) return i;
    }
    return stack.size();
  }
  unsigned open_after(std::size_t i) const {
    return static_cast<unsigned>(std::count_if(stack.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                               stack.end(), [](const std::unique_ptr<entry>& e) {
                                                 return e->role == frame_role::work &&
                                                        e->as<test_work>().left != 0 &&
                                                        !e->as<test_work>().waits;
                                               }));
  }
  std::vector<int> steps_from(std::size_t i) const {
    std::vector<int> names_of;
    for (; i < stack.size(); ++i) {
      if (stack[i]->role == frame_role::step) names_of.push_back(stack[i]->as<test_step>().name);
    }
    return names_of;
  }

  // ---- compared

  void compare(const scope* wanted) {
    list.update(detail::here.innermost);
    ASSERT_EQ(list.size(), stack.size());
    bool mine = false, is_mine = false;
    const std::size_t expected = oldest(wanted, is_mine);
    frame* const found = list.oldest(wanted, wanted != nullptr ? wanted->depth : 0, false, mine);
    ASSERT_EQ(mine, is_mine);
    ASSERT_EQ(found, expected == stack.size() ? nullptr : &stack[expected]->as<frame>())
        << "of " << stack.size() << ", expected number " << expected;
    if (found == nullptr) return;
    EXPECT_EQ(list.scope_of(*found), scope_of(expected));
    EXPECT_EQ(list.further_in(*found), stack.size() - 1 - expected);
    EXPECT_TRUE(list.leaves_further_in(*found, open_after(expected)));
    EXPECT_FALSE(list.leaves_further_in(*found, open_after(expected) + 1));
    go_back(*found, expected);
    if (draw(2) == 0) --static_cast<test_work&>(*found).left;  // given
  }
  void go_back(const frame& to, std::size_t i) {
    const std::vector<int> steps = steps_from(i);
    std::vector<int> undone;
    for (auto s = steps.rbegin(); s != steps.rend(); ++s) undone.push_back(-*s);
    const std::uint64_t before = list.undone;
    steps_called.clear();
    list.undo_to(to);
    EXPECT_EQ(steps_called, undone);
    EXPECT_EQ(list.undone, before + steps.size());
    steps_called.clear();
    list.redo_from(to);
    EXPECT_EQ(steps_called, steps);
  }

  detail::frame_list list;
  std::vector<std::unique_ptr<entry>> stack;
  std::uint64_t state = random_at(0);
  int names = 0;
};

TEST_F(frame_list, of_an_empty_stack) {
  bool mine = true;
  list.update(nullptr);
  EXPECT_EQ(list.size(), 0u);
  EXPECT_EQ(list.oldest(nullptr, 0, false, mine), nullptr);
  EXPECT_FALSE(mine);
}

TEST_F(frame_list, each_frame_is_looked_at_once_after_its_push) {
  push(frame_role::scope);
  for (int i = 0; i < 1000; ++i) {
    push(frame_role::work);
    stack.back()->as<test_work>().left = 0;
    compare(nullptr);
  }
  EXPECT_LE(list.searched, 2 * 1001u);
}

/// Frames that may not be given now may be later: they are passed over, and not forgotten.
TEST_F(frame_list, what_is_blocked_by_an_unlisted_step_is_given_after_it) {
  push(frame_role::scope);
  push(frame_role::work);
  test_work& outer = stack.back()->as<test_work>();
  detail::here.unlisted = 1;
  push(frame_role::work);
  test_work& inner = stack.back()->as<test_work>();
  outer.left = inner.left = 1;
  list.update(detail::here.innermost);
  bool mine = false;
  EXPECT_EQ(list.oldest(nullptr, 0, false, mine), &inner);
  inner.left = 0;
  EXPECT_EQ(list.oldest(nullptr, 0, false, mine), nullptr);
  EXPECT_TRUE(mine);
  detail::here.unlisted = 0;
  EXPECT_EQ(list.oldest(nullptr, 0, false, mine), &outer);
}

TEST_F(frame_list, what_waits_for_something_else_is_given_after_it) {
  push(frame_role::scope);
  push(frame_role::work);
  test_work& outer = stack.back()->as<test_work>();
  push(frame_role::work);
  test_work& inner = stack.back()->as<test_work>();
  outer.left = inner.left = 1;
  outer.waits = true;
  list.update(detail::here.innermost);
  bool mine = false;
  EXPECT_EQ(list.oldest(nullptr, 0, false, mine), &inner);
  inner.left = 0;
  EXPECT_EQ(list.oldest(nullptr, 0, false, mine), nullptr);
  EXPECT_TRUE(mine);
  outer.waits = false;
  EXPECT_EQ(list.oldest(nullptr, 0, false, mine), &outer);
}

/// Frames that may not leave the process are passed over for another node only.
TEST_F(frame_list, what_was_sought_for_another_node_is_sought_anew_here) {
  push(frame_role::scope);
  push(frame_role::work);
  test_work& stays = stack.back()->as<test_work>();
  push(frame_role::work);
  stays.left = stack.back()->as<test_work>().left = 1;
  list.update(detail::here.innermost);
  bool mine = false;
  EXPECT_EQ(list.oldest(nullptr, 0, true, mine), nullptr);
  EXPECT_TRUE(mine);
  EXPECT_EQ(list.oldest(nullptr, 0, false, mine), &stays);
}

TEST_F(frame_list, does_what_a_search_of_the_whole_stack_does) {
  const std::uint64_t rounds = std::getenv("CLEAVE_SOAK") != nullptr ? 2'000'000 : 100'000;
  std::uint64_t target = 20;
  push(frame_role::scope);
  for (std::uint64_t k = 0; k < rounds && !HasFatalFailure(); ++k) {
    if (k % 1000 == 0) target = 1 + draw(60);
    switch (draw(9)) {
      case 8: {
        entry& e = *stack[draw(stack.size())];
        if (e.role == frame_role::work) e.as<test_work>().waits = false;
        break;
      }
      case 0: {
        const std::uint64_t n = draw(8);
        for (std::uint64_t i = 0; i < n && stack.size() > 1; ++i) pop();
        break;
      }
      case 1:
      case 2:
        if (stack.size() > 1 && stack.size() > target) pop();
        break;
      case 3: detail::here.unlisted += static_cast<std::uint32_t>(draw(4) == 0); break;
      case 4:
        detail::here.unlisted =
            std::max(least(), detail::here.unlisted - (detail::here.unlisted > 0));
        break;
      case 5: compare(nullptr); break;
      case 6: {  // of a scope on the stack, above it, or elsewhere
        static scope elsewhere(nullptr);
        const scope* const s = scope_of(1 + draw(stack.size()));
        compare(draw(8) == 0 ? &elsewhere : s);
        break;
      }
      default:
        for (std::uint64_t i = draw(6); i-- > 0;) {
          const std::uint64_t role = draw(8);
          push(role == 0 ? frame_role::scope : role < 3 ? frame_role::step : frame_role::work);
          if (role >= 3) stack.back()->as<test_work>().waits = draw(4) == 0;
        }
    }
  }
}

}  // namespace
}  // namespace cleave::tests
