// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/collective.h"

#include <array>

namespace hocket::schedule {
namespace {

enum class Extent : uint8_t { kNone, kOne, kBlockARank, kOneAtRoot, kBlockARankAtRoot };
enum class Rooting : uint8_t { kRootless, kRooted };
enum class Combined : uint8_t { kNothing, kAllRanks, kUpToOwn, kBeforeOwn };
enum class Lengths : uint8_t { kAgreed, kOwn };

struct Facts {
  std::string_view name;
  Collective base;
  Extent input;
  Extent output;
  Rooting root;
  Combined combines;
  Lengths lengths;
};

// In the order of the enumeration. Broadcast has one buffer, the output.
constexpr std::array<Facts, kAllCollectives> kFacts = {{
#define HOCKET_COLLECTIVE(constant, name, setting, function, others, base, input, output, root, combines, lengths) \
  {#name, Collective::k##base, Extent::input, Extent::output, Rooting::root, Combined::combines, Lengths::lengths},
#define HOCKET_NEIGHBOR_COLLECTIVE(constant, name, setting, function, others, base) \
  {#name,                                                                           \
   Collective::k##base,                                                             \
   Extent::kOne,                                                                    \
   Extent::kOne,                                                                    \
   Rooting::kRootless,                                                              \
   Combined::kNothing,                                                              \
   is_vector(Collective::k##constant) ? Lengths::kOwn : Lengths::kAgreed},
#include "base/collectives.def"
}};

const Facts& facts(Collective collective) { return kFacts[static_cast<size_t>(collective)]; }

bool is_at_root(Extent extent) { return extent == Extent::kOneAtRoot || extent == Extent::kBlockARankAtRoot; }
bool is_block_a_rank(Extent extent) { return extent == Extent::kBlockARank || extent == Extent::kBlockARankAtRoot; }

uint32_t blocks(Extent extent, uint32_t size) {
  if (extent == Extent::kNone) return 0;
  return is_block_a_rank(extent) ? size : 1;
}

bool has(Extent extent, bool is_root) { return extent != Extent::kNone && (is_root || !is_at_root(extent)); }

}  // namespace

std::string_view name(Collective collective) { return facts(collective).name; }

std::optional<Collective> collective_from_name(std::string_view text) {
  for (size_t i = 0; i < kFacts.size(); ++i) {
    if (kFacts[i].name == text) return static_cast<Collective>(i);
  }
  return std::nullopt;
}

Collective base_of(Collective collective) { return facts(collective).base; }
bool has_root(Collective collective) { return facts(collective).root == Rooting::kRooted; }
bool combines(Collective collective) { return facts(collective).combines != Combined::kNothing; }
uint32_t combined_ranks(Collective collective, uint32_t rank, uint32_t size) {
  switch (facts(collective).combines) {
    case Combined::kNothing:
      return 0;
    case Combined::kAllRanks:
      return size;
    case Combined::kUpToOwn:
      return rank + 1;
    case Combined::kBeforeOwn:
      return rank;
  }
  return 0;
}
bool copies_input_in_place(Collective collective) {
  const Collective base = base_of(collective);
  return base == Collective::kAlltoall || base == Collective::kReduceScatterBlock;
}
bool lengths_are_agreed(Collective collective) { return facts(collective).lengths == Lengths::kAgreed; }

uint32_t input_blocks(Collective collective, uint32_t size) { return blocks(facts(collective).input, size); }
uint32_t output_blocks(Collective collective, uint32_t size) { return blocks(facts(collective).output, size); }

bool has_block_a_rank(Collective collective) {
  return is_block_a_rank(facts(collective).input) || is_block_a_rank(facts(collective).output);
}
bool has_input(Collective collective, bool is_root) { return has(facts(collective).input, is_root); }
bool has_output(Collective collective, bool is_root) { return has(facts(collective).output, is_root); }

}  // namespace hocket::schedule
