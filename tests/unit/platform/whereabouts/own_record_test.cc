// SPDX-License-Identifier: BSD-3-Clause
#include "platform/whereabouts/own_record.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <latch>
#include <set>
#include <thread>
#include <vector>

#include "platform/whereabouts/job_processes.h"

namespace hocket::platform {
namespace {

// The line of each of so many threads that live at the same time.
std::vector<ThreadLine*> lines_of(int threads) {
  std::vector<ThreadLine*> lines(threads);
  std::latch all(threads);
  std::vector<std::thread> running;
  for (ThreadLine*& line : lines)
    running.emplace_back([&all, &line] {
      line = own_line();
      all.arrive_and_wait();
    });
  for (std::thread& one : running) one.join();
  return lines;
}

// The record of a process that lives on would be there in other tests.
template <typename Body>
void in_recording_child(const Body& body) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "what was wrong is told above";
}

TEST(OwnRecord, ThreadsBeyondItsLinesShareNone) {
  in_recording_child([] {
    Record* const record = begin_record({.rank = 0, .ranks = 1, .library = "threads"});
    ASSERT_NE(record, nullptr);
    constexpr int kThreads = static_cast<int>(Record::kThreads) + 4;
    for (int round = 0; round < 2; ++round) {
      const std::vector<ThreadLine*> lines = lines_of(kThreads);
      EXPECT_EQ(std::set<ThreadLine*>(lines.begin(), lines.end()).size(), lines.size());
      const auto is_in_record = [record](const ThreadLine* line) {
        return line >= std::begin(record->threads) && line < std::end(record->threads);
      };
      EXPECT_LE(std::count_if(lines.begin(), lines.end(), is_in_record), static_cast<int>(Record::kThreads));
      const uint64_t unlisted = record->unlisted_threads.load();
      EXPECT_GE(unlisted, 4u);
      EXPECT_LE(unlisted, 5u) << "lines of threads that have ended are used again; this one may have one, too";
    }
  });
}

TEST(OwnRecord, ALineThatIsUsedAgainSaysNothingOfTheThreadThatHadIt) {
  in_recording_child([] {
    ASSERT_NE(begin_record({.rank = 0, .ranks = 1, .library = "threads"}), nullptr);
    constexpr int kThreads = static_cast<int>(Record::kThreads);
    for (ThreadLine* line : lines_of(kThreads)) {
      line->other.what.store(1 | FunctionStamp::kIsIn);
      line->collective.what.store(1 | FunctionStamp::kIsIn);
      line->waits_since_ns.store(1);
    }
    const std::vector<ThreadLine*> lines = lines_of(kThreads);
    for (const ThreadLine* line : lines) {
      EXPECT_EQ(line->other.what.load(), 0u);
      EXPECT_EQ(line->collective.what.load(), 0u);
      EXPECT_EQ(line->waits_since_ns.load(), 0u);
    }
  });
}

TEST(JobProcesses, AreFoundOnceAndLookedForAnewWhereNoneIsLeft) {
  in_recording_child([] {
    ASSERT_NE(begin_record({.rank = 0, .ranks = 1, .library = "threads"}), nullptr);
    JobProcesses processes;
    const auto has_own = [](const std::vector<SeenRecord>& records) {
      return std::any_of(records.begin(), records.end(),
                         [](const SeenRecord& one) { return one.process() == static_cast<int>(getpid()); });
    };
    EXPECT_TRUE(has_own(processes.records(job_label())));
    EXPECT_TRUE(has_own(processes.records(job_label()))) << "known by now";
    EXPECT_TRUE(processes.records("another job").empty());
    EXPECT_TRUE(has_own(processes.records(job_label())));
  });
}

TEST(JobProcesses, AreFoundByThreadsAtTheSameTime) {
  in_recording_child([] {
    ASSERT_NE(begin_record({.rank = 0, .ranks = 1, .library = "threads"}), nullptr);
    JobProcesses processes;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&processes] {
        for (int look = 0; look < 20; ++look)
          EXPECT_FALSE((look % 4 == 0 ? processes.look_anew(job_label()) : processes.records(job_label())).empty());
      });
    for (std::thread& one : threads) one.join();
  });
}

}  // namespace
}  // namespace hocket::platform
