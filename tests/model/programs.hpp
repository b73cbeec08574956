#pragma once

#include "workers.hpp"

/// Small programs of workers that ask and are asked: what the explorer runs through.
namespace model {

/// One part, given or not, reclaimed or not.
struct hand_or_reclaim : crew<2> {
  hand_or_reclaim() {
    tasks[0].divides_into(&tasks[1], 1), made = 2;
    tasks[0].polls = 2;
  }
};

/// The victim goes on until somebody asks, who must have heard of it or be heard by it.
struct begin_or_sleep : crew<2> {
  begin_or_sleep() {
    tasks[0].divides_into(&tasks[1], 1), made = 2;
    tasks[0].patient = true, tasks[0].ends_after = &tasks[1];
  }
};

/// The same with nothing to give at first: the asker waits parked.
struct parked_first : crew<2> {
  parked_first() {
    tasks[0].divides_into(&tasks[1], 2), made = 3;
    tasks[0].patient = true, tasks[0].needs_polls = 2;
  }
};

/// The victim sets its cutoff while it is asked.
struct asked_while_learning : crew<2> {
  asked_while_learning() {
    tasks[0].divides_into(&tasks[1], 2), made = 3;
    tasks[0].patient = tasks[0].learns = true;
  }
};

/// The owner waits for task 1 and asks its runner for a part of it, which the runner gives, or
/// which it finishes meanwhile.
struct take_back : crew<2> {
  take_back() {
    tasks[0].divides_into(&tasks[1], 1), tasks[1].divides_into(&tasks[2], 1), made = 3;
    tasks[0].patient = true, tasks[1].polls = 2;
  }
};

/// The runner waits for its owner to take the part back.
struct take_back_surely : crew<2> {
  take_back_surely() {
    tasks[0].divides_into(&tasks[1], 1), tasks[1].divides_into(&tasks[2], 1), made = 3;
    tasks[0].patient = tasks[1].patient = true;
  }
};

/// A split throws: the claim is given back, and the asker must be served all the same.
struct split_throws : crew<2> {
  split_throws() {
    tasks[0].divides_into(&tasks[1], 1), made = 2;
    tasks[0].patient = true, tasks[0].failures = 1;
  }
};

/// The asker gives up, because a root has come, while the victim claims its request.
struct claim_or_withdraw : crew<2> {
  claim_or_withdraw() {
    tasks[0].divides_into(&tasks[1], 1), made = 3;
    tasks[0].polls = 1, tasks[0].ends_after = &tasks[2];
  }
  void run(unsigned i) {
    if (i == 0) of.submit(tasks[2]);
    crew::run(i);
  }
};

/// As before, and the split throws.
struct throw_or_withdraw : claim_or_withdraw {
  throw_or_withdraw() { tasks[0].failures = 1; }
};

/// A root comes while the request of the only one who can run it is claimed, and then given back.
struct throw_or_root : crew<2> {
  throw_or_root() {
    tasks[0].divides_into(&tasks[1], 1), made = 3;
    tasks[0].polls = 1, tasks[0].failures = 1, tasks[0].ends_after = &tasks[2];
  }
  static constexpr unsigned threads() { return 3; }
  void run(unsigned i) { i < 2 ? crew::run(i) : of.run(tasks[2]); }
};

/// One part for each poll, two askers, both of them needed.
struct two_thieves : crew<3> {
  two_thieves() {
    tasks[0].divides_into(&tasks[1], 2), made = 3;
    tasks[0].patient = true, tasks[1].ends_after = &tasks[2];
  }
};

/// The same, and a poll serves both if it finds both.
struct two_thieves_at_once : two_thieves {
  two_thieves_at_once() { tasks[0].generous = true; }
};

/// And the second split throws.
struct second_split_throws : two_thieves_at_once {
  second_split_throws() { tasks[0].failures = tasks[0].fails_at = 1; }
};

/// Whoever got a part is the only one that can serve the other asker.
struct chain : crew<3> {
  chain() {
    tasks[0].divides_into(&tasks[1], 1), tasks[1].divides_into(&tasks[2], 1), made = 3;
    tasks[0].patient = tasks[1].patient = true, tasks[0].ends_after = &tasks[2];
  }
};

/// A thread outside hands over roots while the workers go to sleep, and stops them.
template <unsigned Size>
struct roots : crew<Size> {
  roots() { this->made = 2; }
  static constexpr unsigned threads() { return Size + 1; }
  void run(unsigned i) {
    if (i < Size) return this->workers[i].work();
    this->of.run(this->tasks[0]);
    this->of.run(this->tasks[1]);
    this->of.stop();
  }
};

}  // namespace model
