// labels: once
// The protocol of requests, in the schedules that most faults need: of longer programs those with
// few preemptions. All schedules of them are in every_schedule.cpp, which takes two minutes.
#include "programs.hpp"

namespace {

using namespace model;

TEST(protocol, hand_or_reclaim) { holds_with<hand_or_reclaim>(3); }
TEST(protocol, begin_or_sleep) { holds<begin_or_sleep>(); }
TEST(protocol, parked_first) { holds_with<parked_first>(3); }
TEST(protocol, asked_while_learning) { holds_with<asked_while_learning>(3); }
TEST(protocol, take_back) { holds_with<take_back>(2); }
TEST(protocol, take_back_surely) { holds_with<take_back_surely>(2); }
TEST(protocol, split_throws) { holds_with<split_throws>(3); }
TEST(protocol, claim_or_withdraw) { holds_with<claim_or_withdraw>(3); }
TEST(protocol, throw_or_withdraw) { holds<throw_or_withdraw>(); }
TEST(protocol, throw_or_root) { holds<throw_or_root>(); }
TEST(protocol, two_thieves) { holds_with<two_thieves>(1); }
TEST(protocol, two_thieves_at_once) { holds_with<two_thieves_at_once>(1); }
TEST(protocol, second_split_throws) { holds_with<second_split_throws>(1); }
TEST(protocol, chain) { holds_with<chain>(1); }
TEST(protocol, roots_for_one) { holds<roots<1>>(); }
TEST(protocol, roots_for_two) { holds_with<roots<2>>(1); }

TEST(broken_protocol, ring_without_wake) { finds<begin_or_sleep>(fault::ring_without_wake); }
TEST(broken_protocol, hand_without_ring) { finds<begin_or_sleep>(fault::hand_without_ring); }
TEST(broken_protocol, hand_released) { finds<begin_or_sleep>(fault::hand_released); }
TEST(broken_protocol, sleep_unlooked) { finds<begin_or_sleep>(fault::sleep_unlooked); }
TEST(broken_protocol, collect_by_load) { finds<hand_or_reclaim>(fault::collect_by_load); }
TEST(broken_protocol, withdraw_by_load) { finds<claim_or_withdraw>(fault::withdraw_by_load, 2); }
TEST(broken_protocol, claim_by_load) { finds<claim_or_withdraw>(fault::claim_by_load, 2); }
TEST(broken_protocol, reclaim_by_load) { finds<hand_or_reclaim>(fault::reclaim_by_load); }
TEST(broken_protocol, no_look_at_askers) { finds<begin_or_sleep>(fault::no_look_at_askers); }
TEST(broken_protocol, no_ring_before_sleep) { finds<chain>(fault::no_ring_before_sleep); }
TEST(broken_protocol, no_reminder) { finds<two_thieves>(fault::no_reminder); }
TEST(broken_protocol, not_parked) { finds<parked_first>(fault::not_parked); }
TEST(broken_protocol, no_reopen) { finds<split_throws>(fault::no_reopen); }
TEST(broken_protocol, not_set_again) { finds<split_throws>(fault::not_set_again); }
TEST(broken_protocol, reopen_without_ring) { finds<throw_or_root>(fault::reopen_without_ring); }
TEST(broken_protocol, reopen_without_parked) { finds<split_throws>(fault::reopen_without_parked); }
TEST(broken_protocol, withdraw_once) { finds<throw_or_withdraw>(fault::withdraw_once); }
TEST(broken_protocol, root_not_rung) { finds<roots<1>>(fault::root_not_rung); }
TEST(broken_protocol, insist_keeps_cutoff) { finds<begin_or_sleep>(fault::insist_keeps_cutoff); }
TEST(broken_protocol, cutoff_kept_unseen) {
  finds<asked_while_learning>(fault::cutoff_kept_unseen);
}
TEST(broken_protocol, root_released) { finds<roots<1>>(fault::root_released); }

}  // namespace
