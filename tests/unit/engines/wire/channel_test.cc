// SPDX-License-Identifier: BSD-3-Clause
// Steps that go to other nodes, over a wire that does what the test says.
#include "engines/wire/channel.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <utility>
#include <vector>

namespace hocket::engines::wire {
namespace {

using schedule::Buffer;
using schedule::StepKind;

struct Posting {
  bool is_send;
  uint32_t peer;
  uint32_t tag;
  const void* data;
  void* into;
  size_t bytes;
};

class ScriptedWire final : public Wire {
 public:
  std::vector<Posting> posted;                                      // by ticket, from 1
  std::set<Ticket> done;                                            // what the next test() tells
  std::vector<size_t> lengths = std::vector<size_t>(64, SIZE_MAX);  // of what came, by ticket; SIZE_MAX: as expected
  std::set<Ticket> cancelled;
  std::set<std::pair<uint32_t, uint32_t>> unexpected;  // senders and tags of what no receive was posted for
  bool fails = false;
  bool ends_at_once = false;
  Status outcome() const { return fails ? Status(Code::kSystem, "the cable is cut") : Status::ok(); }
  int tests = 0;

  uint32_t rank() const override { return 7; }
  uint32_t size() const override { return 9; }
  uint32_t tags() const override { return 100; }
  Status post_send(uint32_t to, uint32_t tag, const void* data, size_t bytes, Ticket& ticket) override {
    posted.push_back({true, to, tag, data, nullptr, bytes});
    ticket = ends_at_once ? 0 : posted.size();
    return outcome();
  }
  Status post_receive(uint32_t from, uint32_t tag, void* data, size_t bytes, Ticket& ticket) override {
    posted.push_back({false, from, tag, nullptr, data, bytes});
    ticket = posted.size();
    return outcome();
  }
  Status test(size_t count, Ticket* tickets, size_t* bytes) override {
    ++tests;
    for (size_t i = 0; i < count; ++i) {
      EXPECT_NE(tickets[i], 0u);
      if (done.count(tickets[i]) == 0) continue;
      const Ticket ticket = std::exchange(tickets[i], 0);
      bytes[i] = lengths[ticket] == SIZE_MAX ? posted[ticket - 1].bytes : lengths[ticket];
    }
    return outcome();
  }
  void cancel(Ticket ticket) override { cancelled.insert(ticket); }
  Status send_notice(uint32_t, uint32_t) override { return Status::ok(); }
  Result<bool> take_notice(uint32_t, uint32_t&) override { return false; }
  Result<bool> has_unexpected(uint32_t from, uint32_t tag) override { return unexpected.count({from, tag}) != 0; }
};

class ChannelTest : public testing::Test {
 protected:
  ChannelTest() {
    operands_.base[static_cast<int>(Buffer::kInput)] = reinterpret_cast<std::byte*>(input_);
    operands_.base[static_cast<int>(Buffer::kOutput)] = reinterpret_cast<std::byte*>(output_);
    operands_.combiner = &combiner_;
    combiner_.element_bytes = sizeof(int);
    combiner_.function = [](const void* in, void* inout, size_t count, uint32_t, void*) {
      for (size_t i = 0; i < count; ++i) static_cast<int*>(inout)[i] += 10 * static_cast<const int*>(in)[i];
    };
  }
  static Instruction step(StepKind kind, uint32_t peer, uint64_t elements) {
    Instruction made;
    made.kind = kind;
    made.carrier = 1;
    made.peer = peer;
    made.source = Buffer::kInput;
    made.destination = Buffer::kOutput;
    made.elements = elements;
    made.bytes = elements * sizeof(int);
    return made;
  }
  Channel channel(uint64_t longest_piece = uint64_t{1} << 30) {
    return {wire_, {5, 4}, 2, {40, 41, 42}, longest_piece};
  }

