// SPDX-License-Identifier: BSD-3-Clause
#include "core/report/callers.h"

#include <dlfcn.h>
#include <unwind.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace hocket::interposer {
namespace {

bool is_in_mpi(const void* address) {
  Dl_info info = {};
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr && is_mpis_file(info.dli_fname);
}

// What is_in_mpi() has said of the addresses that came last, as address * 2 + answer.
constexpr size_t kKept = 256;
std::array<std::atomic<uint64_t>, kKept> kept_answers;

bool is_known_in_mpi(const void* address) {
  const auto number = reinterpret_cast<uint64_t>(address);
  std::atomic<uint64_t>& kept = kept_answers[(number >> 2) % kKept];
  // Relaxed: address and answer are one value.
  const uint64_t last = kept.load(std::memory_order_relaxed);
  if (last >> 1 == number) return (last & 1) != 0;
  const bool answer = is_in_mpi(address);
  kept.store(number << 1 | uint64_t{answer}, std::memory_order_relaxed);
  return answer;
}

constexpr int kMostFrames = 64;

struct Walk {
  int frames = 0;
  const void* found = nullptr;
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* context, void* argument) {
  auto* const walk = static_cast<Walk*>(argument);
  const auto address = reinterpret_cast<const void*>(_Unwind_GetIP(context));  // NOLINT(performance-no-int-to-ptr)
  if (address == nullptr || ++walk->frames > kMostFrames) return _URC_END_OF_STACK;
  if (is_known_in_mpi(address)) return _URC_NO_REASON;
  walk->found = address;
  return _URC_END_OF_STACK;
}

}  // namespace

bool is_mpis_file(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  for (const std::string_view start : {"libmpi", "libpmpi", "libhocket", "libopen-pal", "libmpl."})
    if (name.starts_with(start)) return true;
  return false;
}

const void* caller_in_program(const void* address) {
  if (address == nullptr || !is_known_in_mpi(address)) [[likely]]
    return address;
  Walk walk;
  _Unwind_Backtrace(look_at_frame, &walk);
  return walk.found != nullptr ? walk.found : address;
}

}  // namespace hocket::interposer
