// SPDX-License-Identifier: BSD-3-Clause
// Collectives with content: schedules as tables, on a network that does what it likes; each result is what the schedule
// computes where nothing goes wrong, bit for bit.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "protocol_network.h"
#include "support/nic_calls.h"

namespace hocket::test {

void PrintTo(const NicAlgorithm& algorithm, std::ostream* out) {
  *out << algorithm.name << "/" << algorithm.degree << (algorithm.on_arrival ? " on arrival" : "");
}

namespace {

using engines::nic::Mode;
using engines::nic::NicCall;
using schedule::Collective;

// Sanitizers see the same with fewer calls.
#ifdef HOCKET_SANITIZED
constexpr uint64_t kCalls = NIC_WINDOW / 2;
constexpr uint32_t kSizeStep = 5;
#else
constexpr uint64_t kCalls = 2 * NIC_WINDOW;
constexpr uint32_t kSizeStep = 1;
#endif

// The network's hosts make these calls.
class Hosts {
 public:
  Hosts(std::vector<NicAlgorithm> algorithms, uint32_t size, Odds odds, uint64_t seed, Mode mode = Mode::kCollective)
      : calls(std::move(algorithms), size, seed),
        network(programs_by_number(calls, size, mode, synchronizing_), odds, seed),
        dice_(seed) {}

  NicCalls calls;

 private:
  std::vector<uint8_t> synchronizing_;

 public:
  ProtocolNetwork network;

  // Begin whenever they may until all have `rounds` behind them; `before` of them they had when this began.
  void run(uint64_t rounds, uint64_t before = 0) {
    for (uint64_t turn = 0; !is_done(rounds) && turn < 100'000; ++turn) {
      for (uint32_t i = 0; i < network.size(); ++i) {
        const auto member = static_cast<uint32_t>(dice_() % network.size());
        // Some are slower than others.
        if (network.started(member) == rounds || dice_() % 8 < 2 + member % 5) continue;
        const nic_verdict verdict = start(member);
        ASSERT_TRUE(verdict == NIC_TAKEN || verdict == NIC_TOO_MANY) << verdict;
        for (uint64_t packets = dice_() % 4; packets != 0 && network.deliver(); --packets) continue;
      }
      if (dice_() % 8 == 0) network.settle_and_tick();
    }
    for (uint32_t member = 0; member < network.size(); ++member) {
      ASSERT_EQ(network.completed(member), rounds) << "member " << member;
      EXPECT_EQ(network.reported(member), rounds - before) << "member " << member;
      EXPECT_EQ(network.state(member).broken, 0u);
    }
    for (uint64_t epoch = before + 1; epoch <= rounds; ++epoch) expect_results(epoch);
  }

  nic_verdict start(uint32_t member) {
    const uint64_t epoch = network.started(member) + 1;
    const NicCall call = calls.call(epoch);
    nic_message doorbell{};
    doorbell.epoch = epoch;
    doorbell.program = static_cast<uint8_t>(call.program);
    if (epoch % NIC_SYNCHRONIZES == 0) doorbell.program = synchronizing_[call.program];
    doorbell.root = static_cast<uint16_t>(call.root);
    doorbell.words = call.words;
    doorbell.operation = call.operation;
    doorbell.type = call.type;
    doorbell.carried = calls.gives_operand(member, epoch) ? call.words : uint8_t{0};
    return network.start(member, doorbell, calls.operand(member, epoch));
  }

 private:
  static std::vector<std::vector<nic_program>> programs_by_number(const NicCalls& calls, uint32_t size, Mode mode,
                                                                  std::vector<uint8_t>& synchronizing) {
    std::vector<std::vector<nic_program>> by_number;
    for (uint32_t member = 0; member < size; ++member) {
      const Result<NicCalls::Programs> programs = calls.programs_of(member, mode);
      EXPECT_TRUE(programs.is_ok()) << (programs.is_ok() ? "" : programs.status().message());
      by_number.resize(programs.value().programs.size());
      for (size_t i = 0; i < by_number.size(); ++i) by_number[i].push_back(programs.value().programs[i]);
      synchronizing = programs.value().synchronizing;
    }
    return by_number;
  }

  bool is_done(uint64_t rounds) const {
    for (uint32_t member = 0; member < network.size(); ++member)
      if (network.completed(member) < rounds) return false;
    return true;
  }

  void expect_results(uint64_t epoch) const {
    const NicCalls::Results expected = calls.expected(epoch);
    for (uint32_t member = 0; member < network.size(); ++member) {
      const nic_operand* result = network.result(member, epoch);
      ASSERT_EQ(result != nullptr, expected.has_result[member]) << "member " << member << ", epoch " << epoch;
      for (uint32_t i = 0; result != nullptr && i < calls.call(epoch).words; ++i)
        ASSERT_EQ(result->word[i], expected.results[member].word[i])
            << "word " << i << ", member " << member << ", epoch " << epoch;
    }
  }

