// SPDX-License-Identifier: BSD-3-Clause
// Where simulated NIC engines keep operands (protocol/operands.h): room for those operations only that some member has
// under way, where a real engine has it for all of the window.
//
// Thread safety: none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "protocol/operands.h"

namespace hocket::simulation {

class NicPlaces {
 public:
  NicPlaces(uint32_t members, uint32_t operands)
      : members_(members), operands_(operands), beyond_(std::make_unique<nic_operand[]>(operands)) {}

  // What the protocol is told a member's memory is, in what concerns this operation and no other.
  uint64_t memory_of(uint32_t member, uint64_t epoch);
  // One member more has completed the operation, all before it included. Once all have, nobody misses anything of it:
  // what still goes out of it is dropped where it comes, whatever it carries.
  void complete(uint64_t epoch);
  size_t bytes() const { return blocks_ * block_operands() * sizeof(nic_operand); }

 private:
  // Operations that are under way at the same time are in the same window, or next to it.
  static constexpr size_t kMost = 2 * NIC_WINDOW;
  struct Block {
    uint64_t epoch = 0;
    uint32_t complete = 0;                    // members
    std::unique_ptr<nic_operand[]> operands;  // nullptr: not yet, or no longer
  };
  size_t block_operands() const { return size_t{members_} * operands_; }

  uint32_t members_;
  uint32_t operands_;  // of one member and operation
  std::array<Block, kMost> kept_;
  std::vector<std::unique_ptr<nic_operand[]>> free_;
  size_t blocks_ = 0;
  std::unique_ptr<nic_operand[]> beyond_;  // of operations that are over
};

}  // namespace hocket::simulation
