#pragma once

// Everything a user needs, one concept per header.
#include <cleave/all.hpp>
#include <cleave/both.hpp>
#include <cleave/call.hpp>
#include <cleave/cancel.hpp>
#include <cleave/find.hpp>
#include <cleave/gathered.hpp>
#include <cleave/graph.hpp>
#include <cleave/loop.hpp>
#include <cleave/mailbox.hpp>
#include <cleave/must_travel.hpp>
#include <cleave/poll.hpp>
#include <cleave/published.hpp>
#include <cleave/range.hpp>
#include <cleave/reduce_until.hpp>
#include <cleave/remote_error.hpp>
#include <cleave/runtime.hpp>
#include <cleave/shared.hpp>
#include <cleave/statistics.hpp>
#include <cleave/step.hpp>
#include <cleave/task.hpp>
#include <cleave/task_group.hpp>
#include <cleave/team.hpp>
#include <cleave/team_graph.hpp>
#include <cleave/version.hpp>
