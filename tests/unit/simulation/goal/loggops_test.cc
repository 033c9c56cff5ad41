// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/goal/loggops.h"

#include <gtest/gtest.h>

#include <string>

#include "algorithms/algorithm.h"
#include "schedule/dumps/dump.h"
#include "simulation/goal/loggopsim_results.h"

namespace hocket::simulation {
namespace {

std::string goal_of(const SimulatedSchedule& wanted) {
  std::vector<schedule::Plan> plans;
  schedule::Shape shape;
  shape.size = wanted.ranks;
  shape.degree = wanted.degree;
  shape.segments = wanted.segments;
  for (; shape.rank < wanted.ranks; ++shape.rank)
    plans.push_back(algorithms::make_plan(*algorithms::find(wanted.collective, wanted.algorithm), shape));
  return schedule::dump_goal(plans, {.count = wanted.count}).take();
}

// FNV-1a.
uint64_t hash_without_comments(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at) + 1;
    if (!std::string_view(text).substr(at).starts_with("//"))
      for (; at < end; ++at) hash = (hash ^ static_cast<unsigned char>(text[at])) * 0x100000001b3u;
    at = end;
  }
  return hash;
}

GoalTimes times_of(const std::string& text, const LogGops& parameters) {
  const Result<Goal> goal = parse_goal(text, "test.goal");
  EXPECT_TRUE(goal.is_ok()) << goal.status().message();
  Result<GoalTimes> times = simulate(goal.value(), parameters);
  EXPECT_TRUE(times.is_ok()) << times.status().message();
  return times.take();
}

std::string trouble_with(const std::string& text, const LogGops& parameters = {}) {
  const Result<Goal> goal = parse_goal(text, "test.goal");
  if (!goal.is_ok()) return goal.status().message();
  const Result<GoalTimes> times = simulate(goal.value(), parameters);
  return times.is_ok() ? "" : times.status().message();
}

TEST(LogGops, SaysToTheNanosecondWhatTheAuthorsSimulatorSays) {
  for (const SimulatedSchedule& wanted : kSimulatedSchedules) {
    const std::string text = goal_of(wanted);
    ASSERT_EQ(hash_without_comments(text), wanted.hash)
        << name(wanted.collective) << " " << wanted.algorithm << ": the schedule has changed since LogGOPSim ran it";
    for (size_t i = 0; i < std::size(kSimulatedParameters); ++i) {
      SCOPED_TRACE(std::string(name(wanted.collective)) + " " + std::string(wanted.algorithm) + " of " +
                   std::to_string(wanted.ranks) + " with " + std::string(kSimulatedParameters[i]));
      const GoalTimes times = times_of(text, parse_loggops(kSimulatedParameters[i]).take());
      EXPECT_EQ(times.maximum_ns, wanted.times[i].maximum_ns);
      EXPECT_EQ(times.events, wanted.events);
      ASSERT_EQ(times.finish_ns.size(), wanted.ranks);
      const std::vector<uint64_t>& finish = wanted.times[i].finish_ns;
      for (uint32_t rank = 0; rank < wanted.ranks && !finish.empty(); ++rank)
        EXPECT_EQ(times.finish_ns[rank], finish[finish.size() == 1 ? 0 : rank]) << "rank " << rank;
    }
  }
}

constexpr LogGops kSimple = {.latency_ns = 100,
                             .overhead_ns = 10,
                             .gap_ns = 20,
                             .gap_per_byte_ps = 1000,
                             .overhead_per_byte_ps = 0,
                             .rendezvous_above_bytes = 50};

std::vector<uint64_t> finish_of(const std::string& text, const LogGops& parameters = kSimple) {
  return times_of(text, parameters).finish_ns;
}

using Times = std::vector<uint64_t>;

TEST(LogGops, ChargesAMessageToBothItsEnds) {
  // The sender's CPU for o; at o + L the receiver's for o and 8 bytes but the first.
  const std::string text = "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n";
  EXPECT_EQ(finish_of(text), (Times{10, 110 + 10 + 7}));
  LogGops slow = kSimple;
  slow.overhead_per_byte_ps = 3000;
  EXPECT_EQ(finish_of(text, slow), (Times{10 + 21, 110 + 10 + 21}));
  const GoalTimes times = times_of(text, kSimple);
  EXPECT_EQ(times.messages, 1u);
  EXPECT_EQ(times.bytes, 8u);
  EXPECT_EQ(times.events, 3u);
  EXPECT_EQ(times.maximum_ns, 127u);
}

TEST(LogGops, HoldsTheNextMessageUntilTheNicIsFree) {
  const std::string text =
      "num_ranks 2\nrank 0 {\nsend 11b to 1\nsend 11b to 1\n}\nrank 1 {\nrecv 11b from 0\nrecv 11b from 0\n}\n";
  EXPECT_EQ(finish_of(text), (Times{30 + 10, 110 + 30 + 20}));
}

