// SPDX-License-Identifier: BSD-3-Clause
// Collective calls for NIC engines, drawn by the dice of a seed: the same whoever asks, with what must come of each,
// bit for bit, worked out from the schedule by the host.
//
// Thread safety: any thread, once it is made.
#pragma once

#include <cstdint>
#include <vector>

#include "engines/nic/port.h"
#include "engines/nic/stage_table.h"
#include "schedule/plan.h"

namespace hocket::test {

struct NicAlgorithm {
  schedule::Collective collective;
  const char* name;
  uint32_t degree = 0;
  bool on_arrival = false;  // operands are combined as they come, and are such that their order doesn't matter
};
inline constexpr uint32_t kFlatTree = 0xffffffffu;

// One of each kind that engines hold.
std::vector<NicAlgorithm> nic_algorithms();

bool has_root(const NicAlgorithm& algorithm);
schedule::Plan plan_of(const NicAlgorithm& algorithm, uint32_t size, uint32_t rank);

class NicCalls {
 public:
  // Each call is by one of the algorithms.
  NicCalls(std::vector<NicAlgorithm> algorithms, uint32_t size, uint64_t seed);

  // The programs of a member for all of the algorithms, and which of them synchronizes in place of each.
  struct Programs {
    std::vector<nic_program> programs;
    std::vector<uint8_t> synchronizing;
  };
  Result<Programs> programs_of(uint32_t member, engines::nic::Mode mode = engines::nic::Mode::kCollective) const;

  // Call number `epoch`, from 1; without the operand, which is nullptr.
  engines::nic::NicCall call(uint64_t epoch) const;
  bool gives_operand(uint32_t member, uint64_t epoch) const;
  nic_operand operand(uint32_t member, uint64_t epoch) const;

  struct Results {
    std::vector<bool> has_result;  // of each member
    std::vector<nic_operand> results;
  };
  Results expected(uint64_t epoch) const;

 private:
  const NicAlgorithm& algorithm_of(uint64_t epoch) const;
  uint64_t dice(uint64_t epoch, uint64_t what) const;

  std::vector<NicAlgorithm> algorithms_;
  uint32_t size_;
  uint64_t seed_;
};

}  // namespace hocket::test
