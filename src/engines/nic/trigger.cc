// SPDX-License-Identifier: BSD-3-Clause
#include "engines/nic/trigger.h"

namespace hocket::engines::nic {

Progress Trigger::run(const Instruction& step, StepState& state) {
  constexpr uint8_t kRung = 1;
  if (state.phase != kRung) {
    failure_ = group_->start(step.value);
    state.phase = kRung;
    state.serial = group_->started();
  }
  if (group_->done() >= state.serial) return Progress::kDone;
  if (group_->is_broken()) [[unlikely]]
    failure_ = health();
  return Progress::kPending;
}

Status Trigger::health() const {
  Status status = group_->health();
  const uint32_t member = group_->culprit();
  if (status.is_ok() || member >= names_.size()) return status;
  return {status.code(), names_[member] + ": " + status.message()};
}

Status Trigger::check() {
  HOCKET_TRY(health());
  return is_busy() ? group_->ring_again() : Status::ok();
}

bool Trigger::sleep(int64_t limit_ns) {
  const uint64_t seen = group_->done();
  return seen == group_->started() || group_->is_broken() || group_->sleep(seen, limit_ns);
}

}  // namespace hocket::engines::nic