TEST(LogGops, RoundsWhatAMessagesBytesCost) {
  const std::string text = "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n";
  LogGops fine = kSimple;
  fine.gap_per_byte_ps = 214;  // 1.498 ns
  EXPECT_EQ(finish_of(text, fine)[1], 121u);
  fine.gap_per_byte_ps = 215;  // 1.505 ns
  EXPECT_EQ(finish_of(text, fine)[1], 122u);
}

TEST(LogGops, ChargesAnEmptyMessageAsOneByte) {
  const std::string text = "num_ranks 2\nrank 0 {\nsend 0b to 1\n}\nrank 1 {\nrecv 0b from 0\n}\n";
  EXPECT_EQ(finish_of(text), (Times{10, 120}));
}

TEST(LogGops, EndsALongSendWhenItsReceiveHasTaken) {
  const std::string head = "num_ranks 2\nrank 0 {\na: send 51b to 1\nb: calc 5\nb requires a\n}\nrank 1 {\n";
  // Posted before the message arrives, at 110: what depends on the send begins then.
  EXPECT_EQ(finish_of(head + "recv 51b from 0\n}\n"), (Times{115, 110 + 10 + 50}));
  // Posted after a calculation, which the message waits for as well.
  EXPECT_EQ(finish_of(head + "c: calc 1000\nr: recv 51b from 0\nr requires c\n}\n"), (Times{1005, 1060}));
  // A message of S bytes doesn't wait.
  const std::string eager = "num_ranks 2\nrank 0 {\na: send 50b to 1\nb: calc 5\nb requires a\n}\nrank 1 {\n";
  EXPECT_EQ(finish_of(eager + "recv 50b from 0\n}\n")[0], 15u);
}

TEST(LogGops, StartsWithWhatItIRequires) {
  const std::string text =
      "num_ranks 2\nrank 0 {\na: recv 1b from 1\nb: calc 7\nb irequires a\n}\nrank 1 {\nc: calc 500\n"
      "d: send 1b to 0\nd requires c\n}\n";
  EXPECT_EQ(finish_of(text), (Times{620, 510}));
  EXPECT_EQ(times_of("num_ranks 1\nrank 0 {\na: calc 3\nb: calc 7\nb irequires a\n}\n", kSimple).maximum_ns, 10u);
}

TEST(LogGops, MeetsMessagesInTheOrderInWhichTheyCame) {
  // The first receive takes the first message, of whatever tag; the second is then there for it that asks for it.
  const std::string sender =
      "num_ranks 2\nrank 0 {\na: send 1b to 1 tag 1\nb: calc 1000\nb requires a\n"
      "c: send 1b to 1 tag 2\nc requires b\n}\nrank 1 {\n";
  const std::string calculates = "x: calc 5000\nx requires r\n}\n";
  const uint64_t first = 120, second = 10 + 1000 + 120;
  EXPECT_EQ(finish_of(sender + "r: recv 1b from -1 tag -1\ns: recv 1b from 0 tag -1\n" + calculates)[1],
            first + 5000 + 10);
  EXPECT_EQ(finish_of(sender + "s: recv 1b from -1 tag 1\nr: recv 1b from 0 tag 2\n" + calculates)[1], second + 5000);
  // As unexpected messages as well.
  EXPECT_EQ(trouble_with(sender + "w: calc 9000\nr: recv 1b from 0 tag -1\ns: recv 1b from -1 tag 2\nr requires w\n"
                                  "s requires r\n}\n"),
            "");
  EXPECT_NE(trouble_with(sender + "w: calc 9000\nr: recv 1b from 0 tag -1\ns: recv 1b from -1 tag 1\nr requires w\n"
                                  "s requires r\n}\n"),
            "");
}

TEST(LogGops, LetsSeveralCpusAndNicsWorkAtATime) {
  const std::string two = "num_ranks 1\nrank 0 {\na: calc 100 cpu 0\nb: calc 70 cpu 1\nc: calc 5 cpu 1\n";
  EXPECT_EQ(finish_of(two + "}\n"), Times{100});
  // Unlike in LogGOPSim, what depends on another CPU's work starts behind it.
  EXPECT_EQ(finish_of(two + "c requires a\n}\n"), Times{105});
}