  ScriptedWire wire_;
  int input_[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  int output_[8] = {};
  Combiner combiner_;
  Operands operands_;
};

TEST_F(ChannelTest, PostsOnceAndIsDoneWhenTheWireSaysSo) {
  Channel under_test = channel();
  const Instruction send = step(StepKind::kSend, 0, 3);
  const Instruction receive = step(StepKind::kReceive, 1, 2);
  StepState sending, receiving;
  EXPECT_EQ(under_test.run(send, sending, operands_), Progress::kPending);
  EXPECT_EQ(under_test.run(receive, receiving, operands_), Progress::kPending);
  EXPECT_EQ(under_test.run(send, sending, operands_), Progress::kPending);
  ASSERT_EQ(wire_.posted.size(), 2u);
  EXPECT_EQ(wire_.posted[0].peer, 40u);
  EXPECT_EQ(wire_.posted[0].tag, 5u);
  EXPECT_EQ(wire_.posted[0].data, input_);
  EXPECT_EQ(wire_.posted[0].bytes, 3 * sizeof(int));
  EXPECT_EQ(wire_.posted[1].into, output_);
  EXPECT_EQ(under_test.wake_up(), WakeUp::kNone);
  wire_.done = {2};
  EXPECT_EQ(under_test.run(receive, receiving, operands_), Progress::kPending) << "nobody has polled";
  under_test.poll();
  EXPECT_EQ(under_test.run(receive, receiving, operands_), Progress::kDone);
  EXPECT_EQ(under_test.run(send, sending, operands_), Progress::kPending);
  wire_.done = {1};
  under_test.poll();
  EXPECT_EQ(under_test.run(send, sending, operands_), Progress::kDone);
  EXPECT_EQ(under_test.wake_up(), WakeUp::kIdle);
  under_test.poll();
  EXPECT_EQ(wire_.tests, 2) << "the wire is moved only while something is under way";
}

TEST_F(ChannelTest, BeginsWhatFollowsAMarkUnderATagOfItsOwn) {
  Channel under_test = channel();
  StepState states[4];
  for (uint32_t i = 0; i < 4; ++i) {
    under_test.mark(6 + i);
    (void)under_test.run(step(i % 2 == 0 ? StepKind::kSend : StepKind::kReceive, 0, 1), states[i], operands_);
  }
  ASSERT_EQ(wire_.posted.size(), 4u);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(wire_.posted[i].tag, 5 + (6 + i) % 4);
}

TEST_F(ChannelTest, FindsAMessageOfAnotherCallWhereOneIsAwaited) {
  Channel under_test = channel();
  StepState state;
  under_test.mark(0);
  (void)under_test.run(step(StepKind::kReceive, 0, 2), state, operands_);
  EXPECT_FALSE(under_test.has_stranger(0)) << "nothing has come";
  wire_.unexpected = {{41, 6}};
  EXPECT_FALSE(under_test.has_stranger(0)) << "another has sent it";
  EXPECT_FALSE(under_test.has_stranger(1)) << "nothing is awaited of that rank";
  wire_.unexpected = {{40, 5}};
  EXPECT_FALSE(under_test.has_stranger(0)) << "it is of this call";
  wire_.unexpected = {{40, 9}};
  EXPECT_FALSE(under_test.has_stranger(0)) << "the tag is another channel's";
  wire_.unexpected = {{40, 8}};
  EXPECT_TRUE(under_test.has_stranger(0));
  wire_.done = {1};
  EXPECT_FALSE(under_test.has_stranger(0)) << "what was awaited has just come";
}

TEST_F(ChannelTest, TakesASendThatEndsAtOnce) {
  Channel under_test = channel();
  wire_.ends_at_once = true;
  StepState state;
  EXPECT_EQ(under_test.run(step(StepKind::kSend, 0, 1), state, operands_), Progress::kDone);
  EXPECT_EQ(under_test.wake_up(), WakeUp::kIdle);
}

TEST_F(ChannelTest, CombinesWhatHasComeInTheOrderOfTheStep) {
  Channel under_test = channel();
  Instruction both[2] = {step(StepKind::kReceiveCombine, 0, 2), step(StepKind::kReceiveCombine, 1, 2)};
  both[0].incoming_left = true;
  both[1].incoming_left = false;
  both[1].destination_offset = 2 * sizeof(int);
  StepState states[2];
  for (int i = 0; i < 2; ++i) EXPECT_EQ(under_test.run(both[i], states[i], operands_), Progress::kPending);
  const int incoming[2] = {100, 200};
  ASSERT_NE(wire_.posted[0].into, wire_.posted[1].into);
  for (const Posting& posting : wire_.posted) std::memcpy(posting.into, incoming, sizeof incoming);
  wire_.done = {1, 2};
  under_test.poll();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(under_test.run(both[i], states[i], operands_), Progress::kDone);
  const int expected[4] = {10 * 100 + 1, 10 * 200 + 2, 10 * 1 + 100, 10 * 2 + 200};
  EXPECT_EQ(std::memcmp(output_, expected, sizeof expected), 0);
  // The memory that they came in serves the next.
  StepState next;
  EXPECT_EQ(under_test.run(both[0], next, operands_), Progress::kPending);
  EXPECT_EQ(wire_.posted[2].into, wire_.posted[0].into);
  // What is under way when a channel ends is given to the wire for good, which leak checkers rightly notice.
  wire_.done = {3};
  under_test.poll();
  EXPECT_EQ(under_test.run(both[0], next, operands_), Progress::kDone);
}

TEST_F(ChannelTest, FindsAMessageOfAnotherLength) {
  Channel under_test = channel();
  StepState state;
  EXPECT_EQ(under_test.run(step(StepKind::kReceive, 1, 4), state, operands_), Progress::kPending);
  wire_.done = {1};
  wire_.lengths[1] = 3;
  under_test.poll();
  ASSERT_TRUE(under_test.has_failed());
  const Status failure = under_test.take_failure();
  EXPECT_EQ(failure.code(), Code::kMismatch);
  EXPECT_NE(std::string(failure.message()).find("rank 1 sends 3 bytes where rank 2 expects 16"), std::string::npos)
      << failure.message();
}

TEST_F(ChannelTest, CutsLongMessagesIntoPieces) {
  Channel under_test = channel(3 * sizeof(int));
  StepState state;
  const Instruction send = step(StepKind::kSend, 0, 7);
  EXPECT_EQ(under_test.run(send, state, operands_), Progress::kPending);
  ASSERT_EQ(wire_.posted.size(), 3u);
  EXPECT_EQ(wire_.posted[2].data, input_ + 6);
  EXPECT_EQ(wire_.posted[2].bytes, sizeof(int));
  wire_.done = {1, 3};
  under_test.poll();
  EXPECT_EQ(under_test.run(send, state, operands_), Progress::kPending);
  wire_.done = {2};
  under_test.poll();
  EXPECT_EQ(under_test.run(send, state, operands_), Progress::kDone);
}

TEST_F(ChannelTest, TakesBackWhatIsUnderWayWhenTheCallEndsEarly) {
  Channel under_test = channel();
  StepState states[2];
  (void)under_test.run(step(StepKind::kSend, 0, 1), states[0], operands_);
  (void)under_test.run(step(StepKind::kReceive, 1, 1), states[1], operands_);
  wire_.fails = true;
  under_test.poll();
  EXPECT_TRUE(under_test.has_failed());
  StepState later;
  EXPECT_EQ(under_test.run(step(StepKind::kSend, 0, 1), later, operands_), Progress::kPending);
  EXPECT_EQ(wire_.posted.size(), 2u) << "nothing new after a failure";
  under_test.cancel();
  EXPECT_EQ(wire_.cancelled, (std::set<Ticket>{1, 2}));
  EXPECT_EQ(under_test.wake_up(), WakeUp::kIdle);
}

// The library has forgotten them already.
TEST_F(ChannelTest, TakesNothingBackThatWasDoneWhenAnotherFailed) {
  Channel under_test = channel();
  StepState states[2];
  (void)under_test.run(step(StepKind::kSend, 0, 1), states[0], operands_);
  (void)under_test.run(step(StepKind::kReceive, 1, 1), states[1], operands_);
  wire_.done = {1};
  wire_.fails = true;
  under_test.poll();
  EXPECT_TRUE(under_test.has_failed());
  under_test.cancel();
  EXPECT_EQ(wire_.cancelled, std::set<Ticket>{2});
}

TEST_F(ChannelTest, SendsMessagesOfNoBytes) {
  Channel under_test = channel();
  StepState state;
  Instruction empty = step(StepKind::kSend, 0, 0);
  empty.source = Buffer::kNone;
  EXPECT_EQ(under_test.run(empty, state, operands_), Progress::kPending);
  ASSERT_EQ(wire_.posted.size(), 1u);
  EXPECT_EQ(wire_.posted[0].bytes, 0u);
}

// What comes beside the steps lies in memory of the channel's own, also when nobody waits for it any more.
TEST_F(ChannelTest, ReceivesParkedMessagesAndLeavesThem) {
  Channel under_test = channel();
  const uint32_t first = under_test.receive_parked(1, sizeof(int));
  const uint32_t second = under_test.receive_parked(1, sizeof(int));
  ASSERT_EQ(wire_.posted.size(), 2u);
  EXPECT_NE(wire_.posted[0].into, wire_.posted[1].into);
  EXPECT_EQ(under_test.wake_up(), WakeUp::kNone);
  under_test.leave(first);
  EXPECT_EQ(under_test.left(), 1u);
  EXPECT_EQ(under_test.wake_up(), WakeUp::kNone);
  const int value = 77;
  std::memcpy(wire_.posted[1].into, &value, sizeof value);
  wire_.done = {2};
  under_test.poll();
  EXPECT_TRUE(under_test.has_come(second));
  EXPECT_EQ(std::memcmp(under_test.content(second), &value, sizeof value), 0);
  // The memory of what is still under way is nobody else's.
  const uint32_t third = under_test.receive_parked(1, sizeof(int));
  EXPECT_NE(wire_.posted[2].into, wire_.posted[0].into);
  under_test.leave(second);
  wire_.done = {1, 3};
  under_test.poll();
  EXPECT_EQ(under_test.left(), 0u);
  EXPECT_TRUE(under_test.has_come(third));
  under_test.leave(third);
  EXPECT_EQ(under_test.left(), 0u);
}

TEST_F(ChannelTest, GivesMessagesAwayWithoutWaiting) {
  Channel under_test = channel();
  int value = 5;
  under_test.send_parked_and_leave(0, std::as_bytes(std::span(&value, 1)));
  value = 6;
  ASSERT_EQ(wire_.posted.size(), 1u);
  EXPECT_TRUE(wire_.posted[0].is_send);
  EXPECT_EQ(*static_cast<const int*>(wire_.posted[0].data), 5);
  EXPECT_EQ(under_test.left(), 1u);
  wire_.done = {1};
  under_test.move();
  EXPECT_EQ(under_test.left(), 0u);
  EXPECT_EQ(under_test.wake_up(), WakeUp::kIdle);
}

// Memory that nothing was written to is no content.
TEST_F(ChannelTest, WhatCannotBePostedParkedNeverComesAndIsNotForgotten) {
  Channel under_test = channel();
  wire_.fails = true;
  const uint32_t refused = under_test.receive_parked(1, sizeof(int));
  EXPECT_FALSE(under_test.has_come(refused));
  EXPECT_TRUE(under_test.has_failed());
  wire_.fails = false;
  const int value = 5;
  under_test.send_parked_and_leave(0, std::as_bytes(std::span(&value, 1)));
  EXPECT_FALSE(under_test.has_come(under_test.receive_parked(1, sizeof(int))));
  EXPECT_EQ(wire_.posted.size(), 1u) << "nothing new after a failure";
  EXPECT_TRUE(under_test.has_failed());
  const uint32_t sent = under_test.send_parked(0, {});
  EXPECT_FALSE(under_test.has_come(sent));
  EXPECT_STREQ(under_test.take_failure().message(), "the cable is cut");
}

TEST_F(ChannelTest, TellsWhatIsAwaitedFromWhatWasLeft) {
  Channel under_test = channel();
  const uint32_t first = under_test.receive_parked(1, sizeof(int));
  EXPECT_TRUE(under_test.is_awaited());
  under_test.leave(first);
  EXPECT_FALSE(under_test.is_awaited());
  EXPECT_EQ(under_test.wake_up(), WakeUp::kNone);
  const uint32_t second = under_test.receive_parked(1, sizeof(int));
  EXPECT_TRUE(under_test.is_awaited());
  wire_.done = {1, 2};
  under_test.poll();
  under_test.leave(second);
  EXPECT_EQ(under_test.wake_up(), WakeUp::kIdle);
}

// The wire may still write there.
TEST_F(ChannelTest, NeverGivesBackTheMemoryOfWhatWasCancelled) {
  Channel under_test = channel();
  const uint32_t message = under_test.receive_parked(1, sizeof(int));
  under_test.leave(message);
  under_test.cancel();
  EXPECT_EQ(wire_.cancelled, std::set<Ticket>{1});
  EXPECT_EQ(under_test.left(), 0u);
  const int late = 1;
  std::memcpy(wire_.posted[0].into, &late, sizeof late);
  ::operator delete[](wire_.posted[0].into);  // the test's to free: the channel has let it go for good
}

}  // namespace
}  // namespace hocket::engines::wire
