#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cleave {

/// How often what happened, over all workers, since the runtime began.
struct counters {
  std::uint64_t splits = 0;     // tasks made of frames
  std::uint64_t spawns = 0;     // tasks of task groups that another worker ran
  std::uint64_t requests = 0;   // times a worker asked for anything
  std::uint64_t takebacks = 0;  // times a waiting worker asked for a part of what it waits for
  std::uint64_t undone = 0;     // steps undone and redone to go back in time
  std::uint64_t sleeps = 0;     // times a worker blocked
  std::uint64_t searched = 0;   // frames looked at in search of the oldest with something to give
  std::uint64_t deepest = 0;    // most frames seen on one worker's stack at once
};

/// Where the time of the workers went while a run() was under way, in seconds; the last four are
/// sums over all workers and add up to workers * elapsed.
struct time_spent {
  double elapsed = 0;
  double work = 0;      // in the program and its constructs
  double dividing = 0;  // serving those that asked: going back, making tasks, going on
  double stealing = 0;  // waits that ended with a task: the work was there, and had to be found
  double idle = 0;      // there was nothing to be had
};

/// What a program is, whoever runs it: P workers need at least work / P, and at least span; a
/// greedy scheduler needs at most work / P + span.
struct work_span {
  double work = 0;  // seconds, of all strands
  double span = 0;  // seconds, of the longest chain of strands that have to wait for each other
};

/// A type of task that other nodes asked for, and that could not leave its process.
struct stayed_task {
  std::string task;         // its name, or that of the closure
  std::string why;          // why it cannot leave
  std::uint64_t times = 0;  // how often there was nothing else; counted once in 20 ms
};

/// What all processes of a job have done so far, together.
struct job_statistics {
  unsigned nodes = 1;   // processes
  unsigned silent = 0;  // processes that did not say what they did: gone, or too slow
  unsigned workers = 0;
  std::string asks;  // whom this node asks for work (CLEAVE_ASK); empty: it is alone
  std::uint64_t splits = 0, requests = 0;  // as in counters
  double cpu_seconds = 0;                  // CPU time of the processes, from their beginning
  std::uint64_t tasks_crossed = 0;         // tasks that ran on another node than their maker's
  std::uint64_t messages = 0;              // messages between nodes
  std::uint64_t bytes = 0;                 // the length of these messages together
  std::vector<stayed_task> stayed;         // what could not leave, although it was asked for
};

}  // namespace cleave
