// SPDX-License-Identifier: BSD-3-Clause
#include "bench/lab/task.h"

#include <bit>

#include "protocol/operation.h"

namespace hocket::lab_bench {

using schedule::Collective;

nic_operand operand_of(const Work& work, uint32_t rank, uint64_t call) {
  nic_operand operand{};
  for (uint32_t i = 0; i < work.words; ++i) {
    constexpr uint64_t kNumbers = 1021;
    const uint64_t number = (call * 7 + rank * 31 + i) % kNumbers;
    operand.word[i] = work.type == NIC_DOUBLE ? std::bit_cast<uint64_t>(static_cast<double>(number)) : number;
  }
  return operand;
}

std::string difference(const Task& task, uint64_t call, const nic_operand& result) {
  const Work& work = task.work;
  nic_operand expected = operand_of(work, 0, call);
  for (uint32_t rank = 1; rank < task.ranks && work.collective != Collective::kBroadcast; ++rank) {
    const nic_operand other = operand_of(work, rank, call);
    for (uint32_t i = 0; i < work.words; ++i)
      expected.word[i] = nic_combine_word(work.operation, work.type, expected.word[i], other.word[i]);
  }
  for (uint32_t i = 0; i < work.words; ++i)
    if (result.word[i] != expected.word[i])
      return "call " + std::to_string(call) + " has brought another result in element " + std::to_string(i);
  return "";
}

}  // namespace hocket::lab_bench
