// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "observe/job_json.h"
#include "observe/job_view.h"
#include "observe/table.h"
#include "tools/observed_job.h"

namespace hocket::observe {
namespace {

using test::ObservedJob;

constexpr uint64_t kOther = ObservedJob::kWorld + 1;

std::vector<int> ranks_of(const JobView& view) {
  std::vector<int> ranks;
  for (const RankView& one : view.here) ranks.push_back(one.rank);
  return ranks;
}

TEST(JobView, TheRankThatOthersWaitForComesFirstThenThoseInNoCallThenThoseThatWait) {
  ObservedJob job(5);
  job.wait_for(0, {3}, 9);
  job.wait_for(1, {3}, 12);
  job.compute(2, 4);
  job.compute(3, 13);
  job.compute(4, 20);
  const std::vector<JobView> views = job.views();
  ASSERT_EQ(views.size(), 1u);
  EXPECT_EQ(ranks_of(views[0]), (std::vector{3, 4, 2, 1, 0}));
  const RankView& late = views[0].here[0];
  EXPECT_EQ(late.standing, Standing::kLate);
  EXPECT_NEAR(late.late_s, 12, 0.1);
  EXPECT_EQ(late.awaited_by, (std::vector{0, 1}));
  EXPECT_EQ(late.place, "no MPI call");
  EXPECT_EQ(late.after, "MPI_Recv");
  EXPECT_EQ(views[0].here[3].waits_for, std::vector<std::string>{"3"});
  EXPECT_EQ(views[0].here[3].place, "MPI_Barrier of MPI_COMM_WORLD of 5 ranks");
  EXPECT_NEAR(views[0].late_s(), 12, 0.1);
}

TEST(JobView, ARankThatWaitsItselfIsBehindTheOneAtTheEndOfTheChain) {
  ObservedJob job(3);
  job.wait_for(0, {1}, 30);
  job.receive_from(1, 2, 31);
  job.compute(2, 5);
  const std::vector<JobView> views = job.views();
  ASSERT_EQ(views.size(), 1u);
  EXPECT_EQ(ranks_of(views[0]), (std::vector{2, 1, 0}));
  EXPECT_EQ(views[0].here[1].standing, Standing::kLateToo);
  EXPECT_TRUE(views[0].deadlocks.empty());
}

TEST(JobView, ADeadlockIsToldOnceWhereverItIsEntered) {
  ObservedJob job(4);
  job.wait_for(0, {1}, 5);
  job.receive_from(1, 2, 5);
  job.wait_for(2, {1}, 5);
  job.wait_for(3, {1}, 5);
  const std::vector<JobView> views = job.views();
  ASSERT_EQ(views.size(), 1u);
  EXPECT_TRUE(views[0].deadlocks.empty()) << "a message may be on its way";
  EXPECT_EQ(views[0].possible_deadlocks, std::vector<std::string>{"rank 1 waits for rank 2, rank 2 for rank 1"});
}

TEST(JobView, CollectivesThatWaitForEachOtherAreADeadlockForSure) {
  ObservedJob job(3);
  job.wait_for(0, {1}, 5);
  job.wait_for(1, {2}, 5);
  job.wait_for(2, {1}, 5, kOther);
  const JobView view = job.views()[0];
  EXPECT_EQ(view.deadlocks, std::vector<std::string>{"rank 1 waits for rank 2, rank 2 for rank 1"});
  EXPECT_TRUE(view.possible_deadlocks.empty()) << "of what is certain nothing else is said";
  for (const RankView& one : view.here) EXPECT_EQ(one.is_in_ring, one.rank != 0) << one.rank;
}

TEST(JobView, AThreadThatIsInNoCallMayLetTheOthersGoOn) {
  ObservedJob job(2);
  job.wait_for(0, {1}, 5);
  job.wait_for(1, {0}, 5, kOther);
  ASSERT_EQ(job.views()[0].deadlocks.size(), 1u);
  platform::ThreadLine& other = job[1].threads[1];
  other.thread = 2;
  other.other.what = ObservedJob::kReceive + 1;
  other.other.since_ns = ObservedJob::kNowNs - kNanosecondsPerSecond;
  EXPECT_TRUE(job.views()[0].deadlocks.empty());
  EXPECT_TRUE(job.views()[0].possible_deadlocks.empty());
  other.other.what = (ObservedJob::kReceive + 1) | platform::FunctionStamp::kIsIn;
  EXPECT_TRUE(job.views()[0].possible_deadlocks.empty()) << "nobody knows whom that one waits for";
  other.other.what = other.other.what | platform::FunctionStamp::kHasPeer;
  other.other.of_all = 0;
  EXPECT_EQ(job.views()[0].possible_deadlocks.size(), 1u);
  job[0].unlisted_threads = 1;
  EXPECT_TRUE(job.views()[0].possible_deadlocks.empty()) << "of a thread without a line nothing is known";
}

TEST(JobView, ARingThatIsNoMoreWhereItWasSeenIsNone) {
  const auto change = [](const std::function<void(platform::ThreadLine&)>& what) {
    ObservedJob job(2);
    job.wait_for(0, {1}, 5);
    job.wait_for(1, {0}, 5, kOther);
    job.before_read_again = [&] { what(job[1].threads[0]); };
    return job.views()[0].deadlocks.size();
  };
  EXPECT_EQ(change([](platform::ThreadLine&) {}), 1u);
  EXPECT_EQ(change([](platform::ThreadLine& line) { line.waits_since_ns += 1000; }), 1u) << "computed anew";
  EXPECT_EQ(change([](platform::ThreadLine& line) { line.collective.since_ns += 1; }), 0u);
  EXPECT_EQ(change([](platform::ThreadLine& line) { line.number = 99; }), 0u);
  EXPECT_EQ(change([](platform::ThreadLine& line) { line.collective.what = 1; }), 0u);
  EXPECT_EQ(change([](platform::ThreadLine& line) { line.awaited_ranks = 0; }), 0u) << "the other has come";
}

TEST(JobView, WhomAnEarlierLookFoundMissingMayHaveComeSince) {
  ObservedJob job(3);
  job.wait_for(0, {1, 2}, 5);
  job.wait_for(1, {2}, 5);
  job.receive_from(2, 0, 5);
  EXPECT_EQ(job.views()[0].possible_deadlocks, std::vector<std::string>{"rank 0 waits for rank 2, rank 2 for rank 0"})
      << "rank 1 is in the same call as rank 0";
}

TEST(JobView, NumbersOfProcessesThatSeveralContainersHaveNameNobody) {
  ObservedJob job(3);
  job.wait_for(0, {2}, 5);
  job.compute(1, 5);
  job.compute(2, 5);
  job[1].process = job[2].process;
  const std::vector<JobView> views = job.views();
  ASSERT_EQ(views.size(), 1u);
  EXPECT_EQ(views[0].here.size(), 3u);
  EXPECT_EQ(views[0].late_s(), 0) << "it may be rank 1 or 2";
}

TEST(JobView, ThoseThatCallThemselvesTheSameRankInOtherContainersAreOtherJobs) {
  ObservedJob one(2), two(2);
  one.wait_for(0, {1}, 5);
  two.wait_for(1, {0}, 7);
  two.shift = 100;
  two.process_namespace = 4;
  std::vector<platform::SeenRecord> all = one.seen();
  for (platform::SeenRecord& record : two.seen()) all.push_back(std::move(record));
  const std::vector<JobView> views = views_of(std::move(all), ObservedJob::kNowNs,
                                              [](int) {
                                                ProcessFacts facts;
                                                facts.is_there = true;
                                                facts.state.kind = platform::ProcessState::Kind::kSleeps;
                                                return facts;
                                              },
                                              {});
  ASSERT_EQ(views.size(), 2u);
  EXPECT_EQ(views[0].here[0].process, ObservedJob::kFirstProcess + 1);
  EXPECT_NEAR(views[0].late_s(), 5, 0.1);
  EXPECT_EQ(views[1].here[0].process, ObservedJob::kFirstProcess + 100);
  EXPECT_NEAR(views[1].late_s(), 7, 0.1);
}

TEST(JobView, AProcessThatEndsWhileItIsLookedAtMakesNoJobOfItsOwn) {
  ObservedJob job(2);
  job.compute(0, 1);
  job.compute(1, 1);
  const std::vector<JobView> views = views_of(job.seen(), ObservedJob::kNowNs,
                                              [](int process) {
                                                ProcessFacts facts;
                                                facts.is_there = process != ObservedJob::kFirstProcess;
                                                facts.user = facts.is_there ? 1000 : 0;
                                                return facts;
                                              },
                                              {});
  ASSERT_EQ(views.size(), 1u);
  EXPECT_EQ(ranks_of(views[0]), std::vector{1});
}

TEST(JobView, AProcessThatHasGotAnothersNumberHasNoShares) {
  ObservedJob job(1);
  job.compute(0, 1);
  JobView before = job.views()[0], now = job.views()[0];
  before.here[0].started = 7;
  now.here[0].started = 7;
  compare(before, 1, now);
  EXPECT_TRUE(now.here[0].waited_share);
  now = job.views()[0];
  now.here[0].started = 8;
  compare(before, 1, now);
  EXPECT_EQ(now.here.size(), 1u);
  EXPECT_FALSE(now.here[0].waited_share);
  before.here[0].waited_s = 99;
  now.here[0].started = 7;
  compare(before, 1, now);
  EXPECT_FALSE(now.here[0].waited_share) << "it has started its record anew";
}

TEST(JobView, WhereAllAreInCallsForLongAndNobodyIsKnownToBeLateThatIsKnownAtLeast) {
  ObservedJob job(3);
  for (int rank = 0; rank < 3; ++rank) job.receive_from(rank, platform::FunctionStamp::kAny, 20 + rank);
  EXPECT_EQ(job.views()[0].late_s(), 0);
  EXPECT_NEAR(job.views()[0].stuck_s(), 20, 0.1);
  job.compute(1, 30);
  EXPECT_EQ(job.views()[0].stuck_s(), 0) << "rank 1 is in no call";
  job.receive_from(1, platform::FunctionStamp::kAny, 30);
  job.end(2);
  EXPECT_EQ(job.views()[0].stuck_s(), 0) << "rank 2 may be anywhere";
}

TEST(JobView, OfAForgedRecordNothingIsTakenThatIsNotInIt) {
  ObservedJob job(2);
  std::memset(static_cast<void*>(&job[0]), 0xff, sizeof(platform::Record));
  job[0].process = ObservedJob::kFirstProcess;
  job.compute(1, 1);
  for (const JobView& view : job.views()) {
    EXPECT_NO_THROW((void)json_of(view).dump());
    EXPECT_NO_THROW((void)table_of(view, {}));
    EXPECT_FALSE(platform::metrics_text({view.metrics}, "").empty());
  }
}

TEST(JobView, AMessageOfLessThanASecondMakesNobodyLate) {
  ObservedJob job(2);
  job.receive_from(0, 1, 0.5);
  job.compute(1, 3);
  EXPECT_EQ(job.views()[0].late_s(), 0);
}

TEST(JobView, WhatAnEarlierCallHasLeftBehindIsNoWait) {
  ObservedJob job(2);
  job.wait_for(0, {1}, 9);
  job[0].threads[0].collective.since_ns = ObservedJob::kNowNs - kNanosecondsPerSecond;  // another call
  job.compute(1, 9);
  EXPECT_EQ(job.views()[0].late_s(), 0);
}

TEST(JobView, AProcessThatHasGoneWhileOthersWaitForItIsNamed) {
  ObservedJob job(3);
  job.wait_for(0, {2}, 9);
  job.wait_for(1, {2}, 9);
  job.end(2);
  const std::vector<JobView> views = job.views();
  ASSERT_EQ(views[0].here.size(), 3u);
  EXPECT_EQ(views[0].here[0].process, ObservedJob::kFirstProcess + 2);
  EXPECT_EQ(views[0].here[0].state, "has ended");
  EXPECT_EQ(views[0].here[1].waits_for, std::vector<std::string>{"process 4002"});
}

TEST(JobView, SharesAreThoseOfTheTimeInBetweenAndTheWaitThatGoesOnCounts) {
  ObservedJob job(2);
  job.wait_for(0, {1}, 10);
  job.compute(1, 10);
  job[0].threads[0].number = 10;
  const JobView before = job.views()[0];
  job.cpu_s = 1.5;
  job[0].threads[0].number = 13;
  JobView now = job.views(ObservedJob::kNowNs + 2 * kNanosecondsPerSecond)[0];
  compare(before, 2, now);
  ASSERT_EQ(ranks_of(now), (std::vector{1, 0}));
  EXPECT_NEAR(now.here[1].waited_share.value_or(-1), 1, 0.01);
  EXPECT_NEAR(now.here[0].waited_share.value_or(-1), 0, 0.01);
  EXPECT_NEAR(now.here[0].cpu_share.value_or(-1), 0.75, 0.01);
  EXPECT_NEAR(now.here[1].calls_per_s.value_or(-1), 1.5, 0.01);
  EXPECT_FALSE(now.here[0].calls_per_s) << "it has called none";
}

TEST(JobView, ARankWhoseProcessHasGoneSinceIsKeptUnlessAnotherTookItsPlace) {
  ObservedJob job(2);
  job.compute(0, 1);
  job.compute(1, 1);
  const JobView before = job.views()[0];
  job.end(1);
  JobView now = job.views()[0];
  compare(before, 1, now);
  ASSERT_EQ(ranks_of(now), (std::vector{0, 1}));
  EXPECT_EQ(now.here[1].standing, Standing::kEnded);
  JobView others = job.views()[0];
  others.here[0].rank = 1;
  others.here[0].process = 5000;
  compare(before, 1, others);
  EXPECT_EQ(ranks_of(others), (std::vector{1, 0}));
}

TEST(JobView, JobsOfTheSameNameAreOneAndOthersAreNot) {
  const ObservedJob job(2, "a"), other(3, "b");
  std::vector<platform::SeenRecord> all = job.seen();
  for (platform::SeenRecord& one : other.seen()) all.push_back(std::move(one));
  const std::vector<JobView> views =
      views_of(std::move(all), ObservedJob::kNowNs,
               [](int process) {
                 ProcessFacts facts;
                 facts.is_there = true;
                 facts.user = process == ObservedJob::kFirstProcess ? 1000 : 0;  // of both jobs the first
                 return facts;
               },
               {});
  ASSERT_EQ(views.size(), 4u) << "jobs of other users are others";
  EXPECT_EQ(views[0].label, "a");
  EXPECT_EQ(views[3].label, "b");
}

TEST(JobView, WhatAnotherUserWroteIsNoCommandToATerminal) {
  EXPECT_EQ(printable("a\033[2Jb\nc\x7f"), "a?[2Jb?c?");
  EXPECT_EQ(printable("gr\xc3\xb6\xc3\x9f"
                      "e \xe2\x82\xac \xf0\x9f\x98\x80"),
            "gr\xc3\xb6\xc3\x9f"
            "e \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "??2J")
      << "a command of one character";
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "x"),
            "???x")
      << "from right to left";
  EXPECT_EQ(printable("\xc3"), "?");
  ObservedJob job(1, "evil\033[31m\xff");
  EXPECT_EQ(job.views()[0].label, "evil?[31m?");
}

TEST(JobView, AsJsonRanksAreNumbers) {
  ObservedJob job(3);
  job.wait_for(0, {1}, 9);
  job.compute(1, 10);
  job.wait_for(2, {1}, 9);
  job[0].threads[0].number = 17;
  job[0].threads[0].algorithm = 2;
  std::memcpy(job[0].algorithms[1], "ring", sizeof "ring");
  const nlohmann::ordered_json json = json_of(job.views()[0]);
  EXPECT_EQ(json["job"], "job");
  EXPECT_EQ(json["ranks"], 3);
  EXPECT_EQ(json["here"][0]["rank"], 1);
  EXPECT_EQ(json["here"][0]["standing"], "late");
  EXPECT_EQ(json["here"][0]["awaited_by"], (std::vector{0, 2}));
  EXPECT_EQ(json["here"][1]["waits_for"], std::vector{1});
  EXPECT_EQ(json["here"][1]["call"], 17);
  EXPECT_EQ(json["here"][1]["algorithm"], "ring");
  EXPECT_TRUE(json["here"][0]["cpu_share"].is_null());
  EXPECT_FALSE(json.dump().empty());
}

}  // namespace
}  // namespace hocket::observe
