// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/goal/goal.h"

#include <gtest/gtest.h>

#include <string>

namespace hocket::simulation {
namespace {

std::string refusal_of(const std::string& text) { return parse_goal(text, "t").status().message(); }

TEST(Goal, ReadsOperationsAndWhatTheyDependOn) {
  const Goal goal = parse_goal(
                        "/* two\nlines */ num_ranks 2 // of them\nrank 0 {\na: send 8b to 1 cpu 2 nic 3 tag 4\n"
                        "b: calc 7 cpu 1 // short\nb requires a\nb irequires a\n}\nrank 1 { recv 9b from -1 tag -1 }",
                        "t")
                        .take();
  ASSERT_EQ(goal.operations.size(), 3u);
  const GoalOperation& send = goal.operations[0];
  EXPECT_EQ(send.kind, GoalKind::kSend);
  EXPECT_EQ(send.amount, 8u);
  EXPECT_EQ(send.peer, 1u);
  EXPECT_EQ(send.tag, 4u);
  EXPECT_EQ(send.cpu, 2);
  EXPECT_EQ(send.nic, 3);
  EXPECT_EQ(goal.operations[1].amount, 7u);
  EXPECT_EQ(goal.operations[2].peer, kAny);
  EXPECT_EQ(goal.operations[2].tag, kAny);
  EXPECT_EQ(goal.awaits, (std::vector<uint32_t>{0, 2, 0}));
  ASSERT_EQ(goal.after_end.of(0).size(), 1u);
  EXPECT_EQ(goal.after_start.of(0)[0], 1u);
  EXPECT_TRUE(goal.after_end.of(1).empty());
  EXPECT_EQ(goal.place_of(1), "t:5 (b of rank 0)");
  EXPECT_EQ(goal.place_of(2), "t:9 (rank 1)");
}

TEST(Goal, RefusesWhatIsNoneAndSaysWhere) {
  EXPECT_EQ(refusal_of(""), "t:1: the end of the text stands where is due: num_ranks and how many ranks there are");
  EXPECT_EQ(refusal_of("num_ranks 0"), "t:1: the end of the text stands where is due: the number of ranks, from 1");
  const std::string head = "num_ranks 2\nrank 0 {\n";
  EXPECT_EQ(refusal_of(head + "a: cal 3\n"), "t:3: `cal 3` stands where is due: send, recv or calc");
  EXPECT_EQ(refusal_of(head + "send 8b to 2\n"), "t:3: `2` stands where is due: a rank from 0 to 1");
  EXPECT_EQ(
      refusal_of(head + "}\nrank 0 {"),
      "t:4: `rank 0 {` stands where is due: `rank 1 {`, since each of the 2 ranks stands there once, in their order");
  EXPECT_EQ(
      refusal_of(head + "a requires b\n"),
      "t:3: no operation above this line has the label `a` in rank 0; write operations before what depends on them");
  EXPECT_EQ(refusal_of(head + "a: calc 1\na: calc 2\n"),
            "t:4: the label `a` is there already in rank 0; give each operation another");
  for (const char* line : {"calc 18446744073709551616", "calc 1 nic 0", "send 8 to 1", "send 8b from 1", "recv 8b to 1",
                           "send 8b to -1", "send 8b to 1 tag -1", "recv 8b from -2", "send 8b to 1 tag 1 tag 2",
                           "send 8b to 1 cpu 256", "calc 1 calc 2", "a", "a b c", "/* open", "\x80"})
    EXPECT_NE(refusal_of(head + line), "") << line;
  EXPECT_NE(refusal_of("num_ranks 1\nrank 0 {\n}\nrank 1 {\n}\n"), "");
  EXPECT_NE(refusal_of("num_ranks 4294967294\nrank 0 {\n}\n"), "");
}

}  // namespace
}  // namespace hocket::simulation
