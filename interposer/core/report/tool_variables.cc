// SPDX-License-Identifier: BSD-3-Clause
#include "core/report/tool_variables.h"

#include <hocket/counters.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "core/communicator.h"

namespace hocket::interposer {

struct ToolHandle {
  std::atomic<bool> is_held{false};
  std::atomic<int> variable{0};
};

namespace {

constexpr ToolVariable kFields[] = {
    {"hocket_calls_carried_out", "collective calls that hocket has carried out"},
    {"hocket_calls_passed_through", "collective calls that were passed through to the MPI"},
};
constexpr int kCounted = std::size(kFields);

uint64_t calls_of(bool by_hocket) {
  const CounterArray counters = read_counters();
  uint64_t sum = 0;
  for (int i = 0; i < kCollectives; ++i)
    for (int j = 0; j < kOutcomes; ++j)
      if (const auto outcome = static_cast<Outcome>(j); is_by_hocket(outcome) == by_hocket)
        sum += counters[static_cast<size_t>(counter_index(static_cast<Collective>(i), outcome))];
  return sum;
}

// "hocket_late_ns". Never destroyed: tools may ask at the very end.
const std::vector<std::string>& names_of_timed() {
  static const auto* const names = [] {
    auto* const made = new std::vector<std::string>;
    for (int i = 0; i < hocket_counter_count(); ++i) made->push_back(std::string("hocket_") + hocket_counter_name(i));
    return made;
  }();
  return *names;
}

constexpr size_t kMostHandles = 256;
std::array<ToolHandle, kMostHandles> tool_handles;
std::atomic<int> held_handles{0};

}  // namespace

int tool_variables() { return kCounted + hocket_counter_count(); }

ToolVariable tool_variable(int which) {
  if (which < kCounted) return kFields[which];
  return {names_of_timed()[static_cast<size_t>(which - kCounted)].c_str(),
          hocket_counter_description(which - kCounted)};
}

int find_tool_variable(const char* name) {
  for (int which = 0; name != nullptr && which < tool_variables(); ++which)
    if (std::strcmp(tool_variable(which).name, name) == 0) return which;
  return -1;
}

uint64_t read_tool_variable(int which) {
  if (which < kCounted) return calls_of(which == 0);
  uint64_t value = 0;
  return hocket_counter_read(which - kCounted, &value) == HOCKET_OK ? value : 0;
}

ToolHandle* make_tool_handle(int which) {
  for (ToolHandle& handle : tool_handles) {
    bool free = false;
    // Acquire, with the release in free_tool_handle(): the last holder is done with it.
    if (!handle.is_held.compare_exchange_strong(free, true, std::memory_order_acquire, std::memory_order_relaxed))
      continue;
    handle.variable.store(which, std::memory_order_relaxed);  // for who gets the handle from here
    if (held_handles.fetch_add(1, std::memory_order_acq_rel) == 0) hocket_counters_enable(1);
    return &handle;
  }
  return nullptr;
}

void free_tool_handle(ToolHandle* handle) {
  // Both are for make_tool_handle().
  if (held_handles.fetch_sub(1, std::memory_order_acq_rel) == 1) hocket_counters_enable(0);
  handle->is_held.store(false, std::memory_order_release);
}

bool is_tool_handle(const void* handle) {
  const auto* const begin = reinterpret_cast<const std::byte*>(tool_handles.data());
  const auto* const place = static_cast<const std::byte*>(handle);
  return place >= begin && place < begin + sizeof tool_handles;
}

// Relaxed: who holds the handle has been given it after the number was written.
int variable_of(const ToolHandle* handle) { return handle->variable.load(std::memory_order_relaxed); }

void copy_tool_text(const char* text, char* to, int* length) {
  if (length == nullptr) return;
  const size_t needed = std::strlen(text) + 1;
  if (to != nullptr && *length > 0) {
    const size_t copied = std::min(needed, static_cast<size_t>(*length)) - 1;
    std::memcpy(to, text, copied);
    to[copied] = '\0';
  }
  *length = static_cast<int>(needed);
}

}  // namespace hocket::interposer
