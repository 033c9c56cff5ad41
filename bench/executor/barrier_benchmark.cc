// SPDX-License-Identifier: BSD-3-Clause
// A barrier of two ranks on two cores: by a lane alone, by the executor over a lane, and by the public API, each
// against the same barrier written by hand. What one level adds is its `over_ns_per_step` less that of the one before.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "algorithms/algorithm.h"
#include "barrier_by_hand.h"
#include "engines/executor/execution.h"
#include "engines/shared_memory/memory_transport.h"
#include "platform/waiting/parking.h"
#include "two_ranks.h"
#include "versus.h"

namespace {

using hocket::bench::ExchangeByHand;
using hocket::bench::HandLines;
using hocket::bench::PublicComm;
using hocket::bench::SignalByHand;
using hocket::bench::Spinning;
using hocket::bench::ThereAndBackByHand;
using hocket::bench::TwoRanks;
using hocket::engines::Execution;
using hocket::engines::Instruction;
using hocket::engines::Operands;
using hocket::engines::Program;
using hocket::engines::Progress;
using hocket::engines::StepState;
using hocket::engines::shared_memory::Member;
using hocket::engines::shared_memory::MemoryTransport;
using hocket::engines::shared_memory::NodeGroup;
using hocket::engines::shared_memory::RankBlock;

constexpr uint32_t kRanks = TwoRanks::kRanks;

std::unique_ptr<MemoryTransport> make_lane(NodeGroup& group) {
  hocket::Result<std::unique_ptr<MemoryTransport>> made = MemoryTransport::create(group, 0);
  if (!made.is_ok()) hocket::bench::give_up(made.status().message());
  return made.take();
}

// One rank's engine: a group over both regions, and the program of the barrier.
struct alignas(128) Engine {
  Engine(TwoRanks& ranks, uint32_t rank, std::vector<Member> members, const char* algorithm)
      : program(hocket::engines::bind(
            hocket::algorithms::make_plan(*hocket::algorithms::find(hocket::schedule::Collective::kBarrier, algorithm),
                                          {.size = kRanks, .rank = rank}),
            /*count=*/0, /*element_bytes=*/1)),
        group(rank, std::move(members), ranks.region(rank), hocket::platform::register_asymmetric_barrier()),
        lane(make_lane(group)) {}

  const Program program;
  NodeGroup group;
  const std::unique_ptr<MemoryTransport> lane;
  Execution execution;
  const Operands operands;
};

// The steps handed to the lane one by one: what the transport costs without the executor.
struct ByLane {
  Engine& engine;
  void operator()() {
    MemoryTransport& lane = *engine.lane;
    Spinning spinning;
    lane.begin(engine.program);
    for (const Instruction& step : engine.program.instructions) {
      StepState state;
      while (lane.run(step, state, engine.operands) == Progress::kPending) spinning.pause();
    }
    while (lane.finish() == Progress::kPending) spinning.pause();
  }
};

struct ByExecution {
  Engine& engine;
  void operator()() {
    Spinning spinning;
    engine.execution.start(engine.program, engine.operands, *engine.lane);
    while (engine.execution.advance() == Progress::kPending) spinning.pause();
  }
};

struct ByApi {
  hocket_comm_t* comm;
  void operator()() { (void)hocket_barrier(comm); }
};

// Everything that the benchmarks of one algorithm need, made when the first of them runs.
template <typename ByHand>
class Barrier {
 public:
  explicit Barrier(TwoRanks& ranks) : ranks_(ranks), comm_(PublicComm::create(ranks, ByHand::kName)) {
    HandLines* lines[kRanks];
    std::vector<Member> members;
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      lines[rank] = new (ranks.allocate(rank, sizeof(HandLines))) HandLines;
      auto* block = static_cast<RankBlock*>(ranks.allocate(rank, RankBlock::bytes(kRanks)));
      members.push_back({block, {ranks.region(rank)->base(), ranks.region(rank)->limit()}});
    }
    // Each makes its own on its own thread: what lies side by side in one heap shares cache lines.
    ranks.run([&](uint32_t rank) {
      by_hand_[rank] = std::make_unique<ByHand>(rank, lines);
      engines_[rank] = std::make_unique<Engine>(ranks, rank, members, ByHand::kName);
    });
  }

  // `make(rank)`: a call of hocket's at the level to be measured.
  template <typename Make>
  void compare(benchmark::State& state, const Make& make) {
    ranks_.run([&](uint32_t rank) {
      auto ours = make(rank);
      if (rank == 0) {
        const auto steps = static_cast<uint32_t>(engine(0).program.instructions.size());
        hocket::bench::compare(state, steps, *by_hand_[0], ours);
      } else {
        hocket::bench::take_part(state, *by_hand_[1], ours);
      }
    });
  }

  Engine& engine(uint32_t rank) { return *engines_[rank]; }
  hocket_comm_t* comm(uint32_t rank) { return comm_->comm(rank); }

 private:
  TwoRanks& ranks_;
  std::unique_ptr<PublicComm> comm_;
  std::unique_ptr<ByHand> by_hand_[kRanks];
  std::unique_ptr<Engine> engines_[kRanks];
};

TwoRanks* two_ranks() {
  static const std::unique_ptr<TwoRanks> ranks = TwoRanks::create();
  return ranks.get();
}

template <typename ByHand, typename MakeCall>
void run(benchmark::State& state, MakeCall make_call) {
  TwoRanks* ranks = two_ranks();
  if (ranks == nullptr) {
    state.SkipWithError("needs two cores");
    return;
  }
  static Barrier<ByHand> barrier(*ranks);
  barrier.compare(state, [&](uint32_t rank) { return make_call(barrier, rank); });
}

template <typename ByHand>
void add() {
  const auto level = [](const char* name, auto make_call) {
    const std::string title = std::string("barrier_of_2/") + ByHand::kName + "/" + name;
    benchmark::RegisterBenchmark(title.c_str(), run<ByHand, decltype(make_call)>, make_call)->UseManualTime();
  };
  level("lane", [](Barrier<ByHand>& barrier, uint32_t rank) { return ByLane{barrier.engine(rank)}; });
  level("execution", [](Barrier<ByHand>& barrier, uint32_t rank) { return ByExecution{barrier.engine(rank)}; });
  level("api", [](Barrier<ByHand>& barrier, uint32_t rank) { return ByApi{barrier.comm(rank)}; });
}

[[maybe_unused]] const bool barriers_registered = [] {
  add<SignalByHand>();
  add<ExchangeByHand>();
  add<ThereAndBackByHand>();
  return true;
}();

}  // namespace
