// SPDX-License-Identifier: BSD-3-Clause
// The interfaces and choices of Kumar, Mamidala, Panda, Scaling Alltoall Collective on Multi-core Systems, as files,
// and which of their findings come out of the model. What doesn't is said in docs/benchmarks-clusters.md.
#include <gtest/gtest.h>

#include "selection/cost_model.h"
#include "selection/priced_calls.h"

namespace hocket::selection {
namespace {

Table preset(const std::string& name) {
  Result<Table> table = Table::load(std::string(HOCKET_PRESETS "/").append(name).append(".table"));
  EXPECT_TRUE(table.is_ok()) << table.status().message();
  return table.is_ok() ? table.take() : Table();
}

// An interface's model under the choice of an MPI's.
struct Machine {
  Table table;
  Nodes nodes;

  Machine(const std::string& interface, const std::string& choice, uint32_t count)
      : table(preset(choice).with_model(preset(interface).model())),
        nodes(Nodes::in_blocks(std::vector<uint32_t>(count, 8))) {}

  Query query(uint64_t bytes) const { return query_on(nodes, Collective::kAlltoall, bytes); }
  // "": what the table chooses.
  double us(const std::string& text, uint64_t bytes) const {
    const Query asked = query(bytes);
    const Result<Spec> spec = parse_spec(asked.collective, text.empty() ? "linear" : text);
    EXPECT_TRUE(spec.is_ok());
    const Result<Choice> choice = choose(asked, table, text.empty() ? nullptr : &spec.value());
    EXPECT_TRUE(choice.is_ok());
    return PricedCall(asked, choice.value()).us(table.model());
  }
};

TEST(Presets, SayWhoDrivesTheInterface) {
  const CostParameters path = preset("infinipath").model();
  const CostParameters host = preset("infinihost-iii").model();
  const CostParameters connect = preset("connectx").model();
  for (const CostParameters& each : {path, host, connect}) {
    EXPECT_EQ(each.cores, 8u);
    EXPECT_EQ(each.wire_dma, 1u);
    EXPECT_EQ(each.beta_us_per_kib, path.beta_us_per_kib) << "the nodes are alike";
  }
  EXPECT_EQ(path.wire_pio_bytes, 1u << 30);
  EXPECT_EQ(host.wire_pio_bytes, 0u);
  EXPECT_EQ(connect.wire_pio_bytes, 512u);
  EXPECT_GT(path.wire_miss_us_per_kib, 0);
  EXPECT_EQ(host.wire_miss_us_per_kib, 0);
  EXPECT_EQ(connect.wire_miss_us_per_kib, 0);
  EXPECT_GT(host.wire_crowding, 0);
  EXPECT_EQ(path.wire_crowding, 0);
  EXPECT_EQ(connect.wire_crowding, 0);
  // What they are derived from: latencies, the bandwidths of one rank, and the rates of a node's messages.
  const auto latency_us = [](const CostParameters& p) {
    return p.wire_alpha_us + 2 * p.wire_overhead_us + p.wire_gap_us;
  };
  EXPECT_NEAR(latency_us(path), 1.6, 0.01);
  EXPECT_NEAR(latency_us(host), 4.1, 0.01);
  EXPECT_NEAR(latency_us(connect), 1.5, 0.01);
  EXPECT_NEAR(1024 / path.wire_beta_us_per_kib, 950, 5);
  EXPECT_NEAR(1024 / connect.wire_beta_us_per_kib, 1500, 10);
  EXPECT_NEAR(1 / path.wire_gap_us, 8, 0.01);
  EXPECT_NEAR(1 / connect.wire_gap_us, 7, 0.2);
  EXPECT_NEAR(host.wire_gap_us * (1 + 7 * host.wire_crowding) / connect.wire_gap_us, 10, 0.1);
}

TEST(Presets, ChooseAsTheMpisDid) {
  const Nodes nodes = Nodes::in_blocks(std::vector<uint32_t>(8, 8));
  const auto chosen = [&](const Table& table, uint64_t bytes) {
    const Result<Choice> choice = choose(query_on(nodes, Collective::kAlltoall, bytes), table);
    return choice.is_ok() ? std::string(choice.value().algorithm->name) : std::string(choice.status().message());
  };
  const Table psm = preset("mvapich-psm");
  EXPECT_EQ(chosen(psm, 256), "bruck");
  EXPECT_EQ(chosen(psm, 257), "linear");
  EXPECT_EQ(chosen(psm, 32768), "linear");
  EXPECT_EQ(chosen(psm, 32769), "pairwise");
  const Table gen2 = preset("mvapich-gen2");
  EXPECT_EQ(chosen(gen2, 1), "bruck");
  EXPECT_EQ(chosen(gen2, 8192), "bruck");
  EXPECT_EQ(chosen(gen2, 8193), "pairwise");
}

TEST(Presets, SwitchWithinASchemeByTheLengthOfItsOwnMessages) {
  const Nodes nodes = Nodes::in_blocks(std::vector<uint32_t>(8, 8));
  const auto across = [&](const char* scheme, uint64_t bytes) {
    const Query query = query_on(nodes, Collective::kAlltoall, bytes);
    const Result<Spec> spec = parse_spec(query.collective, scheme);
    const Result<Choice> choice = choose(query, preset("mvapich-psm"), &spec.value());
    EXPECT_TRUE(choice.is_ok());
    return std::string(choice.value().parts[1].algorithm->name);
  };
  EXPECT_EQ(across("send_aggregation", 32), "bruck") << "8 blocks go together";
  EXPECT_EQ(across("send_aggregation", 40), "linear");
  EXPECT_EQ(across("receive_distribution", 4096), "linear");
  EXPECT_EQ(across("receive_distribution", 4104), "pairwise");
  EXPECT_EQ(across("leader", 4), "bruck") << "64 go together";
  EXPECT_EQ(across("leader", 8), "linear");
}

TEST(Presets, HostDrivenMoreCoresMakeTheSameDataTakeLonger) {
  // Figure 1: irecv-isend, the same 2 KiB from each node to each.
  const CostParameters model = preset("infinipath").model();
  double before = 0;
  for (const uint32_t ranks : {1u, 2u, 4u, 8u}) {
    const Nodes nodes = Nodes::in_blocks(std::vector<uint32_t>(8, ranks));
    const Query query = query_on(nodes, Collective::kAlltoall, 2048 / (ranks * ranks));
    const Result<Spec> spec = parse_spec(query.collective, "linear");
    const Result<Choice> choice = choose(query, Table(model), &spec.value());
    const double us = PricedCall(query, choice.value()).us(model);
    EXPECT_GT(us, before) << ranks;
    before = us;
  }
}

TEST(Presets, HostDrivenSendAggregationIsAhead) {
  const Machine machine("infinipath", "mvapich-psm", 8);
  for (const uint64_t bytes : {64ull, 128ull, 256ull, 512ull}) {
    const double aggregation = machine.us("send_aggregation", bytes);
    EXPECT_LT(aggregation, machine.us("", bytes)) << bytes;
    EXPECT_LT(aggregation, machine.us("leader", bytes)) << bytes;
    EXPECT_LT(aggregation, machine.us("leader:leaders=2", bytes)) << bytes;
  }
  // Of receive distribution beyond 256 bytes, too, because that reads what the interface wrote.
  for (const uint64_t bytes : {512ull, 1024ull, 4096ull, 32768ull}) {
    const double aggregation = machine.us("send_aggregation", bytes);
    EXPECT_GT(machine.us("receive_distribution", bytes), 1.02 * aggregation) << bytes;
    CostParameters in_cache = machine.table.model();
    in_cache.wire_miss_us_per_kib = 0;
    Machine without = machine;
    without.table = machine.table.with_model(in_cache);
    EXPECT_NEAR(without.us("receive_distribution", bytes) / without.us("send_aggregation", bytes), 1, 0.02) << bytes;
    EXPECT_EQ(without.us("send_aggregation", bytes), aggregation) << bytes;
  }
  // Not where Bruck's algorithm reads it in either scheme.
  for (const uint64_t bytes : {8ull, 16ull, 32ull})
    EXPECT_NEAR(machine.us("receive_distribution", bytes) / machine.us("send_aggregation", bytes), 1, 0.01) << bytes;
}

TEST(Presets, OffloadedAndCrowdedLeadersAreAhead) {
  const Machine machine("infinihost-iii", "mvapich-gen2", 8);
  for (const uint64_t bytes : {256ull, 512ull, 1024ull}) {
    const double leader = machine.us("leader", bytes);
    EXPECT_LT(leader, machine.us("", bytes)) << bytes;
    EXPECT_LT(leader, machine.us("send_aggregation", bytes)) << bytes;
    EXPECT_LT(leader, machine.us("receive_distribution", bytes)) << bytes;
  }
}

TEST(Presets, OffloadedForSeveralCoresOneLeaderIsBehind) {
  const Machine machine("connectx", "mvapich-gen2", 4);
  for (const uint64_t bytes : {1ull, 64ull, 512ull, 4096ull, 65536ull}) {
    const double leader = machine.us("leader", bytes);
    EXPECT_LT(machine.us("send_aggregation", bytes), leader) << bytes;
    EXPECT_LT(machine.us("receive_distribution", bytes), leader) << bytes;
  }
}

}  // namespace
}  // namespace hocket::selection
