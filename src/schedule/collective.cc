// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/collective.h"

#include <array>

namespace hocket::schedule {
namespace {

enum class Extent : uint8_t { kNone, kOne, kBlockARank };
enum class Whose : uint8_t { kAll, kRoot };

struct Facts {
  std::string_view name;
  Collective base;
  Extent input;
  Extent output;
  bool has_root = false;
  Whose inputs = Whose::kAll;
  Whose outputs = Whose::kAll;
  bool combines = false;
  bool lengths_are_agreed = true;
};

using enum Extent;
using C = Collective;

constexpr bool kRooted = true;
constexpr bool kCombines = true;

// In the order of the enumeration. Broadcast has one buffer, the output.
constexpr std::array<Facts, kCollectives> kFacts = {{
    {"barrier", C::kBarrier, kNone, kNone},
    {"broadcast", C::kBroadcast, kNone, kOne, kRooted},
    {"reduce", C::kReduce, kOne, kOne, kRooted, Whose::kAll, Whose::kRoot, kCombines},
    {"allreduce", C::kAllreduce, kOne, kOne, !kRooted, Whose::kAll, Whose::kAll, kCombines},
    {"gather", C::kGather, kOne, kBlockARank, kRooted, Whose::kAll, Whose::kRoot},
    {"scatter", C::kScatter, kBlockARank, kOne, kRooted, Whose::kRoot, Whose::kAll},
    {"allgather", C::kAllgather, kOne, kBlockARank},
    {"alltoall", C::kAlltoall, kBlockARank, kBlockARank},
    {"reduce_scatter_block", C::kReduceScatterBlock, kBlockARank, kOne, !kRooted, Whose::kAll, Whose::kAll, kCombines},
    {"scan", C::kScan, kOne, kOne, !kRooted, Whose::kAll, Whose::kAll, kCombines},
    {"exscan", C::kExscan, kOne, kOne, !kRooted, Whose::kAll, Whose::kAll, kCombines},
    {"gatherv", C::kGather, kOne, kBlockARank, kRooted, Whose::kAll, Whose::kRoot, !kCombines, false},
    {"scatterv", C::kScatter, kBlockARank, kOne, kRooted, Whose::kRoot, Whose::kAll, !kCombines, false},
    {"allgatherv", C::kAllgather, kOne, kBlockARank},
    {"alltoallv", C::kAlltoall, kBlockARank, kBlockARank, !kRooted, Whose::kAll, Whose::kAll, !kCombines, false},
    {"reduce_scatter", C::kReduceScatterBlock, kBlockARank, kOne, !kRooted, Whose::kAll, Whose::kAll, kCombines},
}};

const Facts& facts(Collective collective) { return kFacts[static_cast<size_t>(collective)]; }

uint32_t blocks(Extent extent, uint32_t size) {
  if (extent == kNone) return 0;
  return extent == kOne ? 1 : size;
}

}  // namespace

std::string_view name(Collective collective) { return facts(collective).name; }

std::optional<Collective> collective_from_name(std::string_view text) {
  for (size_t i = 0; i < kFacts.size(); ++i) {
    if (kFacts[i].name == text) return static_cast<Collective>(i);
  }
  return std::nullopt;
}

Collective base_of(Collective collective) { return facts(collective).base; }
bool has_root(Collective collective) { return facts(collective).has_root; }
bool combines(Collective collective) { return facts(collective).combines; }
bool moves_input_aside(Collective collective) {
  const Collective base = base_of(collective);
  return base == Collective::kAlltoall || base == Collective::kReduceScatterBlock;
}
bool lengths_are_agreed(Collective collective) { return facts(collective).lengths_are_agreed; }

uint32_t input_blocks(Collective collective, uint32_t size) { return blocks(facts(collective).input, size); }
uint32_t output_blocks(Collective collective, uint32_t size) { return blocks(facts(collective).output, size); }

bool has_block_a_rank(Collective collective) {
  return facts(collective).input == kBlockARank || facts(collective).output == kBlockARank;
}
bool has_input(Collective collective, bool is_root) {
  return facts(collective).input != kNone && (is_root || facts(collective).inputs == Whose::kAll);
}
bool has_output(Collective collective, bool is_root) {
  return facts(collective).output != kNone && (is_root || facts(collective).outputs == Whose::kAll);
}

}  // namespace hocket::schedule
