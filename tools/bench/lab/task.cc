// SPDX-License-Identifier: BSD-3-Clause
#include "bench/lab/task.h"

#include <bit>

namespace hocket::lab_bench {

using reduction::Operation;
using schedule::Collective;

namespace {

uint64_t word_of(const Work& work, uint64_t number) {
  constexpr uint64_t kNumbers = 1021, kBits = 64;
  // A multiple of the golden ratio, in 64 bits: its upper bits change with each number.
  const uint64_t mixed = (number + 1) * 0x9e3779b97f4a7c15;
  switch (work.operation) {
    case Operation::kBitAnd:
      return ~(uint64_t{1} << mixed / (UINT64_MAX / kBits + 1));
    case Operation::kBitOr:
      return uint64_t{1} << mixed / (UINT64_MAX / kBits + 1);
    case Operation::kBitXor:
      return mixed;
    default:
      break;
  }
  const uint64_t small = number % kNumbers;
  return work.type == reduction::Type::kDouble ? std::bit_cast<uint64_t>(static_cast<double>(small)) : small;
}

}  // namespace

nic_operand operand_of(const Work& work, uint32_t rank, uint64_t call) {
  nic_operand operand{};
  for (uint32_t i = 0; i < work.words; ++i) operand.word[i] = word_of(work, call * 7 + rank * 31 + i);
  return operand;
}

std::string difference(const Task& task, uint64_t call, const nic_operand& result) {
  const Work& work = task.work;
  if (work.words == 0) return "";
  // By the library's kernels, which share nothing with what engines combine by.
  const reduction::Combine combine = reduction::find_combine(work.operation, work.type);
  nic_operand expected = operand_of(work, 0, call);
  for (uint32_t rank = 1; rank < task.ranks && work.collective != Collective::kBroadcast; ++rank) {
    const nic_operand other = operand_of(work, rank, call);
    combine(&expected, &other, &expected, work.words);
  }
  for (uint32_t i = 0; i < work.words; ++i)
    if (result.word[i] != expected.word[i])
      return "call " + std::to_string(call) + " has brought another result in element " + std::to_string(i);
  return "";
}

}  // namespace hocket::lab_bench
