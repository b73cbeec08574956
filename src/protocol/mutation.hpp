#pragma once

#include <cstdint>

/// Planted faults: each breaks one rule of the protocol, so that the simulator can show that it
/// would see it.
namespace cleave::net {

enum class mutation : std::uint8_t {
  none,
  takeback_of_finished,   ///< a take-back of a task whose result is on its way is put to core
  merge_twice,            ///< a result is merged whether or not it has been before
  forget_lost_thief,      ///< what a lost thief had is not given again
  keep_taken_back,        ///< what was taken back whole is still awaited from its thief
  forget_lost_twice,      ///< what two nodes were lost with is run by nobody
  ignore_leave,           ///< a leaving node goes on taking tasks
  answer_twice,           ///< a request that comes twice is answered twice
  split_outside,          ///< a take-back may split any frame
  result_without_shared,  ///< a result does not carry the newest shared value
  trust_old_incarnation,  ///< what was meant for an earlier process is taken
  drop_late_task,         ///< a task that comes after its thief gave up is dropped
  send_result_once,       ///< a result is not sent again
  ignore_missing,         ///< tasks missing from heartbeats are not given again
  keep_orphans,           ///< tasks of a lost owner run on
  forget_cancel,          ///< tasks that nobody waits for are not cancelled
  late_answer_lost,       ///< a task split for a request that has ended is forgotten
  append_any_part,        ///< parts of published data are put together in any order
  keep_silent_source,     ///< data whose sender is gone are awaited from it
  forget_updates,         ///< updates of a gathered variable are not sent again
  take_updates_twice,     ///< updates that come twice are put in order twice
  pass_over_gap,          ///< a replica takes news although some before them have not come
  silent_none,            ///< a request that nobody serves within a millisecond is not answered
};

}  // namespace cleave::net
