// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/collective.h"

#include <array>

namespace hocket::schedule {
namespace {

constexpr std::array<std::string_view, kCollectives> kNames = {"barrier", "broadcast", "reduce", "allreduce",
                                                               "allgather"};

}  // namespace

std::string_view name(Collective collective) { return kNames[static_cast<size_t>(collective)]; }

std::optional<Collective> collective_from_name(std::string_view text) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == text) return static_cast<Collective>(i);
  }
  return std::nullopt;
}

uint32_t input_blocks(Collective collective, uint32_t) {
  switch (collective) {
    case Collective::kBarrier:
    case Collective::kBroadcast:  // has one buffer, the output
      return 0;
    case Collective::kReduce:
    case Collective::kAllreduce:
    case Collective::kAllgather:
      return 1;
  }
  return 0;
}

uint32_t output_blocks(Collective collective, uint32_t size) {
  switch (collective) {
    case Collective::kBarrier:
      return 0;
    case Collective::kBroadcast:
    case Collective::kReduce:
    case Collective::kAllreduce:
      return 1;
    case Collective::kAllgather:
      return size;
  }
  return 0;
}

}  // namespace hocket::schedule