  std::mt19937_64 dice_;
};

class NicContent : public testing::TestWithParam<NicAlgorithm> {};

TEST_P(NicContent, IsWhatTheScheduleComputes) {
  for (uint32_t size = 2; size <= 17; size += kSizeStep) {
    SCOPED_TRACE(size);
    Hosts({GetParam()}, size, {}, size).run(2 * NIC_SYNCHRONIZES);
  }
}

TEST_P(NicContent, IsTheSameWhateverTheWireDoes) {
  for (const uint32_t size : {2u, 3u, 8u, 13u}) {
    for (const double loss : {0.02, 0.2}) {
      const uint64_t seed = 1000 * size + static_cast<uint64_t>(100 * loss);
      SCOPED_TRACE("seed " + std::to_string(seed));
      Hosts({GetParam()}, size, {.loss = loss, .duplicate = 0.1, .reorder = true}, seed).run(kCalls);
    }
  }
}

TEST_P(NicContent, IsRejectedWhereItIsTooFarAheadAndNotLost) {
  for (const uint16_t kept : std::initializer_list<uint16_t>{0, 1, 3}) {
    Hosts hosts({GetParam()}, 8, {.loss = 0.02, .reorder = true}, 77u + kept);
    hosts.network.keep_unexpected(kept);
    hosts.run(NIC_WINDOW);
    EXPECT_GT(hosts.network.count(NIC_REJECTED), 0u);
  }
}

TEST_P(NicContent, IsNotSentTwiceOnAWireThatLosesNothing) {
  Hosts hosts({GetParam()}, 7, {.duplicate = 0.1, .reorder = true}, 5, Mode::kChain);
  hosts.run(kCalls);
  EXPECT_FALSE(hosts.network.has_repeated());
}

const NicAlgorithm kAlgorithms[] = {
    {Collective::kReduce, "tree_mm", 2},
    {Collective::kReduce, "tree_mm", 1},
    {Collective::kReduce, "tree_mm", 4},
    {Collective::kReduce, "tree_mm", kFlatTree},
    {Collective::kBroadcast, "tree_mm", 2},
    {Collective::kBroadcast, "tree_mm", 1},
    {Collective::kBroadcast, "tree_mm", kFlatTree},
    {Collective::kAllreduce, "recursive_doubling"},
    {Collective::kAllreduce, "linear"},
    {Collective::kAlltoall, "linear"},
    {Collective::kAlltoall, "pairwise"},
    {Collective::kReduce, "tree_mm", 2, true},
    {Collective::kReduce, "tree_mm", kFlatTree, true},
    {Collective::kAllreduce, "tree_mm", 2, true},
    {Collective::kAllreduce, "tree_mm", kFlatTree, true},
};
INSTANTIATE_TEST_SUITE_P(Algorithms, NicContent, testing::ValuesIn(kAlgorithms));

TEST(NicContents, MixInOneGroup) {
  for (const uint32_t size : {2u, 5u, 16u}) {
    SCOPED_TRACE(size);
    Hosts(nic_algorithms(), size, {.loss = 0.05, .duplicate = 0.1, .reorder = true}, size).run(5 * kCalls);
  }
}

TEST(NicContents, RunOverTheRoundsOfTheRecords) {
  constexpr uint64_t kRoundTrip = uint64_t{NIC_WINDOW} * NIC_ROUNDS;
  for (const uint64_t first : {kRoundTrip - 3, kRoundTrip / 2 - 7, 5 * kRoundTrip - NIC_WINDOW}) {
    Hosts hosts(nic_algorithms(), 4, {.loss = 0.05, .duplicate = 0.1, .reorder = true}, 3);
    hosts.network.begin_after(first);
    hosts.run(first + 3 * NIC_WINDOW, first);
  }
}

// Who has started and finished may be asked by those who come much later.
TEST(NicContents, WhoIsFarAheadStillAnswers) {
  Hosts hosts({{Collective::kReduce, "tree_mm", kFlatTree}}, 3, {.loss = 0.5}, 1);
  for (int i = 0; i < NIC_SYNCHRONIZES - 1; ++i) {
    EXPECT_EQ(hosts.start(1), NIC_TAKEN);
    EXPECT_EQ(hosts.start(2), NIC_TAKEN);
  }
  for (int tick = 0; tick < 100; ++tick) hosts.network.settle_and_tick();
  hosts.run(NIC_SYNCHRONIZES - 1);
}

// Processors that take packets of the same operations at the same time, each packet several times: an operand has one
// writer, and each result is worked out by one processor, from operands that are whole.
class NicContentForms : public testing::TestWithParam<engines::nic::Form> {};
INSTANTIATE_TEST_SUITE_P(Forms, NicContentForms,
                         testing::Values(engines::nic::Form{}, engines::nic::Form{.on_arrival = true}));

TEST_P(NicContentForms, AreSharedByProcessors) {
  constexpr uint32_t kMembers = 9;
  constexpr uint32_t kProcessors = 4;
  constexpr uint64_t kEpochs = 1500;
  constexpr uint8_t kWords = 5;
  const NicAlgorithm flat = {Collective::kAllreduce, "tree_mm", 16};
  const auto program =
      engines::nic::stage_table(0, GetParam(), [&](uint32_t rank) { return plan_of(flat, kMembers, rank); }).take();
  nic_group group{};
  group.size = kMembers;
  group.programs = 1;
  group.program[0] = program;
  group.operands = program.operands;
  group.unexpected = NIC_WINDOW;
  nic_state state{};
  std::vector<nic_operand> places(size_t{NIC_WINDOW} * group.operands);
  const auto memory = reinterpret_cast<uintptr_t>(places.data());
  const auto message = [&](uint64_t epoch, uint32_t bit) {
    nic_message made = message_of(NIC_MESSAGE, epoch, program.arrival[bit].member, 0, 0, static_cast<uint8_t>(bit),
                                  program.arrival[bit].send);
    made.words = made.carried = kWords;
    made.operation = NIC_SUM;
    made.type = NIC_UINT64;
    return made;
  };
  std::atomic<uint64_t> reported = 0;
  std::atomic<uint64_t> published = 0;
  std::atomic<uint64_t> wrong = 0;
  const auto act = [&](const nic_outcome& outcome, uint64_t epoch) {
    reported += outcome.completed;
    if (outcome.publishes == 0) return;
    nic_operand result{};
    (void)nic_result(&group, &state, memory, 0, epoch, outcome.call, &result);
    for (uint32_t i = 0; i < kWords; ++i) wrong += result.word[i] != kMembers * (epoch + i);
    ++published;
    reported += nic_published(&group, &state, 0, epoch);
  };
  std::vector<std::thread> processors;
  for (uint32_t part = 0; part < kProcessors; ++part) {
    processors.emplace_back([&, part] {
      for (uint64_t epoch = 1; epoch <= kEpochs; ++epoch) {
        while (reported + NIC_IN_FLIGHT < epoch) std::this_thread::yield();
        nic_operand operand{};
        for (uint32_t i = 0; i < kWords; ++i) operand.word[i] = epoch + i;
        for (uint32_t bit = 0; bit < program.arrivals; ++bit) {
          const nic_message packet = message(epoch, bit);
          if (bit % kProcessors == part || bit % 3 == 0)
            act(nic_take(&group, &state, memory, &packet, &operand), epoch);
        }
        const nic_message doorbell = message(epoch, 0);
        if (part == 0) act(nic_start(&group, &state, memory, &doorbell, &operand), epoch);
      }
    });
  }
  for (std::thread& processor : processors) processor.join();
  EXPECT_EQ(reported, kEpochs);
  EXPECT_EQ(published, kEpochs);
  EXPECT_EQ(wrong, 0u);
}

TEST(NicContents, OfDifferentCallsAreADisagreement) {
  for (const bool changes_root : {false, true}) {
    Hosts hosts({{Collective::kReduce, "tree_mm", 2}}, 2, {}, 1);
    EXPECT_EQ(hosts.start(1), NIC_TAKEN);
    while (hosts.network.deliver()) continue;
    const NicCall call = hosts.calls.call(1);
    nic_message doorbell{};
    doorbell.epoch = 1;
    doorbell.root = static_cast<uint16_t>(changes_root ? 1 - call.root : call.root);
    doorbell.words = static_cast<uint8_t>(changes_root ? call.words : call.words % NIC_MOST_WORDS + 1);
    doorbell.operation = call.operation;
    doorbell.type = call.type;
    doorbell.carried = doorbell.words;
    EXPECT_EQ(hosts.network.start(0, doorbell, {}), NIC_DISAGREEMENT);
    EXPECT_EQ(hosts.network.state(0).broken & 0xff, uint64_t{NIC_CAUSE_DISAGREES});
  }
}

TEST(NicStageTable, HoldsAsManyChildrenAsTheRecordHasBits) {
  const NicAlgorithm flat = {Collective::kReduce, "tree_mm", kFlatTree};
  constexpr uint32_t kMost = NIC_MOST_ARRIVALS - 2;  // one bit for the root's, one for the result
  for (const uint32_t size : {kMost + 1, kMost + 2}) {
    const Result<nic_program> program =
        engines::nic::stage_table(0, {}, [&](uint32_t rank) { return plan_of(flat, size, rank); });
    EXPECT_EQ(program.is_ok(), size == kMost + 1);
    if (program.is_ok()) continue;
    EXPECT_NE(std::string(program.status().message()).find("the most are 45"), std::string::npos);
  }
}

TEST(NicStageTable, RefusesWhatCutsOperands) {
  const NicAlgorithm ring = {Collective::kAllreduce, "ring"};
  const Result<nic_program> program =
      engines::nic::stage_table(0, {}, [&](uint32_t rank) { return plan_of(ring, 4, rank); });
  ASSERT_FALSE(program.is_ok());
  EXPECT_NE(std::string(program.status().message()).find("cuts operands"), std::string::npos);
}

}  // namespace
}  // namespace hocket::test
