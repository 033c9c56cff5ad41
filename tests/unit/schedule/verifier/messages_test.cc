// SPDX-License-Identifier: BSD-3-Clause
// Two-sided plans: matching, deadlock, bounds and contributions.
#include "schedule/plans.h"

namespace hocket::schedule {
namespace {

// Rank 0 sends everything to each of the others.
void flat_broadcast(Builder& b) {
  if (b.rank() == b.root()) {
    for (uint32_t peer = 0; peer < b.size(); ++peer) {
      if (peer != b.root()) b.send(peer, b.output());
    }
  } else {
    b.receive(b.root(), b.output());
  }
}

// Rank r combines what ranks 0 .. r-1 made with its own and passes it on; the last rank sends it to the root.
void chain_reduce(Builder& b, bool incoming_left) {
  const uint32_t last = b.size() - 1;
  const Slice sum = Builder::in_scratch(b.scratch_area(b.input()), b.input(), b.input());
  if (b.rank() == 0) {
    b.send(1, b.input());
    b.receive(last, b.output());
    return;
  }
  b.receive_combine(b.rank() - 1, b.input(), sum, incoming_left);
  b.send(b.rank() == last ? 0 : b.rank() + 1, sum);
}

// Every rank passes on the blocks it has got so far.
void ring_allgather(Builder& b) {
  const uint32_t size = b.size();
  const auto block = [&](uint32_t index) { return Builder::part(b.output(), index % size, size); };
  b.copy(b.input(), block(b.rank()));
  for (uint32_t step = 0; step + 1 < size; ++step) {
    b.begin_stage();
    b.send((b.rank() + 1) % size, block(b.rank() + size - step));
    b.receive((b.rank() + size - 1) % size, block(b.rank() + 2 * size - step - 1));
    b.end_stage();
  }
}

TEST(VerifierMessages, AcceptsFlatBroadcastFromEveryRoot) {
  for (uint32_t size = 1; size <= 9; ++size) {
    for (uint32_t root = 0; root < size; ++root) {
      Shape shape{.size = size, .root = root};
      const Report report = verify(plans_of(Collective::kBroadcast, shape, flat_broadcast), with_count(5));
      EXPECT_TRUE(report.is_correct()) << report.text();
      EXPECT_EQ(report.messages, size - 1);
      EXPECT_EQ(report.elements_moved, 5 * (size - 1));
      EXPECT_EQ(report.synchronizing, size == 1);
      EXPECT_EQ(report.critical_path, size - 1);
    }
  }
}

TEST(VerifierMessages, AcceptsRingAllgatherOfAnyCountInPlaceOrNot) {
  for (const uint64_t count : {0, 1, 7}) {
    for (const bool in_place : {false, true}) {
      const Shape shape{.size = 6, .in_place = in_place};
      const Report report = verify(plans_of(Collective::kAllgather, shape, ring_allgather), with_count(count));
      EXPECT_TRUE(report.is_correct()) << report.text();
      EXPECT_TRUE(report.synchronizing);
    }
  }
}

TEST(VerifierMessages, AcceptsChainReduceInRankOrder) {
  VerifyOptions options = with_count(3);
  options.commutative = false;
  for (const bool in_place : {false, true}) {
    const Shape shape{.size = 5, .in_place = in_place};
    const auto plans = plans_of(Collective::kReduce, shape, [](Builder& b) { chain_reduce(b, true); });
    EXPECT_TRUE(verify(plans, options).is_correct()) << verify(plans, options).text();
  }
}

TEST(VerifierMessages, FindsOperandsOutOfRankOrder) {
  VerifyOptions options = with_count(3);
  const auto plans = plans_of(Collective::kReduce, 5, [](Builder& b) { chain_reduce(b, false); });
  EXPECT_TRUE(verify(plans, options).is_correct());
  options.commutative = false;
  expect_problem(verify(plans, options), "rank 1 step 0 (receive_combine from 0) combines operands out of rank order");
}

TEST(VerifierMessages, HeedsKeepOrderOfTheShape) {
  const Shape shape{.size = 5, .keep_order = true};
  const auto plans = plans_of(Collective::kReduce, shape, [](Builder& b) { chain_reduce(b, false); });
  expect_problem(verify(plans, with_count(1)), "out of rank order");
}

TEST(VerifierMessages, FindsDeadlockOfUnbufferedSends) {
  const auto plans = plans_of(Collective::kAllgather, 2, [](Builder& b) {
    const auto block = [&](uint32_t index) { return Builder::part(b.output(), index, 2); };
    b.copy(b.input(), block(b.rank()));
    b.send(1 - b.rank(), block(b.rank()));
    b.receive(1 - b.rank(), block(1 - b.rank()));
  });
  expect_problem(verify(plans, with_count(4)), "rank 0 step 1 (send to 1) waits forever");
}

TEST(VerifierMessages, FindsSendThatNobodyReceives) {
  const auto plans = plans_of(Collective::kBroadcast, 2, [](Builder& b) {
    flat_broadcast(b);
    if (b.rank() == 0) b.send(1, b.output());
  });
  expect_problem(verify(plans, with_count(4)), "rank 0 step 1 (send to 1) waits forever: rank 1 ends");
}

TEST(VerifierMessages, FindsMessagesInTheWrongOrder) {
  const auto plans = plans_of(Collective::kBroadcast, 2, [](Builder& b) {
    const Slice first = Builder::part(b.output(), 0, 2);
    const Slice second = Builder::part(b.output(), 1, 2);
    if (b.rank() == 0) {
      b.send(1, first);
      b.send(1, second);
    } else {
      b.receive(0, second);
      b.receive(0, first);
    }
  });
  expect_problem(verify(plans, with_count(5)), "sends 2 elements, but step 0 (receive from 0) of rank 1 takes 3");
  expect_problem(verify(plans, with_count(4)), "rank 1 ends with element 0 of output made of rank 0 (element 2)");
}

TEST(VerifierMessages, FindsMissingContribution) {
  const auto plans = plans_of(Collective::kReduce, 3, [](Builder& b) {
    if (b.rank() == 0) b.receive_combine(1, b.input(), b.output(), false);
    if (b.rank() == 1) b.send(0, b.input());
  });
  expect_problem(verify(plans, with_count(1)), "made of ranks 0..1 (element 0) instead of ranks 0..2");
}

TEST(VerifierMessages, FindsContributionUsedTwiceUnlessIdempotent) {
  // Dissemination with 3 ranks sums some contributions twice.
  const auto plans = plans_of(Collective::kAllreduce, 3, [](Builder& b) {
    const Slice next = Builder::in_scratch(b.scratch_area(b.input()), b.input(), b.input());
    b.copy(b.input(), b.output());
    for (uint32_t distance = 1; distance < b.size(); distance *= 2) {
      b.begin_stage();
      b.send((b.rank() + distance) % b.size(), b.output());
      b.receive((b.rank() + b.size() - distance) % b.size(), next);
      b.end_stage();
      b.combine(next, b.output(), true);
    }
  });
  expect_problem(verify(plans, with_count(2)), "uses a contribution twice");
  VerifyOptions options = with_count(2);
  options.idempotent = true;
  EXPECT_TRUE(verify(plans, options).is_correct()) << verify(plans, options).text();
}

TEST(VerifierMessages, FindsUndefinedData) {
  const auto plans = plans_of(Collective::kReduce, 2, [](Builder& b) {
    const Slice scratch = Builder::in_scratch(b.scratch_area(b.input()), b.input(), b.input());
    if (b.rank() == 0) b.receive_combine(1, b.input(), b.output(), false);
    if (b.rank() == 1) b.send(0, scratch);
  });
  expect_problem(verify(plans, with_count(2)), "rank 0 step 0 (receive_combine from 1) combines undefined data");
}

TEST(VerifierMessages, FindsResultThatWasNeverWritten) {
  const auto plans = plans_of(Collective::kAllreduce, 2, [](Builder&) {});
  expect_problem(verify(plans, with_count(2)), "rank 0 ends with element 0 of output made of nothing defined");
}

TEST(VerifierMessages, FindsElementsOfDifferentPlacesCombined) {
  const auto plans = plans_of(Collective::kAllreduce, 1, [](Builder& b) {
    b.copy(b.input(), b.output());
    b.combine(Builder::part(b.input(), 1, 2), Builder::part(b.output(), 0, 2), true);
  });
  expect_problem(verify(plans, with_count(2)), "combines different elements of the vectors");
}

TEST(VerifierMessages, FindsSliceOutOfBounds) {
  auto plans = plans_of(Collective::kReduce, 2, [](Builder& b) {
    const Slice half = Builder::part(b.input(), 0, 2);
    const uint8_t area = b.scratch_area(half);
    if (b.rank() == 1) b.copy(b.input(), Builder::in_scratch(area, b.input(), half));
  });
  expect_problem(verify(plans, with_count(4)), "uses elements 0..4 of scratch0, which has 3");
  // Only the root of a reduction has an output.
  plans = plans_of(Collective::kReduce, 2, [](Builder& b) { b.copy(b.input(), b.output()); });
  expect_problem(verify(plans, with_count(4)), "rank 1 step 0 (copy) uses elements 0..4 of output, which has 0");
}

TEST(VerifierMessages, FindsWritesToTheCallersInput) {
  const auto plans = plans_of(Collective::kAllreduce, 1, [](Builder& b) { b.copy(b.output(), b.input()); });
  expect_problem(verify(plans, with_count(1)), "writes to the caller's input");
}

// Not even what it holds already: others may be reading it.
TEST(VerifierMessages, FindsWritesToWhatTheRootBroadcasts) {
  const auto plans = plans_of(Collective::kBroadcast, 2, [](Builder& b) {
    if (b.rank() == b.root()) {
      b.send(1, b.output());
      b.receive(1, b.output());
    } else {
      b.receive(b.root(), b.output());
      b.send(b.root(), b.output());
    }
  });
  expect_problem(verify(plans, with_count(4)), "rank 0 step 1 (receive from 1) writes to what the root broadcasts");
}

TEST(VerifierMessages, FindsInputOverwrittenByACallInPlace) {
  // Right unless input and output are the same memory.
  const auto exchange = [](Builder& b) {
    b.begin_stage();
    b.send(1 - b.rank(), b.input());
    b.receive(1 - b.rank(), b.output());
    b.end_stage();
    b.combine(b.input(), b.output(), true);
  };
  auto plans = plans_of(Collective::kAllreduce, 2, exchange);
  EXPECT_TRUE(verify(plans, with_count(3)).is_correct()) << verify(plans, with_count(3)).text();
  plans[1].shape.in_place = true;  // that rank's alone
  expect_problem(verify(plans, with_count(3)), "combines memory with itself");
}

TEST(VerifierMessages, FindsStepsOfAStageThatDependOnEachOther) {
  const auto plans = plans_of(Collective::kBroadcast, 3, [](Builder& b) {
    const uint32_t next = b.rank() + 1;
    b.begin_stage();
    if (b.rank() > 0) b.receive(b.rank() - 1, b.output());
    if (next < b.size()) b.send(next, b.output());
    b.end_stage();
  });
  expect_problem(verify(plans, with_count(3)), "rank 1 step 1 (send to 2) reads element 0 of output, which step 0");
}

TEST(VerifierMessages, FindsPartlyOverlappingOperands) {
  const auto plans = plans_of(Collective::kAllreduce, 1, [](Builder& b) {
    b.copy(Builder::parts_of(b.output(), 0, 2, 3), Builder::parts_of(b.output(), 1, 3, 3));
  });
  expect_problem(verify(plans, with_count(3)), "overlaps the destination");
}

TEST(VerifierMessages, FindsPlansThatDoNotBelongTogether) {
  auto plans = plans_of(Collective::kBroadcast, 3, flat_broadcast);
  std::swap(plans[1], plans[2]);
  expect_problem(verify(plans, with_count(1)), "the plan of rank 1 is of another shape");
  expect_problem(verify({}, with_count(1)), "there are no plans");
}

TEST(VerifierMessages, LimitsTheProblemsItLists) {
  const auto plans = plans_of(Collective::kAllreduce, 20, [](Builder&) {});
  const Report report = verify(plans, with_count(1));
  EXPECT_EQ(report.problems.size(), 12u);
  EXPECT_EQ(report.problems_left_out, 8u);
}

}  // namespace
}  // namespace hocket::schedule
