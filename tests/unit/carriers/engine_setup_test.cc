// SPDX-License-Identifier: BSD-3-Clause
// Two ranks' set-up of engines in one thread: each hears what both have said.
#include "carriers/engine_setup.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "c_api/foreign_wire.h"
#include "support/wire.h"

namespace hocket::carriers {
namespace {

// What the engine of a test does.
struct Script {
  bool is_offered = true;
  bool is_proposed = true;
  bool is_required = false;
  std::string joins_not[2];
  std::string agrees_not;
  Status agreement;
  std::vector<uint32_t> numbers;  // that agree() was given
};

class ScriptedEngine final : public Engine {
 public:
  ScriptedEngine(Script& script, uint32_t rank) : script_(script), rank_(rank) {}
  Status join() override {
    const std::string& why_not = script_.joins_not[rank_];
    return why_not.empty() ? Status::ok() : Status(Code::kSystem, why_not);
  }
  uint32_t report() const override { return 10 + rank_; }
  Result<std::string> agree(const std::vector<uint32_t>& numbers, engines::wire::Channel&, Rounds&) override {
    script_.numbers = numbers;
    if (!script_.agreement.is_ok()) return Status(script_.agreement.code(), script_.agreement.message());
    return script_.agrees_not;
  }
  std::string describe() const override { return "scripted"; }
  bool carries(const engines::Instruction&, const engines::Program&) const override { return false; }
  bool may_carry(const EngineCall&) const override { return true; }
  bool takes_part() const override { return true; }
  engines::Carrier& carrier(uint32_t, engines::wire::Channel& channel) override { return channel; }

 private:
  Script& script_;
  uint32_t rank_;
};

class ScriptedType final : public EngineType {
 public:
  explicit ScriptedType(Script& script) : script_(script) {}
  const char* name() const override { return "play"; }
  const char* setting() const override { return "TEST_PLAY"; }
  Result<EngineOffer> offer(bool is_first) override {
    if (!script_.is_offered) return Status(Code::kInvalidArgument, "TEST_PLAY=maybe");
    return EngineOffer::of<uint32_t>(is_first ? 1 : 2);
  }
  std::unique_ptr<Engine> propose(const std::vector<EngineOffer>& offers, const EngineMeeting& meeting,
                                  std::string& why_not) override {
    EXPECT_EQ(offers.size(), 2u);
    EXPECT_EQ(offers[0].as<uint32_t>(), 1u);
    EXPECT_EQ(offers[1].as<uint32_t>(), 2u);
    if (script_.is_proposed) return std::make_unique<ScriptedEngine>(script_, meeting.rank);
    why_not = "nobody wants it";
    return nullptr;
  }
  bool is_required(const std::vector<EngineOffer>&) const override { return script_.is_required; }

 private:
  Script& script_;
};

class NoRounds final : public Rounds {
 public:
  using Rounds::gather;
  Status gather(const void*, void*, size_t) override { return {Code::kSystem, "no rounds here"}; }
};

class EnginesOfTwo : public testing::Test {
 protected:
  static EngineTypes play(Script& script) {
    EngineTypes types;
    types.push_back(std::make_unique<ScriptedType>(script));
    return types;
  }
  void offer() {
    for (uint32_t rank = 0; rank < 2; ++rank) ASSERT_TRUE(setups_[rank].offer(rank == 0, offers_[rank]).is_ok());
  }
  Status join(uint32_t rank) {
    return setups_[rank].join(offers_, {.rank = rank, .size = 2, .nodes = &nodes_}, reports_[rank]);
  }
  Result<Engines> agree(uint32_t rank) { return setups_[rank].agree(reports_, channel_, rounds_); }
  // Why the engine isn't used, which both ranks say alike.
  std::string why_not() {
    std::string received[2];
    for (uint32_t rank = 0; rank < 2; ++rank) {
      Result<Engines> engines = agree(rank);
      EXPECT_TRUE(engines.is_ok()) << engines.status().message();
      if (!engines.is_ok()) return "";
      received[rank] = engines.value().explain(nullptr, {});
      EXPECT_EQ(engines.value().candidate({}) == nullptr, !received[rank].empty());
      EXPECT_EQ(engines.value().carriers(0, channel_).empty(), !received[rank].empty());
    }
    EXPECT_EQ(received[0], received[1]);
    return received[0];
  }
  void come_to_agree() {
    offer();
    for (uint32_t rank = 0; rank < 2; ++rank) ASSERT_TRUE(join(rank).is_ok());
  }

