// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "observe/picture.h"
#include "observe/table.h"
#include "tools/observed_job.h"

namespace hocket::observe {
namespace {

using test::ObservedJob;

ObservedJob hanging(int ranks) {
  ObservedJob job(ranks);
  for (int rank = 0; rank < ranks; ++rank)
    if (rank != 1) job.wait_for(rank, {1}, 12);
  job.compute(1, 14);
  return job;
}

bool contains(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) { return line.find(part) != line.npos; });
}

TEST(ObservedTable, LinesUpALineARankAndTheWayToTheStack) {
  const std::vector<std::string> lines = table_of(hanging(3).views()[0], {});
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "job job: prog, 3 of 3 ranks on node1, some MPI");
  EXPECT_EQ(lines[1], "  RANK  PROCESS  LATE  WHERE                                      FOR  WAITS FOR  STATE");
  EXPECT_EQ(lines[2],
            "     1     4001  12 s  no MPI call, after MPI_Recv               14 s  -          sleeps in futex");
  EXPECT_EQ(lines[3],
            "     0     4000     -  MPI_Barrier of MPI_COMM_WORLD of 3 ranks  12 s  1          sleeps in futex");
  EXPECT_EQ(lines[5], "where rank 1 is: gdb -p 4001 -batch -ex 'thread apply all bt'");
}

TEST(ObservedTable, NobodyIsNamedBelowBeforeItIsTime) {
  TableOptions options;
  options.late_after_s = 13;
  EXPECT_EQ(table_of(hanging(3).views()[0], options).size(), 5u);
}

TEST(ObservedTable, ATerminalsWidthAndHeightAreKept) {
  const JobView view = hanging(1000).views()[0];
  for (const size_t width : {40u, 60u, 80u, 100u, 200u}) {
    TableOptions options;
    options.width = width;
    options.lines = 20;
    options.has_rates = true;
    const std::vector<std::string> lines = table_of(view, options);
    EXPECT_LE(lines.size(), options.lines);
    for (const std::string& line : lines) EXPECT_LE(line.size(), width) << line;
    EXPECT_TRUE(contains(lines, "more ranks")) << "of 1000 ranks";
    EXPECT_EQ(lines[2].substr(0, 6), "     1") << "the latest is among those that are shown";
  }
}

TEST(ObservedTable, RanksAreShownRatherThanAllThatIsSaidOfThem) {
  TableOptions options;
  options.width = 80;
  options.lines = 4;
  const std::vector<std::string> lines = table_of(hanging(4).views()[0], options);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_TRUE(lines[2].starts_with("     1 "));
  EXPECT_EQ(lines[3], "  ... and 3 more ranks");
}

TEST(ObservedTable, OfFewLinesOneIsTheLatestRank) {
  TableOptions options;
  options.width = 80;
  for (const size_t most : {1u, 2u, 3u, 4u}) {
    options.lines = most;
    const std::vector<std::string> lines = table_of(hanging(4).views()[0], options);
    EXPECT_EQ(lines.size(), most);
    EXPECT_TRUE(lines[0].starts_with("job job: "));
    if (most > 1) {
      EXPECT_TRUE(lines[most > 2 ? 2 : 1].starts_with("     1 ")) << most;
    }
  }
}

TEST(ObservedTable, NoTerminalIsTooNarrow) {
  ObservedJob job = hanging(1000);
  job.wait_for(0, {2}, 12);
  job.wait_for(2, {0}, 12, ObservedJob::kWorld + 1);
  const JobView view = job.views()[0];
  ASSERT_EQ(view.deadlocks.size(), 1u);
  for (size_t width = 1; width <= 45; ++width) {
    TableOptions options;
    options.width = width;
    options.lines = 20;
    options.has_rates = true;
    for (const std::string& line : table_of(view, options)) EXPECT_LE(line.size(), width) << line;
    for (const std::string& line : picture_of({view, view, view, view, view, view}, options))
      EXPECT_LE(line.size(), width) << line;
    for (const std::string& line : picture_of({}, options)) EXPECT_LE(line.size(), width) << line;
  }
}

TEST(ObservedTable, TextIsWrappedBetweenCharacters) {
  JobView view = hanging(3).views()[0];
  std::string umlauts;
  for (int i = 0; i < 40; ++i) umlauts += "\xc3\xa4";
  view.deadlocks = {umlauts};
  TableOptions options;
  for (options.width = 20; options.width < 50; ++options.width)
    for (const std::string& line : table_of(view, options)) EXPECT_EQ(platform::printable(line), line);
}

TEST(ObservedTable, NobodyIsLateWhoHasComeSinceTheOthersLooked) {
  ObservedJob job(3);
  job.wait_for(0, {1, 2}, 30);
  job.wait_for(1, {2}, 1);  // it has come to the same call
  const JobView view = job.views()[0];
  for (const RankView& one : view.here) EXPECT_EQ(one.standing == Standing::kLate, one.rank == 2) << one.rank;
}

TEST(ObservedTable, TheStackIsThatOfTheCauseOrOfARankInTheRing) {
  ObservedJob job(4);
  job.wait_for(0, {1}, 30);
  job.wait_for(1, {2}, 29, ObservedJob::kWorld + 3);
  job.wait_for(2, {3}, 28, ObservedJob::kWorld + 1);
  job.wait_for(3, {2}, 27, ObservedJob::kWorld + 2);
  EXPECT_TRUE(contains(table_of(job.views()[0], {}), "a deadlock: rank 2 waits for rank 3, rank 3 for rank 2"));
  EXPECT_EQ(job.views()[0].here[0].rank, 1) << "for which the longest wait is";
  EXPECT_TRUE(contains(table_of(job.views()[0], {}), "where rank 2 is: gdb -p 4002 "));
  job[3].threads[0].collective.what = 0;
  job.receive_from(3, 2, 27);
  EXPECT_TRUE(contains(table_of(job.views()[0], {}), "perhaps a deadlock: rank 2 waits for rank 3"));
  job.compute(3, 27);
  EXPECT_FALSE(contains(table_of(job.views()[0], {}), "deadlock"));
  EXPECT_TRUE(contains(table_of(job.views()[0], {}), "where rank 3 is: gdb -p 4003 "));
}

