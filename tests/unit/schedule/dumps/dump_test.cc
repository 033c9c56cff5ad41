// SPDX-License-Identifier: BSD-3-Clause
#include "schedule/dumps/dump.h"

#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "schedule/plans.h"

namespace hocket::schedule {
namespace {

// Steps of every kind: a message, a publication with two readers, a put, counters.
void everything(Builder& b) {
  const Slice copy = Builder::in_scratch(b.scratch_area(b.output()), b.output(), b.output());
  if (b.rank() == 0) {
    b.send(1, b.output());
    b.publish(0, b.output());
    b.put({.peer = 2, .slot = 1}, b.output());
    b.add(2, 3);
    b.wait_until_shared(1, b.size());
  } else if (b.rank() == 1) {
    b.receive(0, b.output());
    b.get({.peer = 0}, copy);
    b.wait_until_shared(1, b.size());
  } else {
    b.expose(1, b.output());
    b.wait_until(3, 1);
    b.own_total(3, 1);
    b.get({.peer = 2, .slot = 1}, b.output());
    b.get({.peer = 0}, copy);
    b.wait_until_shared(1, b.size());
  }
  b.shared_total(1, b.size());
}

// Everybody adds before anybody waits.
std::vector<Plan> example() {
  return plans_of(Collective::kBroadcast, 3, [](Builder& b) {
    b.add_shared(1);
    everything(b);
  });
}

size_t occurrences(const std::string& text, const std::string& words) {
  size_t count = 0;
  for (size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
  return count;
}

TEST(DumpText, HasALineAStepAndMarksStages) {
  const auto plans = plans_of(Collective::kAllreduce, 2, [](Builder& b) {
    const Slice half = Builder::part(b.input(), 1, 2);
    b.copy(b.input(), b.output());
    b.begin_stage();
    b.send(1 - b.rank(), half);
    b.receive_combine(1 - b.rank(), half, Builder::part(b.output(), 1, 2), false);
    b.end_stage();
  });
  EXPECT_EQ(dump_text(plans[1]),
            "allreduce, rank 1 of 2, root 0, segments 1\n"
            "  step stage\n"
            "     0     0  copy                   input -> output\n"
            "     1     1  send to 0              input[1/2..1]\n"
            "     2     |  receive_combine from 0: input[1/2..1] (op) incoming -> output[1/2..1]\n");
  EXPECT_EQ(occurrences(dump_text(plans), "rank "), 2u);
}

TEST(DumpText, SaysOfEachKindWhatItDoes) {
  const auto plans = plans_of(Collective::kBroadcast, 2, [](Builder& b) {
    if (b.rank() == 0) {
      b.send(1, b.output());
      b.publish(0, b.output());
      b.wait_until(0, 1);
    } else {
      b.receive(0, b.output());
      b.expose(0, b.output());
      b.add(0, 0, 1);
    }
  });
  const std::string first = dump_text(plans[0]);
  EXPECT_NE(first.find("send to 1               output\n"), std::string::npos) << first;
  EXPECT_NE(first.find("publish slot 0 v1       output\n"), std::string::npos) << first;
  const std::string second = dump_text(plans[1]);
  EXPECT_NE(second.find("receive from 0          -> output\n"), std::string::npos) << second;
  EXPECT_NE(second.find("expose slot 0 v1        -> output\n"), std::string::npos) << second;
}

TEST(DumpText, SaysTotalsAndScratch) {
  const std::string text = dump_text(example()[2]);
  EXPECT_NE(text.find("  scratch0: 1/1 of the count\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  own counter 3: 1 in total\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  shared counter 1: 3 in total\n"), std::string::npos) << text;
}

struct Goal {
  std::multiset<std::string> sends;     // "from to tag bytes"
  std::multiset<std::string> receives;  // the same
  bool labels_are_known = true;
  int ranks = 0;
};

Goal parse(const std::string& text) {
  Goal goal;
  std::istringstream lines(text);
  std::set<std::string> labels;
  std::string rank;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string label, verb, size, to, peer, tag, number;
    words >> label >> verb;
    if (label == "rank") {
      rank = verb;
      labels.clear();
      ++goal.ranks;
    } else if (verb == "requires") {
      words >> peer;
      goal.labels_are_known &= labels.contains(label) && labels.contains(peer);
    } else if (!label.empty() && label.back() == ':') {
      goal.labels_are_known &= labels.insert(label.substr(0, label.size() - 1)).second;
      words >> size >> to >> peer >> tag >> number;
      if (verb == "send") goal.sends.insert(rank + " " + peer + " " + number + " " + size);
      if (verb == "recv") goal.receives.insert(peer + " " + rank + " " + number + " " + size);
    }
  }
  return goal;
}

TEST(DumpGoal, TurnsEveryDependenceIntoAMatchedMessage) {
  const auto plans = example();
  ASSERT_TRUE(verify(plans, with_count(10)).is_correct()) << verify(plans, with_count(10)).text();
  const auto text = dump_goal(plans, {.count = 10, .element_bytes = 4});
  ASSERT_TRUE(text.is_ok()) << text.status().message();
  const Goal goal = parse(text.value());
  EXPECT_EQ(goal.ranks, 3);
  EXPECT_TRUE(goal.labels_are_known) << text.value();
  EXPECT_EQ(goal.sends, goal.receives) << text.value();
  // One message, two reads, one put and its permission, one own and 3 x 2 shared signals.
  EXPECT_EQ(goal.sends.size(), 1u + 2 + 2 + 1 + 6) << text.value();
  EXPECT_EQ(occurrences(text.value(), " send 40b "), 1u + 2 + 1) << text.value();
}

TEST(DumpGoal, RefusesPlansThatDoNotEnd) {
  const auto plans = plans_of(Collective::kBroadcast, 2, [](Builder& b) { b.send(1 - b.rank(), b.output()); });
  const auto text = dump_goal(plans, {});
  EXPECT_EQ(text.status().code(), Code::kInvalidArgument);
  EXPECT_NE(std::string(text.status().message()).find("waits forever"), std::string::npos);
}

TEST(DumpSvg, DrawsAnArrowForEveryDependenceAndADotForEveryStep) {
  const auto plans = example();
  size_t steps = 0;
  for (const Plan& plan : plans) steps += plan.steps.size();
  const auto text = dump_svg(plans, "a < b & c");
  ASSERT_TRUE(text.is_ok()) << text.status().message();
  const std::string& svg = text.value();
  EXPECT_EQ(occurrences(svg, "<title>"), steps);
  EXPECT_NE(svg.find("a &lt; b &amp; c"), std::string::npos);
  EXPECT_EQ(occurrences(svg, "fill=\"none\" stroke=\"#1f6fb4\""), 1u + 2 + 1);
  EXPECT_GE(occurrences(svg, "fill=\"none\" stroke=\"#d9641e\""), 1u + 6);
}

TEST(DumpSvg, RefusesMoreRanksThanAPictureCanShow) {
  const auto plans = plans_of(Collective::kBarrier, kMaxSvgRanks + 1, [](Builder&) {});
  EXPECT_EQ(dump_svg(plans, "").status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace hocket::schedule
