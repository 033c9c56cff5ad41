// SPDX-License-Identifier: BSD-3-Clause
// An engine of a test's own: messages between nodes by a queue in this process. It is all that an engine needs, and
// what it touches is this file.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "communicator/ranks.h"

namespace hocket::communicator {
namespace {

using engines::Instruction;
using engines::Operands;
using engines::Progress;
using engines::StepState;
using schedule::StepKind;

class Loopback {
 public:
  using Way = std::tuple<uint32_t, uint32_t, uint32_t>;  // from, to, track

  void send(const Way& way, const std::byte* from, uint64_t bytes) {
    const std::scoped_lock lock(mutex_);
    queues_[way].emplace_back(from, from + bytes);
    ++messages_;
  }
  bool receive(const Way& way, std::vector<std::byte>& content) {
    const std::scoped_lock lock(mutex_);
    auto& queue = queues_[way];
    if (queue.empty()) return false;
    content = std::move(queue.front());
    queue.pop_front();
    return true;
  }
  uint64_t messages() const { return messages_; }
  void clear() {
    queues_.clear();
    messages_ = 0;
  }

  // What ranks of the next communicator do in set-up.
  uint32_t joins_not = ~0u;  // this rank fails to
  bool is_required = false;
  // What they do later.
  bool has_rules = false;
  uint32_t holds_not = ~0u;  // this rank's engine can't hold what is forced

 private:
  std::mutex mutex_;
  std::map<Way, std::deque<std::vector<std::byte>>> queues_;
  std::atomic<uint64_t> messages_{0};
};

Loopback& loopback() {
  static Loopback all;
  return all;
}

class LoopbackCarrier final : public engines::Carrier {
 public:
  LoopbackCarrier(uint32_t rank, uint32_t track) : rank_(rank), track_(track) {}

  Progress run(const Instruction& step, StepState&, const Operands& operands) override {
    if (step.kind == StepKind::kSend) {
      operands.need(step, 0, step.bytes);
      loopback().send({rank_, step.peer, track_}, operands.source(step), step.bytes);
      return Progress::kDone;
    }
    std::vector<std::byte> content;
    is_awaited_ = !loopback().receive({step.peer, rank_, track_}, content);
    if (is_awaited_) return Progress::kPending;
    if (content.size() != step.bytes) {
      failure_ = Status(Code::kMismatch, "a message of another length");
    } else if (step.kind == StepKind::kReceiveCombine) {
      operands.combine(step, content.data(), 0, step.elements);
    } else if (step.bytes != 0) {
      std::memcpy(operands.destination(step), content.data(), step.bytes);
    }
    return Progress::kDone;
  }
  engines::WakeUp wake_up() const override { return is_awaited_ ? engines::WakeUp::kNone : engines::WakeUp::kIdle; }
  void cancel() override { is_awaited_ = false; }
  bool has_failed() const override { return !failure_.is_ok(); }
  Status take_failure() override { return std::exchange(failure_, Status::ok()); }

 private:
  uint32_t rank_;
  uint32_t track_;
  bool is_awaited_ = false;
  Status failure_;
};

class LoopbackEngine final : public carriers::Engine {
 public:
  explicit LoopbackEngine(uint32_t rank) : rank_(rank) {}
  Status join() override {
    return loopback().joins_not == rank_ ? Status(Code::kSystem, "it has no loop") : Status::ok();
  }
  std::string describe() const override { return "within this process"; }
  const char* wire() const override { return loopback().has_rules ? "loop" : ""; }
  Status prepare(const carriers::Choices&) override {
    return loopback().holds_not == rank_ ? Status(Code::kInvalidArgument, "the loop is full") : Status::ok();
  }
  bool takes_part() const override { return true; }
  bool carries(const Instruction& step, const engines::Program&) const override {
    return schedule::is_two_sided(step.kind);
  }
  engines::Carrier& carrier(uint32_t track, engines::wire::Channel&) override {
    carriers_.push_back(std::make_unique<LoopbackCarrier>(rank_, track));
    return *carriers_.back();
  }

