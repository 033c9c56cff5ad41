// SPDX-License-Identifier: BSD-3-Clause
#include "core/device_trial.h"

#include <algorithm>

namespace hocket::interposer {

bool DeviceTrial::has_failed(hocket_comm_t* comm) {
  if (++calls_ <= next_) return false;
  uint64_t most = 0;
  // What fails here fails in the call itself, which tells.
  if (hocket_allreduce(comm, &staged_, &most, 1, HOCKET_UINT64, HOCKET_MAX) != HOCKET_OK) return false;
  const bool is_most = 2 * most >= next_ - last_;
  constexpr uint64_t kLongestTerm = 1024;
  last_ = next_;
  next_ += std::min(next_, kLongestTerm);
  staged_ = 0;
  return is_most;
}

}  // namespace hocket::interposer
