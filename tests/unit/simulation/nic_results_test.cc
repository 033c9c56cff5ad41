// SPDX-License-Identifier: BSD-3-Clause
// Collectives with content on NIC engines in simulated time: what hosts are given is what the schedule computes, bit
// for bit, whatever is lost and whoever is late.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nic_network.h"
#include "simulation/core/random.h"
#include "support/nic_calls.h"

namespace hocket::test {
namespace {

using engines::nic::NicCall;
using schedule::Collective;

const simulation::NicPrices kWork = {.start_us = 1,
                                     .arrival_us = 0.5,
                                     .send_us = 0.25,
                                     .word_us = 0.01,
                                     .combine_us = 0.02,
                                     .combine_floating_us = 0.1,
                                     .notify_us = 1};

// All make the calls of a seed, each at times of its own.
struct Calls {
  NicCalls calls;
  NicNetwork network;

  Calls(const std::vector<NicAlgorithm>& algorithms, uint32_t size, const Wire& wire, uint16_t unexpected = NIC_WINDOW)
      : calls(algorithms, size, wire.seed), network(wire, kWork, programs(size), options(size, unexpected)) {}

  NicNetwork::Programs programs(uint32_t size) const {
    NicNetwork::Programs programs;
    for (uint32_t member = 0; member < size; ++member) {
      const std::vector<nic_program> parts = calls.programs_of(member).take().programs;
      programs.resize(parts.size());
      for (size_t i = 0; i < parts.size(); ++i) programs[i].push_back(parts[i]);
    }
    return programs;
  }
  simulation::NicOptions options(uint32_t, uint16_t unexpected) const {
    return {.unexpected = unexpected, .synchronizing = calls.programs_of(0).take().synchronizing};
  }

  void run(uint64_t rounds, double skew_us, uint64_t seed) {
    for (uint32_t member = 0; member < network.size(); ++member) {
      double us = 0;
      for (uint64_t epoch = 1; epoch <= rounds; ++epoch) {
        us += skew_us * simulation::random_fraction(seed, simulation::Purpose::kSkew, member, epoch);
        NicCall call = calls.call(epoch);
        const nic_operand operand = calls.operand(member, epoch);
        if (calls.gives_operand(member, epoch)) call.operand = &operand;
        network.ring_at(member, us, call);
      }
    }
    network.run();
    for (uint64_t epoch = 1; epoch <= rounds; ++epoch) expect_results(epoch);
  }

  void expect_results(uint64_t epoch) const {
    const NicCalls::Results expected = calls.expected(epoch);
    for (uint32_t member = 0; member < network.size(); ++member) {
      ASSERT_GE(network.completed_us(member, epoch), 0) << "member " << member << ", epoch " << epoch;
      const nic_operand* result = network.result(member, epoch);
      ASSERT_EQ(result != nullptr, expected.has_result[member]) << "member " << member << ", epoch " << epoch;
      for (uint32_t i = 0; result != nullptr && i < calls.call(epoch).words; ++i)
        ASSERT_EQ(result->word[i], expected.results[member].word[i])
            << "word " << i << ", member " << member << ", epoch " << epoch;
    }
  }
};

TEST(NicResults, AreThoseOfTheSchedule) {
  for (const NicAlgorithm& algorithm : nic_algorithms()) {
    for (const uint32_t size : {2u, 7u, 16u}) {
      SCOPED_TRACE(std::string(algorithm.name) + ", " + std::to_string(size) + " members");
      Calls calls({algorithm}, size, {.latency_us = 5, .seed = size});
      calls.run(2 * NIC_SYNCHRONIZES, 30, size);
      EXPECT_EQ(calls.network.engines().counts().lost, 0u);
    }
  }
}

// As many are in flight as may be.
TEST(NicResults, AreTheSameUnderLossAndSkew) {
  for (const uint32_t size : {3u, 8u, 13u}) {
    for (const double skew_us : {1.0, 2000.0}) {
      const uint64_t seed = 10 * size + static_cast<uint64_t>(skew_us);
      SCOPED_TRACE("seed " + std::to_string(seed));
      Calls calls(nic_algorithms(), size, {.latency_us = 5, .loss = 0.1, .seed = seed});
      calls.run(3 * NIC_WINDOW, skew_us, seed);
      EXPECT_GT(calls.network.engines().counts().repeated, 0u);
    }
  }
}

TEST(NicResults, AreTheSameWhereOperandsAreRejected) {
  Calls calls({{Collective::kReduce, "tree_mm", 2}}, 8, {.latency_us = 5, .seed = 4}, 0);
  calls.run(NIC_WINDOW, 200, 4);
  EXPECT_GT(calls.network.engines().counts().verdicts[NIC_REJECTED], 0u);
}

// Operands that come one after the other are combined meanwhile, so that less is left to do when the last has come.
TEST(NicResults, OnArrivalTakeAsManySumsAndLessTime) {
  const auto run = [](bool on_arrival) {
    Calls calls({{Collective::kAllreduce, "tree_mm", 16, on_arrival}}, 16, {.latency_us = 5, .seed = 9});
    NicCall call;
    call.words = 64;
    call.operation = NIC_SUM;
    call.type = NIC_UINT64;
    for (uint32_t member = 0; member < 16; ++member)
      calls.network.ring_at(member, member == 15 ? 900 : 20 * member, call);
    calls.network.run();
    return std::pair(calls.network.last_completed_us(), calls.network.engines().combined());
  };
  const auto [in_order_us, in_order] = run(false);
  const auto [on_arrival_us, on_arrival] = run(true);
  EXPECT_GT(in_order_us, on_arrival_us + 10 * 64 * 0.02);
  EXPECT_LE(on_arrival, in_order);
}

}  // namespace
}  // namespace hocket::test