TEST(ObservedTable, WhereNobodyIsKnownToBeLateItSaysWhatIsKnown) {
  ObservedJob job(3);
  for (int rank = 0; rank < 3; ++rank) job.receive_from(rank, platform::FunctionStamp::kAny, 20 + rank);
  const std::vector<std::string> lines = table_of(job.views()[0], {});
  EXPECT_TRUE(contains(lines, "MPI_Recv from any rank, tag 3"));
  EXPECT_TRUE(contains(lines, "nobody is known to be late, and all ranks have been in calls for 20 s or longer"));
  EXPECT_TRUE(contains(lines, "gdb -p "));
}

TEST(ObservedTable, ColumnsThatATerminalHasNoRoomForAreLeftOut) {
  TableOptions options;
  options.has_rates = true;
  options.width = 80;
  const std::vector<std::string> lines = table_of(hanging(3).views()[0], options);
  EXPECT_EQ(lines[1].find("STATE"), std::string::npos);
  EXPECT_NE(lines[1].find("WAITS FOR"), std::string::npos);
  options.width = 160;
  EXPECT_NE(table_of(hanging(3).views()[0], options)[1].find("STATE"), std::string::npos);
}

TEST(ObservedTable, HasColoursOnlyWhereTheyAreWelcome) {
  TableOptions options;
  EXPECT_FALSE(contains(table_of(hanging(2).views()[0], options), "\033"));
  options.has_colours = true;
  const std::vector<std::string> lines = table_of(hanging(2).views()[0], options);
  EXPECT_TRUE(lines[2].starts_with("\033[1;31m"));
  EXPECT_EQ(lines[3].find('\033'), std::string::npos) << "it only waits";
}

TEST(ObservedTable, NothingIsWrittenOfAStackThatIsNoMore) {
  ObservedJob job = hanging(3);
  job.end(1);
  const std::vector<std::string> lines = table_of(job.views()[0], {});
  EXPECT_EQ(lines[0], "job job: prog, 2 of 3 ranks on node1, some MPI");
  EXPECT_TRUE(contains(lines, "has ended"));
  EXPECT_FALSE(contains(lines, "gdb"));
}

TEST(ObservedTable, ListsOfRanksAreShort) {
  EXPECT_EQ(list_of({}, 0), "-");
  EXPECT_EQ(list_of({"3", "1"}, 2), "1, 3");
  EXPECT_EQ(list_of({"0", "1", "2", "3", "7"}, 5), "0-3, 7");
  EXPECT_EQ(list_of({"0", "1", "2", "3", "4", "5", "6", "7"}, 99), "0-7 and 91 more");
  EXPECT_EQ(list_of({"1", "3", "5", "7", "9"}, 5), "1, 3, 5, 7 and 1 more");
  EXPECT_EQ(list_of({"2", "process 4711"}, 2), "2, process 4711");
  EXPECT_EQ(list_of({}, 5), "5 ranks");
  EXPECT_EQ(list_of({}, 1), "1 rank");
}

TEST(ObservedTable, TimesHaveUnitsThatFitThem) {
  EXPECT_EQ(time_of(0), "0.0 s");
  EXPECT_EQ(time_of(9.9), "9.9 s");
  EXPECT_EQ(time_of(9.97), "9 s");
  EXPECT_EQ(time_of(119), "119 s");
  EXPECT_EQ(time_of(120), "2 min");
  EXPECT_EQ(time_of(7800), "2 h 10 min");
  EXPECT_EQ(time_of(1e300), "277777 h 46 min");
}

TEST(ObservedPicture, SmallJobsLeaveTheirLinesToLargeOnes) {
  EXPECT_EQ(share_lines({3, 4}, 20), (std::vector<size_t>{3, 4}));
  EXPECT_EQ(share_lines({100, 4, 100}, 24), (std::vector<size_t>{10, 4, 10}));
  EXPECT_EQ(share_lines({}, 5), std::vector<size_t>{});
}

TEST(ObservedPicture, ManyJobsAreCountedAndTheLatestIsShown) {
  std::vector<JobView> jobs;
  for (int i = 0; i < 50; ++i) {
    ObservedJob quiet(4, "early" + std::to_string(i));
    jobs.push_back(quiet.views()[0]);
  }
  jobs.push_back(hanging(1000).views()[0]);
  for (const size_t lines : {1u, 2u, 5u, 10u, 24u, 60u}) {
    TableOptions options;
    options.width = 80;
    options.lines = lines;
    const std::vector<std::string> picture = picture_of(jobs, options);
    EXPECT_LE(picture.size(), lines);
    EXPECT_TRUE(picture[0].starts_with("job job: prog, 1000 of 1000 ranks")) << picture[0];
    if (lines >= 10) {
      EXPECT_TRUE(contains(picture, "more jobs")) << lines;
    }
  }
}

TEST(ObservedPicture, WithoutATerminalNothingIsLeftOut) {
  std::vector<JobView> jobs;
  for (const char* name : {"a", "b", "c"}) jobs.push_back(ObservedJob(100, name).views()[0]);
  EXPECT_EQ(picture_of(jobs, {}).size(), 3u * 102 + 2);
  EXPECT_EQ(picture_of({}, {}).size(), 1u);
}

}  // namespace
}  // namespace hocket::observe
