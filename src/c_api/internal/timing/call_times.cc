// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/timing/call_times.h"

namespace hocket::c_api {

void time_calls(bool on) { communicator::time_calls(communicator::TimesFor::kCaller, on); }

bool take_last_call(CallTimes& times) { return communicator::take_last_call(times); }

}  // namespace hocket::c_api