TEST(LogGops, NamesWhatStandsStillAndWhy) {
  const std::string lonely = "num_ranks 2\nrank 0 {\na: recv 1b from 1 tag 4\n}\nrank 1 {\n";
  EXPECT_EQ(trouble_with(lonely + "}\n"),
            "test.goal:3 (a of rank 0): no message comes from rank 1 with tag 4; write a send for it");
  EXPECT_EQ(trouble_with(lonely + "b: recv 1b from 0\nc: send 1b to 0 tag 4\nc requires b\n}\n"),
            "test.goal:3 (a of rank 0): no message comes from rank 1 with tag 4; the send that is meant never starts: "
            "test.goal:7 (c of rank 1)");
  EXPECT_EQ(trouble_with("num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\nrecv 1b from -1 tag 9\n}\n"),
            "test.goal:6 (rank 1): no message comes from any rank with tag 9; write a send for it");
  EXPECT_EQ(trouble_with("num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\n}\n"),
            "test.goal:3 (rank 0): no receive takes its message to rank 1 with tag 0; write a receive for it");
  EXPECT_EQ(
      trouble_with("num_ranks 1\nrank 0 {\na: send 100000b to 0\nb: recv 100000b from 0\nb requires a\n}\n"),
      "test.goal:3 (a of rank 0): no receive takes its message to rank 0 with tag 0; the receive that is meant never "
      "starts: test.goal:4 (b of rank 0)");
  EXPECT_EQ(trouble_with("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\nc: calc 1\na requires b\nb irequires c\n"
                         "c requires a\n}\n"),
            "test.goal:3 (a of rank 0): it waits for itself, by way of b, c; take one of the dependencies out");
  EXPECT_EQ(trouble_with("num_ranks 1\nrank 0 {\na: calc 1\na requires a\n}\n"),
            "test.goal:3 (a of rank 0): it waits for itself; take one of the dependencies out");
}

TEST(LogGops, RefusesTimesThatCannotBeCounted) {
  const std::string text = "num_ranks 1\nrank 0 {\ncalc 18446744073709551615\ncalc 18446744073709551615\n}\n";
  EXPECT_EQ(trouble_with(text), "test.goal: it takes longer than can be counted, 2^64 ns; make its operations smaller");
  EXPECT_NE(trouble_with("num_ranks 1\nrank 0 {\nsend 18446744073709551615b to 0\nrecv 1b from 0\n}\n"), "");
}

TEST(LogGops, ServesManyThatWaitForOneCpuQuickly) {
  // Were each tried again whenever the CPU gets free, this would take minutes.
  constexpr int kMany = 200000;
  std::string text = "num_ranks 2\nrank 0 {\n";
  for (int i = 0; i < kMany; ++i) text += "send 1b to 1 tag " + std::to_string(i) + "\n";
  text += "}\nrank 1 {\n";
  for (int i = kMany; i > 0; --i) text += "recv 1b from 0 tag " + std::to_string(i - 1) + "\n";
  EXPECT_EQ(times_of(text + "}\n", kSimple).finish_ns, (Times{20 * (kMany - 1) + 10, 20 * (kMany - 1) + 120}));
}

TEST(LogGopsText, IsReadInAnyOrderAndInPart) {
  EXPECT_EQ(parse_loggops("").take(), LogGops());
  EXPECT_EQ(parse_loggops("L=2500,o=1500,g=1000,G=6,O=0,S=65535").take(), LogGops());
  const LogGops some = parse_loggops("S=1,G=0.08,L=7,O=1.5").take();
  EXPECT_EQ(some.rendezvous_above_bytes, 1u);
  EXPECT_EQ(some.gap_per_byte_ps, 80u);
  EXPECT_EQ(some.latency_ns, 7u);
  EXPECT_EQ(some.overhead_per_byte_ps, 1500u);
  EXPECT_EQ(some.overhead_ns, LogGops().overhead_ns);
}

TEST(LogGopsText, IsRefusedWithAReason) {
  const std::string remedy = "; write for instance L=2500,o=1500,g=1000,G=6,O=0,S=65535";
  const auto refusal = [](const char* text) { return std::string(parse_loggops(text).status().message()); };
  EXPECT_EQ(refusal("x=3"), "`x=3` is none of L, o, g, G, O and S with = and a number" + remedy);
  EXPECT_EQ(refusal("L=3,"), "`` is none of L, o, g, G, O and S with = and a number" + remedy);
  EXPECT_EQ(refusal("L=3,L=3"), "`L=3`: L is given twice" + remedy);
  for (const char* text : {"L=", "L=-1", "L=1.5", "L=1000000000000001", "o=99999999999999999999999999", "S=64K"})
    EXPECT_NE(refusal(text).find("is a whole number up to 1000000000000000"), std::string::npos) << text;
  for (const char* text : {"G=", "G=.5", "G=1.", "G=1.2345", "G=1000000001", "O=1.2x", "O=1e3"})
    EXPECT_NE(refusal(text).find("is in ns up to 1000000000, with up to three digits"), std::string::npos) << text;
}

}  // namespace
}  // namespace hocket::simulation
