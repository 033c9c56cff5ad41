// SPDX-License-Identifier: BSD-3-Clause
// Takes one step out of a right schedule, or does it twice, and expects the verifier to notice.
#include "schedule/plans.h"

namespace hocket::schedule {
namespace {

struct Example {
  const char* name;
  Collective collective;
  Algorithm algorithm;
};

void ring_broadcast(Builder& b) {
  if (b.rank() > 0) b.receive(b.rank() - 1, b.output());
  if (b.rank() + 1 < b.size()) b.send(b.rank() + 1, b.output());
}

// Two halves through one slot of each rank, with acknowledgements.
void acknowledged_chain(Builder& b) {
  const bool reads = b.rank() > 0;
  const bool is_read = b.rank() + 1 < b.size();
  for (uint32_t half = 0; half < 2; ++half) {
    const Slice part = Builder::part(b.output(), half, 2);
    if (reads) {
      b.get({.peer = b.rank() - 1, .version = half + 1}, part);
      b.add(b.rank() - 1, 0);
    }
    if (is_read) {
      if (half == 1) b.wait_until(0, 1);
      b.publish(0, part);
    }
  }
  if (!is_read) return;
  b.wait_until(0, 2);
  b.own_total(0, 2);
}

void direct_allreduce(Builder& b) {
  const Slice sum = Builder::in_scratch(b.scratch_area(b.input()), b.input(), b.input());
  b.publish(0, b.input());
  b.get({.peer = 0}, sum);
  for (uint32_t peer = 1; peer < b.size(); ++peer) b.combine_from({.peer = peer}, sum, sum, false);
  for (uint32_t peer = 0; peer < b.size(); ++peer) b.add(peer, 0);
  b.own_total(0, b.size());
  b.wait_until(0, b.size());
  b.copy(sum, b.output());
}

void put_allgather(Builder& b) {
  b.expose(0, b.output());
  const auto block = [&](uint32_t index) { return Builder::part(b.output(), index, b.size()); };
  for (uint32_t peer = 0; peer < b.size(); ++peer) {
    b.put({.peer = peer, .part = block(b.rank()), .whole = b.output()}, b.input());
    b.add(peer, 0);
  }
  b.wait_until(0, b.size());
  b.own_total(0, b.size());
  b.get({.peer = b.rank()}, b.output());
}

std::vector<Example> examples() {
  return {{"ring broadcast", Collective::kBroadcast, ring_broadcast},
          {"acknowledged chain", Collective::kBroadcast, acknowledged_chain},
          {"direct allreduce", Collective::kAllreduce, direct_allreduce},
          {"put allgather", Collective::kAllgather, put_allgather}};
}

// In place where that is harder: what peers read is then what is overwritten.
std::vector<Plan> plans_for(const Example& example) {
  const Shape shape{.size = 4, .in_place = example.collective == Collective::kAllreduce};
  return plans_of(example.collective, shape, example.algorithm);
}

TEST(VerifierMutation, NoticesEveryStepThatIsTakenOut) {
  for (const Example& example : examples()) {
    const auto right = plans_for(example);
    const Report report = verify(right, with_count(5));
    ASSERT_TRUE(report.is_correct()) << example.name << "\n" << report.text();
    for (uint32_t rank = 0; rank < right.size(); ++rank) {
      for (size_t step = 0; step < right[rank].steps.size(); ++step) {
        auto plans = right;
        plans[rank].steps.erase(plans[rank].steps.begin() + static_cast<long>(step));
        EXPECT_FALSE(verify(plans, with_count(5)).is_correct())
            << example.name << " without step " << step << " of rank " << rank;
      }
    }
  }
}

TEST(VerifierMutation, NoticesEveryStepThatIsDoneTwice) {
  for (const Example& example : examples()) {
    const auto right = plans_for(example);
    for (uint32_t rank = 0; rank < right.size(); ++rank) {
      for (size_t step = 0; step < right[rank].steps.size(); ++step) {
        const StepKind kind = right[rank].steps[step].kind;
        // Waiting, copying and getting once more change nothing.
        if (kind == StepKind::kWaitUntil || kind == StepKind::kCopy || kind == StepKind::kGet) continue;
        auto plans = right;
        plans[rank].steps.insert(plans[rank].steps.begin() + static_cast<long>(step), right[rank].steps[step]);
        const bool is_ordered_put = kind == StepKind::kPut;  // the same again, in order
        EXPECT_EQ(verify(plans, with_count(5)).is_correct(), is_ordered_put)
            << example.name << " with step " << step << " of rank " << rank << " twice";
      }
    }
  }
}

}  // namespace
}  // namespace hocket::schedule
