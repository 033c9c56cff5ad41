// SPDX-License-Identifier: BSD-3-Clause
#include "core/statistics.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/call_times.h"

namespace hocket::interposer {
namespace {

void expect_line(const std::string& text, const std::string& line) {
  EXPECT_NE(text.find(line + "\n"), std::string::npos) << text;
}

TEST(Statistics, NamesAndReasonsAreThereForAllAndDiffer) {
  std::set<std::string> names, reasons;
  for (int i = 0; i < kCollectives; ++i) names.insert(mpi_name(static_cast<Collective>(i)));
  for (int i = 0; i < kOutcomes; ++i) reasons.insert(reason(static_cast<Outcome>(i)));
  EXPECT_EQ(names.size(), static_cast<size_t>(kCollectives));
  EXPECT_EQ(reasons.size(), static_cast<size_t>(kOutcomes));
  EXPECT_EQ(reasons.count("?"), 0u);
  EXPECT_STREQ(mpi_name(Collective::kIallreduce), "MPI_Iallreduce");
}

TEST(Statistics, CountEachCollectiveAndOutcomeForItself) {
  std::set<int> places;
  for (int collective = 0; collective < kCollectives; ++collective)
    for (int outcome = 0; outcome < kOutcomes; ++outcome)
      places.insert(counter_index(static_cast<Collective>(collective), static_cast<Outcome>(outcome)));
  EXPECT_EQ(places.size(), CounterArray{}.size());
  EXPECT_EQ(*places.rbegin(), static_cast<int>(CounterArray{}.size()) - 1);
}

TEST(Statistics, CommunicatorsThatHaveGoneAreCountedInCommon) {
  Counters one;
  one.add(Collective::kBarrier, Outcome::kCarriedOut);
  one.add(Collective::kBarrier, Outcome::kCarriedOut);
  CommonCounters common;
  common.add(Collective::kBarrier, Outcome::kDisabled);
  common.add(one);
  common.add(one);
  CounterArray sums{};
  common.read(sums);
  EXPECT_EQ(sums[counter_index(Collective::kBarrier, Outcome::kCarriedOut)], 4u);
  EXPECT_EQ(sums[counter_index(Collective::kBarrier, Outcome::kDisabled)], 1u);
  EXPECT_EQ(sums[counter_index(Collective::kBroadcast, Outcome::kCarriedOut)], 0u);
}

TEST(Statistics, TellWhatWasCarriedOutAndWhyNot) {
  Counters counters;
  const auto add = [&](Collective collective, Outcome outcome, int calls) {
    for (int i = 0; i < calls; ++i) counters.add(collective, outcome);
  };
  add(Collective::kAllreduce, Outcome::kCarriedOut, 6);
  add(Collective::kAllreduce, Outcome::kSingleRank, 1);
  add(Collective::kAllreduce, Outcome::kNotSetUp, 2);
  add(Collective::kBroadcast, Outcome::kIntercommunicator, 4);
  add(Collective::kBroadcast, Outcome::kLongElements, 1);
  CounterArray numbers{};
  counters.add_to(numbers);
  const std::string text = statistics_text(numbers, 2);
  EXPECT_EQ(text.rfind("hocket: calls of 2 ranks together\n", 0), 0u) << text;
  expect_line(text,
              "hocket: MPI_Allreduce                               7              2   single rank 1, not yet set up 2");
  expect_line(
      text,
      "hocket: MPI_Bcast                                   0              5   intercommunicator 4, elements longer "
      "than hocket combines 1");
  expect_line(text, "hocket: all                                         7              7   ");
  EXPECT_EQ(text.find("MPI_Barrier"), std::string::npos) << "nobody called it";
  // Of 14 calls, 4 are nobody's fault.
  expect_line(text, "hocket: 70.0 % carried out of 10 calls within its reach");
}

TEST(Statistics, WithNoCallsGiveNoShare) {
  const std::string text = statistics_text({}, 1);
  EXPECT_EQ(text.rfind("hocket: calls of 1 rank\n", 0), 0u) << text;
  EXPECT_EQ(text.find('%'), std::string::npos) << text;
}

TEST(Statistics, SayHowWindowsMemoryWasUsedWhereItWas) {
  EXPECT_EQ(windows_text(0, 0), "");
  EXPECT_EQ(windows_text(2, 30), "hocket: memory of windows: used in place 2 times, copied 30 times\n");
}

TEST(CallTimes, AreToldLongestFirstAndByRank) {
  TimeArray sums{};
  sums[static_cast<size_t>(Collective::kBarrier)] = 1'000'000;
  sums[static_cast<size_t>(Collective::kAllreduce)] = 3'000'000;
  sums[kCollectives] = 8'000'000;
  EXPECT_EQ(times_text(sums, 2),
            "hocket: 50.0 % of the time in these calls, 2.000 s of 4.000 s a rank: MPI_Allreduce 1.500 s, MPI_Barrier "
            "0.500 s\n");
  EXPECT_EQ(times_text({}, 2), "");
}

TEST(CallTimes, AreOfTheOutermostCallAndOfTheJobOnly) {
  {
    const TimedCall before(Collective::kBarrier);
  }
  call_times.begin_job(2);
  EXPECT_TRUE(call_times.is_on());
  {
    const TimedCall outer(Collective::kReduceScatter);
    const TimedCall inner(Collective::kReduce);
  }
  const TimeArray times = call_times.end_job();
  EXPECT_FALSE(call_times.is_on());
  EXPECT_EQ(times[static_cast<size_t>(Collective::kBarrier)], 0u);
  EXPECT_EQ(times[static_cast<size_t>(Collective::kReduce)], 0u);
  EXPECT_GT(times[static_cast<size_t>(Collective::kReduceScatter)], 0u);
  EXPECT_GE(times[kCollectives], times[static_cast<size_t>(Collective::kReduceScatter)]);
}

TEST(CallTimes, KeepForWhomCallsWaited) {
  static CallTimes times;  // lives as long as the process: it gives nothing back
  times.begin_job(3);
  times.add(Collective::kBarrier, nullptr, 100, {true, 60, 2});
  times.add(Collective::kBarrier, nullptr, 100, {true, 160, 0});  // never longer than the call
  times.add(Collective::kBarrier, nullptr, 100, {true, 0, -1});
  times.add(Collective::kBarrier, nullptr, 100, {});
  times.add(Collective::kReduce, nullptr, 10, {true, 5, -1});
  times.add(Collective::kReduce, nullptr, 10, {true, 5, 3});
  EXPECT_EQ(times.timed_ns(), 320u);
  EXPECT_EQ(times.waited_ns(), 170u);
  EXPECT_EQ(times.waited_for(), (std::vector<uint64_t>{100, 0, 60}));
  EXPECT_EQ(times.end_job()[static_cast<size_t>(Collective::kBarrier)], 400u);
}

TEST(CallTimes, OfVeryLargeJobsKeepNoRanks) {
  static CallTimes times;
  times.begin_job(1 << 20);
  times.add(Collective::kBarrier, nullptr, 100, {true, 60, 2});
  EXPECT_EQ(times.waited_ns(), 60u);
  EXPECT_TRUE(times.waited_for().empty());
}

}  // namespace
}  // namespace hocket::interposer