 private:
  uint32_t rank_;
  std::vector<std::unique_ptr<LoopbackCarrier>> carriers_;
};

class LoopbackType final : public carriers::EngineType {
 public:
  const char* name() const override { return "loop-back"; }
  const char* setting() const override { return "TEST_LOOPBACK"; }
  Result<carriers::EngineOffer> offer(bool) override { return carriers::EngineOffer::of(loopback().is_required); }
  std::unique_ptr<carriers::Engine> propose(const std::vector<carriers::EngineOffer>&,
                                            const carriers::EngineMeeting& meeting, std::string&) override {
    return std::make_unique<LoopbackEngine>(meeting.rank);
  }
  bool is_required(const std::vector<carriers::EngineOffer>& offers) const override { return offers[0].as<bool>(); }
};

carriers::EngineTypes loopback_only() {
  carriers::EngineTypes types;
  types.push_back(std::make_unique<LoopbackType>());
  return types;
}

// An allreduction, blocking and not, on four ranks of two nodes; gives how many messages went by the wire meanwhile.
uint64_t reduce_on_two_nodes(test::Network& network, std::string& explanation) {
  constexpr uint32_t kRanks = 4;
  constexpr uint64_t kCount = 1000;
  std::atomic<uint64_t> by_wire{0};
  run_ranks({kRanks, 2, loopback_only}, network, [&](uint32_t rank, Result<std::unique_ptr<Communicator>> made) {
    ASSERT_TRUE(made.is_ok()) << made.status().message();
    Communicator& communicator = *made.value();
    std::vector<int64_t> input(kCount), output(kCount);
    std::iota(input.begin(), input.end(), rank);
    Arguments arguments;
    arguments.collective = schedule::Collective::kAllreduce;
    arguments.input = reinterpret_cast<const std::byte*>(input.data());
    arguments.output = reinterpret_cast<std::byte*>(output.data());
    arguments.count = kCount;
    arguments.combiner.kernel = reduction::find_combine(reduction::Operation::kSum, reduction::Type::kInt64);
    arguments.combiner.operation = reduction::Operation::kSum;
    arguments.combiner.type = static_cast<uint32_t>(reduction::Type::kInt64);
    arguments.combiner.element_bytes = sizeof(int64_t);
    const uint64_t before = network.messages();
    ASSERT_TRUE(communicator.run(arguments).is_ok());
    for (uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(output[i], static_cast<int64_t>(4 * i + 6));
    std::fill(output.begin(), output.end(), 0);
    Result<Request*> request = communicator.start(arguments);
    ASSERT_TRUE(request.is_ok()) << request.status().message();
    ASSERT_TRUE(communicator.wait(request.value()).is_ok());
    for (uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(output[i], static_cast<int64_t>(4 * i + 6));
    by_wire += network.messages() - before;
    if (rank == 0) explanation = communicator.explain({.collective = schedule::Collective::kAllreduce, .count = 1});
    ASSERT_TRUE(communicator.close().is_ok());
  });
  return by_wire;
}

class EngineTable : public testing::Test {
 protected:
  EngineTable() {
    loopback().clear();
    loopback().joins_not = ~0u;
    loopback().is_required = false;
    loopback().has_rules = false;
    loopback().holds_not = ~0u;
  }
  test::Network network_{4, 1};
  std::string explanation_;
};

TEST_F(EngineTable, AnEngineCarriesTheStepsThatItNames) {
  EXPECT_EQ(reduce_on_two_nodes(network_, explanation_), 0u);
  EXPECT_GT(loopback().messages(), 0u);
  EXPECT_NE(explanation_.find("loop-back: may be used: within this process"), std::string::npos) << explanation_;
}

TEST_F(EngineTable, WhereOneRankCannotJoinTheWireCarriesAll) {
  loopback().joins_not = 2;
  EXPECT_GT(reduce_on_two_nodes(network_, explanation_), 0u);
  EXPECT_EQ(loopback().messages(), 0u);
  EXPECT_NE(explanation_.find("loop-back: not used: rank 2: it has no loop"), std::string::npos) << explanation_;
}

TEST_F(EngineTable, AnEngineThatIsRequiredFailsTheSetUpOfAllRanks) {
  loopback().joins_not = 2;
  loopback().is_required = true;
  std::atomic<int> failed{0};
  run_ranks({4, 2, loopback_only}, network_, [&](uint32_t, Result<std::unique_ptr<Communicator>> made) {
    ASSERT_FALSE(made.is_ok());
    EXPECT_EQ(made.status().code(), Code::kInvalidArgument);
    EXPECT_NE(std::string(made.status().message()).find("TEST_LOOPBACK=on can't be honoured: it has no loop"),
              std::string::npos)
        << made.status().message();
    ++failed;
  });
  EXPECT_EQ(failed, 4);
}

TEST_F(EngineTable, WhatOneRanksEngineCannotHoldIsForcedOnNoRank) {
  loopback().has_rules = true;
  loopback().holds_not = 2;
  run_ranks({4, 2, loopback_only}, network_, [&](uint32_t rank, Result<std::unique_ptr<Communicator>> made) {
    ASSERT_TRUE(made.is_ok()) << made.status().message();
    const Status forced = made.value()->force(schedule::Collective::kAllreduce, "ring");
    EXPECT_EQ(forced.code(), Code::kInvalidArgument);
    const char* why = rank == 2 ? "the loop is full" : "`ring` is not forced: rank 2's NIC engine can't hold it";
    EXPECT_NE(std::string(forced.message()).find(why), std::string::npos) << forced.message();
    const std::string explanation = made.value()->explain({.collective = schedule::Collective::kAllreduce, .count = 1});
    EXPECT_EQ(explanation.find("it is forced"), std::string::npos) << explanation;
    EXPECT_TRUE(made.value()->close().is_ok());
  });
}

TEST_F(EngineTable, WithinANodeNoEngineIsAsked) {
  run_ranks({4, 4, loopback_only}, network_, [&](uint32_t, Result<std::unique_ptr<Communicator>> made) {
    ASSERT_TRUE(made.is_ok()) << made.status().message();
    Arguments barrier;
    EXPECT_TRUE(made.value()->run(barrier).is_ok());
    EXPECT_TRUE(made.value()->close().is_ok());
  });
  EXPECT_EQ(loopback().messages(), 0u);
}

}  // namespace
}  // namespace hocket::communicator
