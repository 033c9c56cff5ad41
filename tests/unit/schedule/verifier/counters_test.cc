// SPDX-License-Identifier: BSD-3-Clause
// Counters: what waits imply, totals, and barriers.
#include "schedule/plans.h"

namespace hocket::schedule {
namespace {

void counted_barrier(Builder& b) {
  for (uint32_t peer = 0; peer < b.size(); ++peer) b.add(peer, 0);
  b.own_total(0, b.size());
  b.wait_until(0, b.size());
}

void shared_barrier(Builder& b) {
  b.add_shared(1);
  b.shared_total(1, b.size());
  b.wait_until_shared(1, b.size());
}

// A counter a round, because a rank that is ahead may add for a later round first.
void dissemination_barrier(Builder& b, bool one_counter) {
  uint8_t round = 0;
  for (uint32_t distance = 1; distance < b.size(); distance *= 2, ++round) {
    const uint8_t counter = one_counter ? 0 : round;
    b.add((b.rank() + distance) % b.size(), counter);
    b.wait_until(counter, one_counter ? round + 1 : 1);
    if (!one_counter) b.own_total(counter, 1);
  }
  if (one_counter && round > 0) b.own_total(0, round);
}

TEST(VerifierCounters, AcceptsBarriers) {
  for (uint32_t size = 1; size <= 17; ++size) {
    for (const Algorithm& algorithm : {Algorithm(counted_barrier), Algorithm(shared_barrier),
                                       Algorithm([](Builder& b) { dissemination_barrier(b, false); })}) {
      const Report report = verify(plans_of(Collective::kBarrier, size, algorithm), with_count(0));
      EXPECT_TRUE(report.is_correct()) << size << " ranks\n" << report.text();
      EXPECT_TRUE(report.synchronizing);
    }
  }
}

TEST(VerifierCounters, FindsWaitsThatCannotTellWhoseAdditionTheySaw) {
  // With one counter, the second round's partner may have been the first to add.
  const auto plans = plans_of(Collective::kBarrier, 5, [](Builder& b) { dissemination_barrier(b, true); });
  expect_problem(verify(plans, with_count(0)), "is ambiguous");
}

TEST(VerifierCounters, AcceptsRisingWaitsOnOneAdder) {
  // A pipeline: the sender runs ahead, every wait implies the additions up to it.
  const auto plans = plans_of(Collective::kBroadcast, 2, [](Builder& b) {
    constexpr uint32_t kSegments = 4;
    if (b.rank() == 1) {
      b.expose(0, b.output());
      b.own_total(3, kSegments);
    }
    for (uint32_t i = 0; i < kSegments; ++i) {
      const Slice part = Builder::part(b.output(), i, kSegments);
      const Builder::From there{.peer = 1, .part = part, .whole = b.output()};
      if (b.rank() == 0) {
        b.put(there, part);
        b.add(1, 3);
      } else {
        b.wait_until(3, i + 1);
        b.get(there, part);
      }
    }
  });
  EXPECT_TRUE(verify(plans, with_count(9)).is_correct()) << verify(plans, with_count(9)).text();
}

TEST(VerifierCounters, FindsBarrierThatLetsSomebodyOutEarly) {
  const auto plans = plans_of(Collective::kBarrier, 4, [](Builder& b) {
    b.add((b.rank() + 1) % b.size(), 0);
    b.own_total(0, 1);
    b.wait_until(0, 1);
  });
  expect_problem(verify(plans, with_count(0)), "rank 0 may leave the barrier before rank 1 has entered it");
}

TEST(VerifierCounters, DoesNotCountOnTheReturnOfASend) {
  // A buffered send tells the sender nothing of the receiver.
  const auto plans = plans_of(Collective::kBarrier, 2, [](Builder& b) {
    if (b.rank() == 0) b.send(1, Slice{});
    if (b.rank() == 1) b.receive(0, Slice{});
  });
  expect_problem(verify(plans, with_count(0)), "rank 0 may leave the barrier before rank 1");
}

TEST(VerifierCounters, FindsMissingAndWrongTotals) {
  auto plans = plans_of(Collective::kBarrier, 3, counted_barrier);
  plans[1].own_total[0] = 0;
  expect_problem(verify(plans, with_count(0)), "rank 1's counter 0: 3 is added to it, but its total is stated as 0");
  plans = plans_of(Collective::kBarrier, 3, shared_barrier);
  plans[2].shared_total[1] = 4;
  expect_problem(verify(plans, with_count(0)), "but rank 2 states a total of 4");
}

TEST(VerifierCounters, FindsAdditionsThatNobodyWaitsFor) {
  auto plans = plans_of(Collective::kBarrier, 3, [](Builder& b) {
    counted_barrier(b);
    if (b.rank() == 0) b.add(1, 1);
    if (b.rank() == 1) b.own_total(1, 1);
  });
  expect_problem(verify(plans, with_count(0)), "rank 1's counter 1: 1 is added to it, but its owner waits for 0 only");
  plans = plans_of(Collective::kBarrier, 3, shared_barrier);
  plans[2].steps.pop_back();
  expect_problem(verify(plans, with_count(0)), "shared counter 1: 3 is added to it, but rank 2 waits for 0 only");
}

TEST(VerifierCounters, FindsWaitsForMoreThanIsAdded) {
  const auto plans = plans_of(Collective::kBarrier, 2, [](Builder& b) {
    b.add(1 - b.rank(), 0);
    b.own_total(0, 2);
    b.wait_until(0, 2);
  });
  expect_problem(verify(plans, with_count(0)), "rank 0 step 1 (wait for 2 on counter 0) waits forever");
}

TEST(VerifierCounters, FindsWaitsOnAPeersCounter) {
  auto plans = plans_of(Collective::kBarrier, 2, counted_barrier);
  plans[0].steps.back().peer = 1;
  expect_problem(verify(plans, with_count(0)), "waits on a peer's own counter");
}

}  // namespace
}  // namespace hocket::schedule
