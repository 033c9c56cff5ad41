// SPDX-License-Identifier: BSD-3-Clause
#include "support/nic_calls.h"

#include <bit>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>
#include <utility>

#include "algorithms/algorithm.h"

namespace hocket::test {

using engines::nic::Form;
using engines::nic::NicCall;
using schedule::Collective;
using schedule::Plan;
using schedule::Step;
using schedule::StepKind;

namespace {

// A schedule's steps, done by all ranks in turn as far as they get, on whole operands.
class Reference {
 public:
  Reference(const NicAlgorithm& algorithm, const std::vector<nic_operand>& operands, const NicCall& call)
      : call_(call) {
    const auto size = static_cast<uint32_t>(operands.size());
    for (uint32_t rank = 0; rank < size; ++rank) {
      Rank& own = ranks_.emplace_back(Rank{plan_of(algorithm, size, rank), 0, {}});
      const bool is_broadcast = algorithm.collective == Collective::kBroadcast;
      own.buffer[{is_broadcast ? schedule::Buffer::kOutput : schedule::Buffer::kInput, 0}] = operands[rank];
    }
    for (bool moves = true; moves;) {
      moves = false;
      for (uint32_t rank = 0; rank < size; ++rank)
        while (advance(rank)) moves = true;
    }
    for (const Rank& rank : ranks_)
      if (rank.next != rank.plan.steps.size()) std::abort();
  }
  const nic_operand& result(uint32_t rank) { return ranks_[rank].buffer[{schedule::Buffer::kOutput, 0}]; }

 private:
  using Place = std::pair<schedule::Buffer, uint8_t>;
  struct Rank {
    Plan plan;
    size_t next;
    std::map<Place, nic_operand> buffer;
  };

  static Place place_of(const schedule::Slice& slice) { return {slice.buffer, slice.area}; }

  // The next step of a rank. Those of a stage are taken in their order, which is one of those that there may be.
  bool advance(uint32_t rank) {
    Rank& own = ranks_[rank];
    if (own.next == own.plan.steps.size()) return false;
    const Step& step = own.plan.steps[own.next];
    nic_operand& destination = own.buffer[place_of(step.destination)];
    const nic_operand source = own.buffer[place_of(step.source)];
    switch (step.kind) {
      case StepKind::kSend:
        under_way_[{rank, step.peer}].push_back(source);
        break;
      case StepKind::kCopy:
        destination = source;
        break;
      case StepKind::kCombine:
        destination = step.incoming_left ? combined(source, destination) : combined(destination, source);
        break;
      default: {
        std::deque<nic_operand>& messages = under_way_[{step.peer, rank}];
        if (messages.empty()) return false;
        const nic_operand incoming = messages.front();
        messages.pop_front();
        destination = incoming;
        if (step.kind == StepKind::kReceiveCombine)
          destination = step.incoming_left ? combined(incoming, source) : combined(source, incoming);
      }
    }
    ++own.next;
    return true;
  }

  // Sums of doubles as a processor adds; the rest is looked at elsewhere (operation_test.cc).
  nic_operand combined(const nic_operand& left, const nic_operand& right) const {
    nic_operand result{};
    for (int i = 0; i < call_.words; ++i) {
      if (call_.operation == NIC_SUM && call_.type == NIC_DOUBLE) {
        const double sum = std::bit_cast<double>(left.word[i]) + std::bit_cast<double>(right.word[i]);
        result.word[i] = std::bit_cast<uint64_t>(sum);
      } else {
        result.word[i] = nic_combine_word(call_.operation, call_.type, left.word[i], right.word[i]);
      }
    }
    return result;
  }

