// SPDX-License-Identifier: BSD-3-Clause
// A builder's one-sided steps.
#include "schedule/builder.h"

namespace hocket::schedule {

Step& Builder::append_publication(StepKind kind, uint8_t slot) {
  const uint8_t number = plan_slot(slot);
  Step& step = append(kind);
  step.slot = number;
  step.version = ++publications_[number];
  return step;
}

void Builder::publish(uint8_t slot, const Slice& source) {
  append_publication(StepKind::kPublish, slot).source = source;
}

void Builder::expose(uint8_t slot, const Slice& destination) {
  append_publication(StepKind::kExpose, slot).destination = destination;
}

void Builder::get(const From& from, const Slice& destination) {
  append_one_sided(StepKind::kGet, from).destination = destination;
}

void Builder::put(const From& to, const Slice& source) { append_one_sided(StepKind::kPut, to).source = source; }

void Builder::combine_from(const From& from, const Slice& local, const Slice& destination, bool incoming_left) {
  Step& step = append_one_sided(StepKind::kCombineFrom, from);
  step.source = local;
  step.destination = destination;
  step.incoming_left = incoming_left;
}

}  // namespace hocket::schedule
