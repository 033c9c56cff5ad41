// SPDX-License-Identifier: BSD-3-Clause
// Multicasts: what may be lost is never counted on.
#include "schedule/plans.h"

namespace hocket::schedule {
namespace {

// The two stages: rank 0 multicasts, and all pass on down a chain.
void two_stages(Builder& b) {
  if (b.rank() == 0) {
    b.multicast(b.output());
    if (b.size() > 1) b.pass_on(1, b.output());
    return;
  }
  b.first_of(b.rank() - 1, 0, b.output());
  if (b.rank() + 1 < b.size()) b.pass_on(b.rank() + 1, b.output());
}

Report report_of(uint32_t size, const Algorithm& algorithm, uint64_t count = 5) {
  return verify(plans_of(Collective::kBroadcast, size, algorithm), with_count(count));
}

TEST(VerifierMulticast, AcceptsTwoStagesAndCountsThem) {
  for (const uint32_t size : {1u, 2u, 3u, 9u, 40u}) {
    const Report report = report_of(size, two_stages);
    EXPECT_TRUE(report.is_correct()) << report.text();
    EXPECT_EQ(report.multicasts, 1u);
    EXPECT_EQ(report.messages, size - 1);
    EXPECT_EQ(report.elements_moved, 5 * size);
  }
}

TEST(VerifierMulticast, RefusesWhatCountsOnAMulticast) {
  const Report report = report_of(3, [](Builder& b) {
    if (b.rank() == 0) b.multicast(b.output());
    if (b.rank() == 1) b.first_of(2, 0, b.output());
    if (b.rank() == 2) b.first_of(1, 0, b.output());
  });
  expect_problem(report, "waits forever");
}

TEST(VerifierMulticast, RefusesTwoWaysThatBringDifferentData) {
  const Report report = report_of(
      2,
      [](Builder& b) {
        const Slice first = Builder::part(b.output(), 0, 2);
        const Slice second = Builder::part(b.output(), 1, 2);
        if (b.rank() == 0) {
          b.multicast(first);
          b.pass_on(1, second);
          b.pass_on(1, first);
        } else {
          b.first_of(0, 0, second);
          b.receive(0, first);
        }
      },
      4);
  expect_problem(report, "gets other data by its message than by");
}

TEST(VerifierMulticast, RefusesTwoWaysOfDifferentLengths) {
  const Report report = report_of(
      2,
      [](Builder& b) {
        if (b.rank() == 0) {
          b.multicast(Builder::part(b.output(), 0, 2));
          b.pass_on(1, b.output());
        } else {
          b.first_of(0, 0, b.output());
        }
      },
      4);
  expect_problem(report, "sends 2");
}

TEST(VerifierMulticast, RefusesMulticastsThatNobodySends) {
  const Report report = report_of(2, [](Builder& b) {
    if (b.rank() == 0)
      b.pass_on(1, b.output());
    else
      b.first_of(0, 0, b.output());
  });
  expect_problem(report, "waits for multicast 1 of rank 0, which sends 0");
}

TEST(VerifierMulticast, RefusesRanksThatWouldCountMulticastsOtherwise) {
  const Report report = report_of(2, [](Builder& b) {
    if (b.rank() == 0) {
      b.multicast(b.output());
      b.multicast(b.output());
      b.pass_on(1, b.output());
    } else {
      b.first_of(0, 0, b.output());
    }
  });
  expect_problem(report, "takes 1 of the 2 multicasts of rank 0");
}

// By the message alone rank 2 would know that rank 1 has read; the multicast may come without that.
TEST(VerifierMulticast, KnowsOnlyWhatEitherWayImplies) {
  const Report report = report_of(3, [](Builder& b) {
    if (b.rank() == 0) {
      b.publish(0, b.output());
      b.multicast(b.output());
      b.begin_stage();
      b.first_of(2, 1, Builder::in_scratch(b.scratch_area(b.output()), b.output(), b.output()));
      b.end_stage();
      b.publish(0, b.output());
      return;
    }
    if (b.rank() == 1) {
      b.multicast(b.output());
      b.get({.peer = 0, .slot = 0}, b.output());
      b.pass_on(2, b.output());
      return;
    }
    b.first_of(1, 0, b.output());
    b.pass_on(0, b.output());
  });
  expect_problem(report, "may still be using it");
}

TEST(VerifierMulticast, WhatIsPassedOnIsTakenByAFirstOfAndNothingElseIs) {
  Report report = report_of(3, [](Builder& b) {
    if (b.rank() == 0) {
      b.multicast(b.output());
      b.send(1, b.output());
      return;
    }
    b.first_of(b.rank() - 1, 0, b.output());
    if (b.rank() == 1) b.pass_on(2, b.output());
  });
  expect_problem(report, "sends to a first_of; a chain's message is passed on");
  report = report_of(2, [](Builder& b) {
    if (b.rank() == 0)
      b.pass_on(1, b.output());
    else
      b.receive(0, b.output());
  });
  expect_problem(report, "takes no first_of");
}

}  // namespace
}  // namespace hocket::schedule
