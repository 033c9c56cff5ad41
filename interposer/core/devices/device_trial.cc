// SPDX-License-Identifier: BSD-3-Clause
#include "core/devices/device_trial.h"

#include <algorithm>

namespace hocket::interposer {

bool DeviceTrial::has_failed(hocket_comm_t* comm, bool waits_for_all) {
  const uint64_t before = calls_++;
  if (before < next_ || !waits_for_all) return false;
  uint64_t most = 0;
  // What fails here fails in the call itself, which tells.
  if (hocket_allreduce(comm, &staged_, &most, 1, HOCKET_UINT64, HOCKET_MAX) != HOCKET_OK) return false;
  const bool is_most = 2 * most >= before - last_;
  constexpr uint64_t kLongestTerm = 1024;
  last_ = before;
  next_ = before + std::min(before, kLongestTerm);
  staged_ = 0;
  return is_most;
}

}  // namespace hocket::interposer
