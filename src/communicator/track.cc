// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/track.h"

namespace hocket::communicator {

using engines::Carrier;
using engines::WakeUp;

Carrier* Track::sleeps_at(bool& wakes_alone) const {
  Carrier* sufficient = nullptr;
  Carrier* partial = nullptr;
  uint32_t busy = 0;
  for (Carrier* carrier : carriers_) {
    const WakeUp wake_up = carrier->wake_up();
    if (wake_up != WakeUp::kIdle) ++busy;
    if (wake_up == WakeUp::kSufficient && sufficient == nullptr) sufficient = carrier;
    if (wake_up == WakeUp::kPartial && partial == nullptr) partial = carrier;
  }
  wakes_alone = sufficient != nullptr && busy == 1;
  return wakes_alone ? sufficient : partial;
}

Status Track::take_failure() {
  if (lane_->has_failed()) return lane_->take_failure();
  for (Carrier* carrier : carriers_)
    if (carrier->has_failed()) return carrier->take_failure();
  return Status::ok();
}

Status Track::check() {
  for (Carrier* carrier : carriers_) HOCKET_TRY(carrier->check());
  return Status::ok();
}

}  // namespace hocket::communicator