  Script script_;
  EngineTypes types_ = play(script_);
  EngineSetup setups_[2] = {EngineSetup(types_), EngineSetup(types_)};
  std::vector<EngineOffers> offers_ = std::vector<EngineOffers>(2);
  std::vector<EngineReports> reports_ = std::vector<EngineReports>(2);
  const schedule::Nodes nodes_{std::span<const uint64_t>(kLabels)};
  test::Network network_{2, 1};
  std::shared_ptr<engines::wire::Wire> wire_ = c_api::foreign_wire(network_.wire_of(0)).take();
  engines::wire::Channel channel_{*wire_, engines::wire::TagRange{0, 1}, 0, {0, 1}};
  NoRounds rounds_;

 private:
  static constexpr uint64_t kLabels[] = {1, 2};
};

TEST_F(EnginesOfTwo, AreUsedWhereAllHaveJoinedAndAgree) {
  come_to_agree();
  EXPECT_EQ(why_not(), "");
  EXPECT_EQ(script_.numbers, (std::vector<uint32_t>{10, 11})) << "by rank";
}

TEST_F(EnginesOfTwo, AreNotUsedWhereOneHasNotJoined) {
  script_.joins_not[1] = "it has no stage";
  come_to_agree();
  EXPECT_EQ(why_not(), "play: not used: rank 1: it has no stage\n");
  EXPECT_TRUE(script_.numbers.empty()) << "nothing is left to agree on";
}

TEST_F(EnginesOfTwo, GiveAsMuchOfAReasonAsThereIsRoomFor) {
  const std::string reason(2 * EngineReport::kReasonBytes, 'x');
  script_.joins_not[0] = reason;
  come_to_agree();
  EXPECT_EQ(why_not(), "play: not used: rank 0: " + reason.substr(0, EngineReport::kReasonBytes - 1) + "\n");
}

TEST_F(EnginesOfTwo, AreNotUsedWhereNoneIsProposed) {
  script_.is_proposed = false;
  come_to_agree();
  EXPECT_EQ(why_not(), "play: not used: nobody wants it\n");
}

TEST_F(EnginesOfTwo, AreNotUsedWhereTheyDoNotAgree) {
  script_.agrees_not = "the engines differ";
  come_to_agree();
  EXPECT_EQ(why_not(), "play: not used: the engines differ\n");
}

TEST_F(EnginesOfTwo, FailTheSetUpWhereAgreeingFails) {
  script_.agreement = Status(Code::kPeerFailed, "the other has gone");
  come_to_agree();
  const Result<Engines> engines = agree(0);
  ASSERT_FALSE(engines.is_ok());
  EXPECT_EQ(engines.status().code(), Code::kPeerFailed);
  EXPECT_STREQ(engines.status().message(), "the other has gone");
}

TEST_F(EnginesOfTwo, FailTheSetUpWhereTheyAreRequiredAndCannotJoin) {
  script_.is_required = true;
  script_.joins_not[1] = "it has no stage";
  offer();
  EXPECT_TRUE(join(0).is_ok());
  const Status refused = join(1);
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_STREQ(refused.message(), "TEST_PLAY=on can't be honoured: it has no stage");
}

TEST_F(EnginesOfTwo, FailTheSetUpWhereASettingCannotBeUnderstood) {
  script_.is_offered = false;
  const Status refused = setups_[1].offer(false, offers_[1]);
  EXPECT_STREQ(refused.message(), "TEST_PLAY=maybe");
}

}  // namespace
}  // namespace hocket::carriers
