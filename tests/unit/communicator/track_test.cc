// SPDX-License-Identifier: BSD-3-Clause
#include "communicator/track.h"

#include <string>
#include <utility>

#include "c_api/foreign_wire.h"
#include "communicator/pair.h"
#include "support/wire.h"

namespace hocket::communicator {
namespace {

using engines::Carrier;
using engines::Instruction;
using engines::Operands;
using engines::Program;
using engines::Progress;
using engines::StepState;
using engines::WakeUp;

class Fake final : public Carrier {
 public:
  Fake(std::string& story, char name) : story_(story), name_(name) {}
  void begin(const Program&) override { report('b'); }
  Progress run(const Instruction&, StepState&, const Operands&) override {
    report('r');
    return Progress::kDone;
  }
  void cancel() override { report('c'); }
  bool poll() override {
    report('p');
    return takes_all;
  }
  void after_poll() override { report('a'); }
  WakeUp wake_up() const override { return wakes; }
  bool has_leftovers() const override { return left; }
  bool has_failed() const override { return !failure.is_ok(); }
  Status take_failure() override { return std::exchange(failure, Status::ok()); }

  bool takes_all = false;
  bool left = false;
  WakeUp wakes = WakeUp::kIdle;
  Status failure;

 private:
  void report(char what) { (story_ += what) += name_; }
  std::string& story_;
  char name_;
};

class TrackOfCarriers : public Pair {
 protected:
  void SetUp() override {
    Pair::SetUp();
    wire_ = c_api::foreign_wire(network_.wire_of(0)).take();
    auto lane = engines::shared_memory::MemoryTransport::create(*rank(0).participants.group, 1);
    ASSERT_TRUE(lane.is_ok());
    auto channel =
        std::make_unique<engines::wire::Channel>(*wire_, engines::wire::TagRange{3}, 0, std::vector<uint32_t>{0, 1});
    track_ = std::make_unique<Track>(lane.take(), std::move(channel), std::vector<Carrier*>{&one_, &two_});
  }
  Carrier* sleeps_at() { return track_->sleeps_at(alone_); }

  std::string story_;
  Fake one_{story_, '1'};
  Fake two_{story_, '2'};
  test::Network network_{2, 1};
  std::shared_ptr<engines::wire::Wire> wire_;
  std::unique_ptr<Track> track_;
  bool alone_ = false;
};

TEST_F(TrackOfCarriers, GivesEachStepToTheCarrierThatItNames) {
  Program program;
  Instruction step;
  StepState state;
  track_->transport().begin(program);
  for (const uint8_t carrier : {2, 1, 2}) {
    step.carrier = carrier;
    EXPECT_EQ(track_->transport().run(step, state, {}), Progress::kDone);
  }
  EXPECT_EQ(story_, "b1b2r2r1r2");
}

TEST_F(TrackOfCarriers, PollsInOrderUntilOneHasWhatACallWaitsFor) {
  track_->poll();
  EXPECT_EQ(story_, "p1p2a1a2");
  story_.clear();
  one_.takes_all = true;
  track_->poll();
  EXPECT_EQ(story_, "p1");
}

TEST_F(TrackOfCarriers, SleepsWhereSomethingWakesIt) {
  EXPECT_FALSE(track_->must_poll());
  EXPECT_EQ(sleeps_at(), nullptr);
  two_.wakes = WakeUp::kSufficient;
  EXPECT_TRUE(track_->must_poll());
  EXPECT_EQ(sleeps_at(), &two_);
  EXPECT_TRUE(alone_);
  one_.wakes = WakeUp::kNone;
  EXPECT_EQ(sleeps_at(), nullptr) << "nothing wakes it for the other";
  one_.wakes = WakeUp::kPartial;
  EXPECT_EQ(sleeps_at(), &one_);
  EXPECT_FALSE(alone_);
}

TEST_F(TrackOfCarriers, EndsWithWhatAnyOfThemHasAndCancelsTheWireFirst) {
  EXPECT_FALSE(track_->has_failed());
  EXPECT_FALSE(track_->has_leftovers());
  two_.failure = Status(Code::kSystem, "two");
  two_.left = true;
  EXPECT_TRUE(track_->has_leftovers());
  EXPECT_TRUE(track_->has_failed());
  EXPECT_STREQ(track_->take_failure().message(), "two");
  EXPECT_FALSE(track_->has_failed());
  track_->cancel();
  EXPECT_EQ(story_, "c2c1");
}

}  // namespace
}  // namespace hocket::communicator
