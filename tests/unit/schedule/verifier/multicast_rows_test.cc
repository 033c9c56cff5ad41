// SPDX-License-Identifier: BSD-3-Clause
// Rows of multicasts: what may be written at any time is touched by nothing else.
#include "schedule/plans.h"

namespace hocket::schedule {
namespace {

Slice half(const Builder& b, uint32_t index) { return Builder::part(b.output(), index, 2); }

// Rank 0 broadcasts two halves by multicast; rank 1 expects both of them first, takes them, and passes them on.
enum class Fault { kNone, kOrder, kPlace, kLate, kWrites, kReads, kForgets, kPeer, kChanges, kUnexpected };

void two_halves(Builder& b, Fault fault) {
  if (b.rank() == 0) {
    for (uint32_t i = 0; i < 2; ++i) b.multicast(half(b, i));
    for (uint32_t i = 0; i < (fault == Fault::kForgets ? 1u : 2u); ++i) b.pass_on(1, half(b, i));
    return;
  }
  const bool is_second = b.rank() == 1;
  const Slice scratch = Builder::in_scratch(b.scratch_area(half(b, 0)), half(b, 0), half(b, 0));
  b.begin_stage();
  b.expect(0, half(b, fault == Fault::kOrder ? 1 : 0));
  if (fault != Fault::kLate && fault != Fault::kUnexpected) b.expect(0, half(b, fault == Fault::kOrder ? 0 : 1));
  b.end_stage();
  if (fault == Fault::kReads) b.copy(half(b, 0), scratch);
  b.first_of(b.rank() - 1, 0, fault == Fault::kPlace ? scratch : half(b, 0));
  if (fault == Fault::kLate) b.expect(0, half(b, 1));
  if (fault == Fault::kWrites) b.copy(half(b, 0), half(b, 1));
  if (is_second) b.pass_on(2, half(b, 0));
  if (fault == Fault::kForgets) return;
  b.first_of(fault == Fault::kPeer && b.rank() == 2 ? 0 : b.rank() - 1, 0, half(b, 1));
  if (fault == Fault::kChanges && is_second) b.copy(half(b, 1), half(b, 0));
  if (is_second) b.pass_on(2, half(b, 1));
}

Report report_of(Fault fault) {
  return verify(plans_of(Collective::kBroadcast, 3, [fault](Builder& b) { two_halves(b, fault); }), with_count(6));
}

TEST(VerifierMulticastRows, AcceptsWhatIsExpectedAndThenTaken) {
  const Report report = report_of(Fault::kNone);
  EXPECT_TRUE(report.is_correct()) << report.text();
  EXPECT_EQ(report.multicasts, 2u);
}

TEST(VerifierMulticastRows, RefusesAnotherOrderOrPlaceThanWhatIsExpected) {
  expect_problem(report_of(Fault::kOrder), "which is next");
  expect_problem(report_of(Fault::kPlace), "which is next");
  expect_problem(report_of(Fault::kUnexpected), "takes a multicast that is not expected");
  expect_problem(report_of(Fault::kLate), "expects a multicast after others have been taken or passed on");
  expect_problem(report_of(Fault::kForgets), "expects a multicast that nothing takes");
}

TEST(VerifierMulticastRows, RefusesToTouchWhatMayBeWrittenAtAnyTime) {
  expect_problem(report_of(Fault::kReads), "moves undefined data");
  expect_problem(report_of(Fault::kWrites), "takes what has been written since");
}

TEST(VerifierMulticastRows, RefusesToTakeOfTwoPeers) {
  const Report report = verify(plans_of(Collective::kBroadcast, 3,
                                        [](Builder& b) {
                                          two_halves(b, b.rank() == 2 ? Fault::kPeer : Fault::kNone);
                                          if (b.rank() == 0) b.pass_on(2, half(b, 1));
                                        }),
                               with_count(6));
  expect_problem(report, "takes of another peer than");
}

TEST(VerifierMulticastRows, RefusesToChangeWhatIsPassedOnBeforeTheLastOfItIsOver) {
  expect_problem(report_of(Fault::kChanges), "passes on what is written before the last one is over");
}

}  // namespace
}  // namespace hocket::schedule
