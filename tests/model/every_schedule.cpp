// labels: once slow
// The protocol of requests, in all schedules of two threads, and in those of three with at most
// two preemptions.
#include "programs.hpp"

namespace {

using namespace model;

TEST(every_schedule, hand_or_reclaim) { holds<hand_or_reclaim>(); }
TEST(every_schedule, parked_first) { holds<parked_first>(); }
TEST(every_schedule, asked_while_learning) { holds<asked_while_learning>(); }
TEST(every_schedule, take_back) { holds<take_back>(); }
TEST(every_schedule, take_back_surely) { holds<take_back_surely>(); }
TEST(every_schedule, split_throws) { holds<split_throws>(); }
TEST(every_schedule, claim_or_withdraw) { holds<claim_or_withdraw>(); }
TEST(every_schedule, two_thieves) { holds<two_thieves>(); }
TEST(every_schedule, two_thieves_at_once) { holds<two_thieves_at_once>(); }
TEST(every_schedule, second_split_throws) { holds<second_split_throws>(); }
TEST(every_schedule, chain) { holds<chain>(); }
TEST(every_schedule, roots_for_two) { holds<roots<2>>(); }

}  // namespace
