// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/nic/places.h"

#include <utility>

namespace hocket::simulation {

uint64_t NicPlaces::memory_of(uint32_t member, uint64_t epoch) {
  if (operands_ == 0) return 0;
  Block& block = kept_[epoch % kMost];
  if (block.epoch < epoch) {
    block.epoch = epoch;
    block.complete = 0;
    if (block.operands == nullptr && !free_.empty()) {
      block.operands = std::move(free_.back());
      free_.pop_back();
    } else if (block.operands == nullptr) {
      block.operands = std::make_unique_for_overwrite<nic_operand[]>(block_operands());
      ++blocks_;
    }
  }
  const bool is_over = block.epoch != epoch || block.operands == nullptr;
  const nic_operand* first = is_over ? beyond_.get() : &block.operands[size_t{member} * operands_];
  // The protocol adds what lies between the window's first operation and this one.
  return reinterpret_cast<uintptr_t>(first) - nic_index_of(epoch) * operands_ * sizeof(nic_operand);
}

void NicPlaces::complete(uint64_t epoch) {
  Block& block = kept_[epoch % kMost];
  if (block.epoch != epoch || ++block.complete < members_) return;
  free_.push_back(std::move(block.operands));
}

}  // namespace hocket::simulation
