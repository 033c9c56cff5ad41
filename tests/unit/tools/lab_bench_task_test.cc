// SPDX-License-Identifier: BSD-3-Clause
#include "bench/lab/task.h"

#include <gtest/gtest.h>

#include "bench/lab/operations.h"
#include "engines/nic/operation_name.h"

namespace hocket::lab_bench {
namespace {

using reduction::Operation;
using reduction::Type;

Task allreduce_of(Operation operation) {
  Task task;
  task.ranks = 7;
  task.work.collective = schedule::Collective::kAllreduce;
  task.work.operation = operation;
  task.work.type = Type::kInt64;
  task.work.words = 5;
  return task;
}

// As engines do it, of all ranks but one.
nic_operand combined(const Task& task, uint64_t call, uint32_t without) {
  const uint8_t name = engines::nic::operation_name(task.work.collective, task.work.operation, task.work.type);
  nic_operand result = operand_of(task.work, without == 0 ? 1 : 0, call);
  for (uint32_t rank = without == 0 ? 2 : 1; rank < task.ranks; ++rank) {
    const nic_operand other = operand_of(task.work, rank, call);
    for (uint32_t i = 0; rank != without && i < task.work.words; ++i)
      result.word[i] = nic_combine_word(engines::nic::operation_of(name), engines::nic::type_of(name), result.word[i],
                                        other.word[i]);
  }
  return result;
}

TEST(LabBenchTask, ResultsOfEveryOperationOfEnginesAreRecognised) {
  const std::vector<std::string> names = names_of_operations();
  EXPECT_EQ(names, (std::vector<std::string>{"sum", "min", "max", "band", "bor", "bxor"}));
  for (const std::string& name : names) {
    const Task task = allreduce_of(operation_named(name).value());
    for (uint64_t call = 1; call < 40; ++call) {
      nic_operand result = combined(task, call, task.ranks);
      EXPECT_EQ(difference(task, call, result), "") << name;
      EXPECT_NE(difference(task, call + 1, result), "") << name << ": the result of the call before";
      result.word[4] ^= 1;
      EXPECT_NE(difference(task, call, result), "") << name;
    }
  }
}

TEST(LabBenchTask, AnOperandThatIsMissingShows) {
  for (const char* name : {"sum", "band", "bor", "bxor"}) {
    const Task task = allreduce_of(operation_named(name).value());
    for (uint32_t without = 0; without < task.ranks; ++without)
      EXPECT_NE(difference(task, 3, combined(task, 3, without)), "") << name << " without rank " << without;
  }
}

TEST(LabBenchTask, OperationsThatEnginesDontKnowAreNone) {
  for (const char* name : {"prod", "land", "minloc", "none", "frob", ""}) EXPECT_FALSE(operation_named(name)) << name;
  EXPECT_FALSE(can_combine(Operation::kBitOr, Type::kDouble));
  EXPECT_TRUE(can_combine(Operation::kMax, Type::kDouble));
}

}  // namespace
}  // namespace hocket::lab_bench