  NicCall call_;
  std::vector<Rank> ranks_;
  std::map<std::pair<uint32_t, uint32_t>, std::deque<nic_operand>> under_way_;
};

}  // namespace

std::vector<NicAlgorithm> nic_algorithms() {
  return {{Collective::kBarrier, "dissemination"},   {Collective::kReduce, "tree_mm", 2},
          {Collective::kReduce, "tree_mm", 1},       {Collective::kBroadcast, "tree_mm", 2},
          {Collective::kReduce, "tree_mm", 2, true}, {Collective::kAllreduce, "recursive_doubling"},
          {Collective::kAlltoall, "linear"},         {Collective::kAllreduce, "tree_mm", 8}};
}

bool has_root(const NicAlgorithm& algorithm) {
  return algorithm.collective == Collective::kReduce || algorithm.collective == Collective::kBroadcast;
}

Plan plan_of(const NicAlgorithm& algorithm, uint32_t size, uint32_t rank) {
  const algorithms::Algorithm* found = algorithms::find(algorithm.collective, algorithm.name);
  return algorithms::make_plan(*found, {.size = size, .rank = rank, .degree = algorithm.degree});
}

NicCalls::NicCalls(std::vector<NicAlgorithm> algorithms, uint32_t size, uint64_t seed)
    : algorithms_(std::move(algorithms)), size_(size), seed_(seed) {}

Result<NicCalls::Programs> NicCalls::programs_of(uint32_t member, engines::nic::Mode mode) const {
  Programs all;
  for (const NicAlgorithm& algorithm : algorithms_) {
    const auto plan = [&](uint32_t rank) { return plan_of(algorithm, size_, rank); };
    const auto number = static_cast<uint8_t>(all.programs.size());
    for (const bool synchronizes : {false, true}) {
      if (synchronizes && !has_root(algorithm)) continue;
      Result<nic_program> program =
          engines::nic::stage_table(member, Form{mode, synchronizes, algorithm.on_arrival}, plan);
      if (!program.is_ok()) return program.take_status();
      all.programs.push_back(program.value());
      all.synchronizing.push_back(has_root(algorithm) ? static_cast<uint8_t>(number + 1) : number);
    }
  }
  return all;
}

uint64_t NicCalls::dice(uint64_t epoch, uint64_t what) const {
  std::mt19937_64 dice(seed_ * 1'000'003 + epoch * 7919 + what);
  return dice();
}

const NicAlgorithm& NicCalls::algorithm_of(uint64_t epoch) const {
  return algorithms_[dice(epoch, 0) % algorithms_.size()];
}

NicCall NicCalls::call(uint64_t epoch) const {
  const NicAlgorithm& algorithm = algorithm_of(epoch);
  NicCall call;
  for (const NicAlgorithm* before = algorithms_.data(); before != &algorithm; ++before)
    call.program += has_root(*before) ? 2 : 1;
  if (algorithm.collective == Collective::kBarrier) return call;
  call.root = has_root(algorithm) ? static_cast<uint32_t>(dice(epoch, 1) % size_) : 0;
  call.words = static_cast<uint8_t>(1 + dice(epoch, 2) % NIC_MOST_WORDS);
  if (algorithm.collective == Collective::kAlltoall)
    call.words = static_cast<uint8_t>(size_ * (1 + dice(epoch, 2) % (uint32_t{NIC_MOST_WORDS} / size_)));
  call.type = static_cast<uint8_t>(1 + dice(epoch, 3) % (NIC_TYPES_END - 1));
  call.operation = static_cast<uint8_t>(1 + dice(epoch, 4) % (NIC_OPERATIONS_END - 1));
  // Half of them are what programs do most.
  if (dice(epoch, 5) % 2 == 0 || nic_can_combine(call.operation, call.type) == 0) {
    call.operation = NIC_SUM;
    call.type = NIC_DOUBLE;
  }
  return call;
}

bool NicCalls::gives_operand(uint32_t member, uint64_t epoch) const {
  const Collective collective = algorithm_of(epoch).collective;
  return collective != Collective::kBarrier && (collective != Collective::kBroadcast || call(epoch).root == member);
}

namespace {

// Numbers of which many can be summed without rounding, and none of which equals another in another form.
uint64_t whole_numbers(uint8_t type, uint64_t random) {
  constexpr uint64_t kMost = 1000;
  if (type == NIC_DOUBLE) return std::bit_cast<uint64_t>(static_cast<double>(1 + random % kMost));
  const uint64_t low = std::bit_cast<uint32_t>(static_cast<float>(1 + random % kMost));
  const uint64_t high = std::bit_cast<uint32_t>(static_cast<float>(1 + (random >> 32) % kMost));
  return high << 32 | low;
}

}  // namespace

nic_operand NicCalls::operand(uint32_t member, uint64_t epoch) const {
  const NicCall call = this->call(epoch);
  std::mt19937_64 dice(this->dice(epoch, 100 + member));
  nic_operand operand{};
  for (uint32_t i = 0; i < call.words; ++i) {
    operand.word[i] = dice();
    // Sums that show in which order they were made.
    const double number = static_cast<double>(operand.word[i] >> 11) * 0x1p-53 - 0.5;
    if (call.type == NIC_DOUBLE) operand.word[i] = std::bit_cast<uint64_t>(number);
    if (algorithm_of(epoch).on_arrival && nic_is_floating(call.type) != 0)
      operand.word[i] = whole_numbers(call.type, operand.word[i]);
  }
  return operand;
}

NicCalls::Results NicCalls::expected(uint64_t epoch) const {
  const NicCall call = this->call(epoch);
  const NicAlgorithm& algorithm = algorithm_of(epoch);
  Results all = {std::vector<bool>(size_, algorithm.collective != Collective::kBarrier),
                 std::vector<nic_operand>(size_)};
  if (algorithm.collective == Collective::kBarrier) return all;
  std::vector<nic_operand> operands;
  for (uint32_t member = 0; member < size_; ++member) operands.push_back(operand(member, epoch));
  if (algorithm.collective == Collective::kAlltoall) {
    const uint32_t words = call.words / size_;
    for (uint32_t to = 0; to < size_; ++to)
      for (uint32_t i = 0; i < call.words; ++i)
        all.results[to].word[i] = operands[i / words].word[to * words + i % words];
    return all;
  }
  // The order is that of root 0, whatever the root.
  if (algorithm.collective == Collective::kBroadcast) operands[0] = operands[call.root];
  Reference reference(algorithm, operands, call);
  const bool is_reduce = algorithm.collective == Collective::kReduce;
  for (uint32_t member = 0; member < size_; ++member) {
    all.results[member] = reference.result(is_reduce ? 0 : member);
    all.has_result[member] = !is_reduce || member == call.root;
  }
  return all;
}

}  // namespace hocket::test
