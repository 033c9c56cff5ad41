// SPDX-License-Identifier: BSD-3-Clause
// A builder's steps by multicast.
#include "schedule/builder.h"

namespace hocket::schedule {

void Builder::multicast(const Slice& source, uint32_t at_a_time) {
  Step& step = append(StepKind::kMulticast);
  step.source = source;
  step.value = at_a_time;
}

void Builder::expect(uint32_t multicaster, const Slice& destination) {
  const uint32_t plan_rank_of_it = plan_multicaster(multicaster);
  Step& step = append(StepKind::kExpect);
  step.second_peer = plan_rank_of_it;
  step.destination = destination;
}

void Builder::first_of(uint32_t peer, uint32_t multicaster, const Slice& destination) {
  const uint32_t plan_rank_of_it = plan_multicaster(multicaster);
  Step& step = append_two_sided(StepKind::kFirstOf, peer);
  step.second_peer = plan_rank_of_it;
  step.destination = destination;
}

void Builder::pass_on(uint32_t peer, const Slice& source) {
  Step& step = append_two_sided(StepKind::kSend, peer);
  step.source = source;
  step.to_first_of = true;
}

}  // namespace hocket::schedule
