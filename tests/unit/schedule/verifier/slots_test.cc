// SPDX-License-Identifier: BSD-3-Clause
// One-sided plans: slots, versions and who may touch published memory when.
#include "schedule/plans.h"

namespace hocket::schedule {
namespace {

// Everybody publishes its operand and combines everybody's, in rank order.
void one_sided_allreduce(Builder& b) {
  b.publish(0, b.input());
  const Slice sum = Builder::in_scratch(b.scratch_area(b.input()), b.input(), b.input());
  b.get({.peer = 0}, sum);
  for (uint32_t peer = 1; peer < b.size(); ++peer) b.combine_from({.peer = peer}, sum, sum, false);
  for (uint32_t peer = 0; peer < b.size(); ++peer) b.add(peer, 0);
  b.own_total(0, b.size());
  b.wait_until(0, b.size());
  b.copy(sum, b.output());
}

// Both of the output's halves go through one slot; the root waits for everybody in between, if told to.
void two_part_broadcast(Builder& b, bool waits) {
  const uint32_t readers = b.size() - 1;
  for (uint32_t half = 0; half < 2; ++half) {
    const Slice part = Builder::part(b.output(), half, 2);
    if (b.rank() == 0) {
      if (half == 1 && waits) b.wait_until(0, readers);
      b.publish(0, part);
    } else {
      b.get({.peer = 0, .version = half + 1}, part);
      if (half == 0 && waits) b.add(0, 0);
    }
  }
  if (b.rank() == 0 && waits) b.own_total(0, readers);
}

// The root writes into everybody's output, and each takes what was put once it has been told that it is there.
void put_broadcast(Builder& b, bool writer) {
  if (b.rank() == 0) {
    for (uint32_t peer = 1; peer < b.size(); ++peer) {
      b.put({.peer = peer}, b.output());
      if (writer) b.add(peer, 0);
    }
    return;
  }
  b.expose(0, b.output());
  if (writer) {
    b.wait_until(0, 1);
    b.own_total(0, 1);
  }
  b.get({.peer = b.rank()}, b.output());
}

TEST(VerifierSlots, AcceptsDirectAllreduceInRankOrderInPlaceOrNot) {
  for (uint32_t size = 1; size <= 7; ++size) {
    for (const bool in_place : {false, true}) {
      VerifyOptions options = with_count(3);
      options.commutative = false;
      const Shape shape{.size = size, .in_place = in_place};
      const Report report = verify(plans_of(Collective::kAllreduce, shape, one_sided_allreduce), options);
      EXPECT_TRUE(report.is_correct()) << report.text();
      EXPECT_TRUE(report.synchronizing);
      EXPECT_EQ(report.messages, size * (size - 1));
      EXPECT_EQ(report.signals, size * (size - 1));
    }
  }
}

TEST(VerifierSlots, FindsInputOverwrittenInPlaceBeforePeersHaveReadIt) {
  auto plans = plans_of(Collective::kAllreduce, 3, [](Builder& b) {
    b.publish(0, b.input());
    const Slice sum = Builder::in_scratch(b.scratch_area(b.input()), b.input(), b.input());
    b.get({.peer = 0}, sum);
    for (uint32_t peer = 1; peer < b.size(); ++peer) b.combine_from({.peer = peer}, sum, sum, false);
    b.copy(sum, b.output());
  });
  EXPECT_TRUE(verify(plans, with_count(3)).is_correct()) << verify(plans, with_count(3)).text();
  for (Plan& plan : plans) plan.shape.in_place = true;
  expect_problem(verify(plans, with_count(3)), "writes element 0 of output while");
}

TEST(VerifierSlots, AcceptsSlotReusedAfterItsReadersAreKnownToBeDone) {
  const auto plans = plans_of(Collective::kBroadcast, 4, [](Builder& b) { two_part_broadcast(b, true); });
  EXPECT_TRUE(verify(plans, with_count(5)).is_correct()) << verify(plans, with_count(5)).text();
}

TEST(VerifierSlots, FindsSlotReusedWhileAReaderMayBeLate) {
  const auto plans = plans_of(Collective::kBroadcast, 4, [](Builder& b) { two_part_broadcast(b, false); });
  expect_problem(verify(plans, with_count(5)), "(publish slot 0 v2) replaces version 1 while");
}

TEST(VerifierSlots, FindsReadersThatComeAfterTheReplacement) {
  const auto plans = plans_of(Collective::kBroadcast, 2, [](Builder& b) {
    if (b.rank() == 0) {
      b.publish(0, b.output());
      b.publish(0, b.output());
      b.send(1, Slice{});
    } else {
      b.receive(0, Slice{});
      b.get({.peer = 0}, b.output());
    }
  });
  expect_problem(verify(plans, with_count(5)), "may come after step 1 (publish slot 0 v2) of rank 0 has replaced");
}

TEST(VerifierSlots, FindsSlotReplacedByAPublisherThatWaitedForOthersOnly) {
  // The root hears of rank 1 only, but rank 2 reads too.
  const auto plans = plans_of(Collective::kBroadcast, 3, [](Builder& b) {
    for (uint32_t half = 0; half < 2; ++half) {
      const Slice part = Builder::part(b.output(), half, 2);
      if (b.rank() == 0) {
        if (half == 1) b.wait_until(0, 1);
        b.publish(0, part);
      } else {
        b.get({.peer = 0, .version = half + 1}, part);
        if (half == 0 && b.rank() == 1) b.add(0, 0);
      }
    }
    if (b.rank() == 0) b.own_total(0, 1);
  });
  expect_problem(verify(plans, with_count(5)), "step 0 (get slot 0 v1 of 0) of rank 2");
}

TEST(VerifierSlots, FindsReadOfAVersionThatNeverComes) {
  const auto plans = plans_of(Collective::kBroadcast, 2, [](Builder& b) {
    if (b.rank() == 0) b.publish(0, b.output());
    if (b.rank() == 1) b.get({.peer = 0, .version = 2}, b.output());
  });
  expect_problem(verify(plans, with_count(1)), "rank 1 step 0 (get slot 0 v2 of 0) waits forever: rank 0 ends");
}

TEST(VerifierSlots, FindsCyclesOfWaits) {
  const auto plans = plans_of(Collective::kAllgather, 2, [](Builder& b) {
    b.get({.peer = 1 - b.rank()}, Builder::part(b.output(), 1 - b.rank(), 2));
    b.publish(0, b.input());
  });
  expect_problem(verify(plans, with_count(1)), "rank 0 step 0 (get slot 0 v1 of 1) waits forever");
}

TEST(VerifierSlots, FindsReadOfUnwrittenMemory) {
  const auto plans = plans_of(Collective::kBroadcast, 3, [](Builder& b) {
    if (b.rank() < 2) b.publish(0, b.output());
    if (b.rank() > 0) b.get({.peer = b.rank() - 1}, b.output());
  });
  expect_problem(verify(plans, with_count(4)), "(get slot 0 v1 of 0) writes element 0 of output while");
  // Rank 1 published before it got anything; nobody writes at all in this one.
  const auto unwritten = plans_of(Collective::kBroadcast, 2, [](Builder& b) {
    const Slice scratch = Builder::in_scratch(b.scratch_area(b.output()), b.output(), b.output());
    if (b.rank() == 0) b.publish(0, scratch);
    if (b.rank() == 1) b.get({.peer = 0}, b.output());
  });
  expect_problem(verify(unwritten, with_count(4)), "moves undefined data: element 0 of 4 that rank 0 gives");
}

TEST(VerifierSlots, FindsUsesBeyondAPublication) {
  const auto plans = plans_of(Collective::kBroadcast, 2, [](Builder& b) {
    const Slice first = Builder::part(b.output(), 0, 2);
    if (b.rank() == 0) b.publish(0, first);
    if (b.rank() == 1) b.get({.peer = 0, .part = b.output(), .whole = first}, b.output());
  });
  expect_problem(verify(plans, with_count(4)), "goes to element 4 of a publication of 2");
}

TEST(VerifierSlots, FindsLengthsThatDoNotMatchThePublication) {
  const auto plans = plans_of(Collective::kBroadcast, 2, [](Builder& b) {
    if (b.rank() == 0) b.publish(0, Builder::part(b.output(), 0, 2));
    if (b.rank() == 1) b.get({.peer = 0}, b.output());
  });
  expect_problem(verify(plans, with_count(4)), "moves 4 elements where 2 of the publication are meant");
}

TEST(VerifierSlots, AcceptsPartsOfAPublication) {
  const auto plans = plans_of(Collective::kBroadcast, 3, [](Builder& b) {
    if (b.rank() == 0) b.publish(0, b.output());
    for (uint32_t i = 0; b.rank() > 0 && i < 3; ++i) {
      const Slice part = Builder::part(b.output(), i, 3);
      b.get({.peer = 0, .part = part, .whole = b.output()}, part);
    }
  });
  for (const uint64_t count : {0, 1, 2, 7}) {
    EXPECT_TRUE(verify(plans, with_count(count)).is_correct()) << verify(plans, with_count(count)).text();
  }
}

TEST(VerifierSlots, AcceptsPutsThatAreAnnounced) {
  const auto plans = plans_of(Collective::kBroadcast, 4, [](Builder& b) { put_broadcast(b, true); });
  EXPECT_TRUE(verify(plans, with_count(3)).is_correct()) << verify(plans, with_count(3)).text();
}

TEST(VerifierSlots, FindsPutsThatTheOwnerDoesNotWaitFor) {
  const auto plans = plans_of(Collective::kBroadcast, 4, [](Builder& b) { put_broadcast(b, false); });
  EXPECT_FALSE(verify(plans, with_count(3)).is_correct());
  expect_problem(verify(plans, with_count(3)), "(get slot 0 v1 of 1)");
}

TEST(VerifierSlots, FindsPutsThatCollide) {
  const auto plans = plans_of(Collective::kBroadcast, 3, [](Builder& b) {
    if (b.rank() == 2) {
      b.expose(0, b.output());
      b.wait_until(0, 2);
      b.own_total(0, 2);
      b.get({.peer = 2}, b.output());
      return;
    }
    if (b.rank() == 0) b.send(1, b.output());
    if (b.rank() == 1) b.receive(0, b.output());
    b.put({.peer = 2}, b.output());
    b.add(2, 0);
  });
  expect_problem(verify(plans, with_count(3)), "collides with");
}

TEST(VerifierSlots, FindsExposedMemoryUsedByItsOwner) {
  const auto plans = plans_of(Collective::kBroadcast, 2, [](Builder& b) {
    if (b.rank() == 0) {
      b.put({.peer = 1}, b.output());
      b.add(1, 0);
      return;
    }
    const Slice scratch = Builder::in_scratch(b.scratch_area(b.output()), b.output(), b.output());
    b.expose(0, scratch);
    b.wait_until(0, 1);
    b.own_total(0, 1);
    b.copy(scratch, b.output());  // should get from its own slot: the engine may have the data elsewhere
  });
  expect_problem(verify(plans, with_count(2)), "rank 1 step 2 (copy) moves undefined data");
}

TEST(VerifierSlots, FindsReadsOfExposedAndPutsIntoPublishedMemory) {
  auto plans = plans_of(Collective::kBroadcast, 2, [](Builder& b) {
    if (b.rank() == 0) b.publish(0, b.output());
    if (b.rank() == 1) b.put({.peer = 0}, b.output());
  });
  expect_problem(verify(plans, with_count(2)), "puts into memory that is published for reading only");
  plans = plans_of(Collective::kBroadcast, 3, [](Builder& b) {
    if (b.rank() == 1) b.get({.peer = 2}, b.output());
    if (b.rank() == 2) b.expose(0, b.output());
  });
  expect_problem(verify(plans, with_count(2)), "reads memory that is exposed for writing only");
}

TEST(VerifierSlots, FindsNumbersThatThePlanDoesNotAnnounce) {
  auto plans = plans_of(Collective::kAllreduce, 2, one_sided_allreduce);
  plans[1].slots = 0;
  expect_problem(verify(plans, with_count(1)), "names a slot that the plan says it doesn't use");
  plans = plans_of(Collective::kAllreduce, 2, one_sided_allreduce);
  plans[1].uses_slots_or_counters = false;
  expect_problem(verify(plans, with_count(1)), "in a plan that says it uses neither slots nor counters");
  plans = plans_of(Collective::kAllreduce, 2, one_sided_allreduce);
  plans[1].steps[0].version = 2;
  expect_problem(verify(plans, with_count(1)), "should be version 1 of its slot");
}

}  // namespace
}  // namespace hocket::schedule
