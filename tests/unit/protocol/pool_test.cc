// SPDX-License-Identifier: BSD-3-Clause
// Operands that are combined as they come: in which order, and what is sent of them when.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "protocol_network.h"
#include "support/nic_calls.h"

namespace hocket::test {
namespace {

using engines::nic::Form;
using schedule::Collective;

constexpr uint32_t kMembers = 4;
constexpr NicAlgorithm kFlat = {Collective::kReduce, "tree_mm", kFlatTree};

// The root of a flat tree.
class Root {
 public:
  explicit Root(const Form& form) {
    group_.size = kMembers;
    group_.programs = 1;
    group_.program[0] =
        engines::nic::stage_table(0, form, [](uint32_t rank) { return plan_of(kFlat, kMembers, rank); }).take();
    group_.operands = program().operands;
    group_.unexpected = NIC_WINDOW;
    places_.resize(size_t{NIC_WINDOW} * group_.operands);
  }

  const nic_program& program() const { return group_.program[0]; }

  // Takes the operand of a member, its own as the host's; gives the result if this is the last.
  const nic_operand* give(uint32_t member, uint64_t epoch, double number) {
    nic_operand operand{};
    operand.word[0] = std::bit_cast<uint64_t>(number);
    nic_message message = message_of(NIC_MESSAGE, epoch, member, 0);
    message.words = message.carried = 1;
    message.operation = NIC_SUM;
    message.type = NIC_DOUBLE;
    for (uint32_t bit = 0; member != 0 && bit < program().arrivals; ++bit) {
      if (program().arrival[bit].member != member) continue;
      message.bit = static_cast<uint8_t>(bit);
      message.send = program().arrival[bit].send;
    }
    const nic_outcome outcome = member == 0 ? nic_start(&group_, &state_, memory(), &message, &operand)
                                            : nic_take(&group_, &state_, memory(), &message, &operand);
    EXPECT_EQ(outcome.verdict, NIC_TAKEN);
    if (outcome.publishes == 0) return nullptr;
    EXPECT_TRUE(nic_result(&group_, &state_, memory(), 0, epoch, outcome.call, &result_) != 0);
    (void)nic_published(&group_, &state_, 0, epoch);
    return &result_;
  }

 private:
  uint64_t memory() { return reinterpret_cast<uintptr_t>(places_.data()); }

  nic_group group_{};
  nic_state state_{};
  std::vector<nic_operand> places_;
  nic_operand result_{};
};

// Sums that differ with the order, in which 1 is lost beside 2^53.
constexpr double kNumbers[kMembers] = {1, 0x1p53, 1, -0x1p53};

double sum_in(const std::vector<uint32_t>& order) {
  double sum = kNumbers[order[0]];
  for (uint32_t i = 1; i < kMembers; ++i) sum += kNumbers[order[i]];
  return sum;
}

// Gives all orders in which the operands can come, with what is made of each.
std::vector<std::pair<std::vector<uint32_t>, double>> sums_of(const Form& form) {
  std::vector<std::pair<std::vector<uint32_t>, double>> sums;
  Root root(form);
  std::vector<uint32_t> order(kMembers);
  std::iota(order.begin(), order.end(), 0);
  uint64_t epoch = 0;
  do {
    ++epoch;
    const nic_operand* result = nullptr;
    for (const uint32_t member : order) {
      EXPECT_EQ(result, nullptr);
      result = root.give(member, epoch, kNumbers[member]);
    }
    EXPECT_NE(result, nullptr);
    if (result != nullptr) sums.emplace_back(order, std::bit_cast<double>(result->word[0]));
  } while (std::next_permutation(order.begin(), order.end()));
  return sums;
}

TEST(NicPool, CombinesInTheOrderOfArrival) {
  const auto sums = sums_of({.on_arrival = true});
  EXPECT_EQ(sums.size(), 24u);
  for (const auto& [order, sum] : sums) EXPECT_EQ(sum, sum_in(order)) << testing::PrintToString(order);
}

TEST(NicPool, IsNotUsedWhereTheOrderIsTheSchedules) {
  const auto sums = sums_of({});
  EXPECT_EQ(sums.size(), 24u);
  for (const auto& [order, sum] : sums) EXPECT_EQ(sum, sums.front().second) << testing::PrintToString(order);
}

TEST(NicPool, RefusesSchedulesThatSendOnWhatIsNotComplete) {
  const NicAlgorithm doubling = {Collective::kAllreduce, "recursive_doubling"};
  const auto plan = [&](uint32_t rank) { return plan_of(doubling, kMembers, rank); };
  const Result<nic_program> program = engines::nic::stage_table(0, {.on_arrival = true}, plan);
  ASSERT_FALSE(program.is_ok());
  EXPECT_NE(std::string(program.status().message()).find("the order must be known"), std::string::npos);
  EXPECT_FALSE(engines::nic::can_hold(plan(0), {.on_arrival = true}).is_ok());
}

TEST(NicPool, IsEmptyWhereNothingIsCombined) {
  for (const Collective collective : {Collective::kBroadcast, Collective::kAlltoall}) {
    const NicAlgorithm algorithm = {collective, collective == Collective::kBroadcast ? "tree_mm" : "linear", 2};
    const Result<nic_program> program = engines::nic::stage_table(
        0, {.on_arrival = true}, [&](uint32_t rank) { return plan_of(algorithm, kMembers, rank); });
    ASSERT_TRUE(program.is_ok());
    EXPECT_EQ(program.value().pooled, 0u);
  }
}

}  // namespace
}  // namespace hocket::test
