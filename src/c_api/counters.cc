// SPDX-License-Identifier: BSD-3-Clause
#include <hocket/counters.h>

#include <string>

#include "c_api/handles.h"
#include "communicator/timing/call_counters.h"

namespace {

using hocket::communicator::kCallCounters;
using hocket::communicator::TimesFor;

struct Described {
  const char* name;
  const char* text;
};
constexpr Described kFields[kCallCounters] = {
    {"calls", "blocking collective calls that have ended well"},
    {"bytes", "bytes of their messages; where each rank has a block, of one block"},
    {"time_ns", "nanoseconds in these calls"},
    {"idle_ns", "nanoseconds of these with nothing to do"},
    {"late_ns", "nanoseconds of these until the last rank of the node had come to the call"},
    {"waits", "calls to which another rank of the node came later, and which waited for it"},
};

bool is_counter(int counter) { return counter >= 0 && static_cast<size_t>(counter) < kCallCounters; }

}  // namespace

int hocket_counters_enable(int enabled) {
  const bool before = hocket::communicator::calls_are_timed_for(TimesFor::kCounters);
  hocket::communicator::time_calls(TimesFor::kCounters, enabled != 0);
  return before ? 1 : 0;
}

int hocket_counter_count() { return static_cast<int>(kCallCounters); }

const char* hocket_counter_name(int counter) { return is_counter(counter) ? kFields[counter].name : nullptr; }

const char* hocket_counter_description(int counter) { return is_counter(counter) ? kFields[counter].text : nullptr; }

hocket_status_t hocket_counter_read(int counter, uint64_t* value) {
  using hocket::c_api::invalid;
  if (value == nullptr) return invalid("hocket_counter_read", "`value` is NULL");
  if (!is_counter(counter)) return invalid("hocket_counter_read", "there is no counter of that number");
  // Relaxed: as they are written.
  *value = hocket::communicator::call_counters[static_cast<size_t>(counter)].load(std::memory_order_relaxed);
  return HOCKET_OK;
}
