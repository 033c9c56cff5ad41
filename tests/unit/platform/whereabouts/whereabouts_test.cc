// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "platform/whereabouts/description.h"
#include "platform/whereabouts/own_record.h"
#include "platform/whereabouts/waits.h"

namespace hocket::platform {
namespace {

constexpr uint32_t kReceive = 5;
constexpr uint64_t kSecond = kNanosecondsPerSecond;

// A process that keeps a record as `body` has it, and then does nothing.
class Child {
 public:
  template <typename Body>
  Child(int rank, const Body& body, bool is_awaited = true) {
    int ready[2] = {};
    if (pipe(ready) != 0) return;
    process_ = fork();
    if (process_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      begin_record({.rank = rank, .ranks = 3, .library = "some MPI"});
      name_function(kReceive, "MPI_Recv");
      body();
      (void)!write(ready[1], "", 1);
      for (;;) pause();
    }
    close(ready[1]);
    ready_ = ready[0];
    if (is_awaited) wait_until_ready();
  }
  ~Child() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    close(ready_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  int process() const { return process_; }
  void wait_until_ready() const {
    char byte = 0;
    (void)!read(ready_, &byte, 1);
  }

 private:
  int process_ = -1, ready_ = -1;
};

void enter_receive(int peer, int peer_of_all, uint64_t ago_ns) {
  FunctionStamp& stamp = own_line()->other;
  new InFunction(&stamp, kReceive, peer, 3);
  stamp.of_all.store(peer_of_all);
  stamp.since_ns.store(coarse_now_ns() - ago_ns);
}

void wait_for(const std::vector<uint32_t>& processes, uint64_t ago_ns) {
  ThreadLine& line = *own_line();
  new InFunction(&line.collective, 0);
  for (size_t i = 0; i < processes.size(); ++i) line.awaited[i].store(processes[i]);
  line.awaited_ranks.store(static_cast<uint32_t>(processes.size()));
  line.collective.since_ns.store(coarse_now_ns() - ago_ns);
  line.waits_since_ns.store(coarse_now_ns() - ago_ns);
}

std::vector<SeenRecord> records_beside(const Child& child) {
  const std::vector<SeenRecord> own = records_of(child.process());
  return own.empty() ? std::vector<SeenRecord>() : records_of_own_job(own[0].job());
}

const SeenRecord* find(const std::vector<SeenRecord>& records, int process) {
  const auto found =
      std::find_if(records.begin(), records.end(), [&](const SeenRecord& one) { return one.process() == process; });
  return found == records.end() ? nullptr : &*found;
}

Ring ring_from(const std::vector<SeenRecord>& records, const Child& first) {
  return WaitGraph(records, coarse_now_ns(), records_of).ring_from(*find(records, first.process()));
}

TEST(Whereabouts, AnotherProcessReadsWhereAnOwnerIs) {
  const Child child(1, [] { enter_receive(7, 2, 9 * kSecond); });
  const std::vector<SeenRecord> seen = records_of(child.process());
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0]->rank, 1);
  EXPECT_EQ(seen[0]->ranks, 3);
  EXPECT_EQ(seen[0].library(), "some MPI");
  EXPECT_EQ(describe_place(seen[0], coarse_now_ns()), "has been in MPI_Recv from rank 7, tag 3 for 9 s");
}

TEST(Whereabouts, AFunctionThatIsLeftIsTheLastOne) {
  const Child child(0, [] {
    const InFunction in(&own_line()->other, kReceive, FunctionStamp::kAny, FunctionStamp::kAny);
    own_line()->other.since_ns.store(coarse_now_ns() - 12 * kSecond);
  });
  const std::vector<SeenRecord> seen = records_of(child.process());
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(describe_place(seen[0], coarse_now_ns()),
            "has made no MPI call for 12 s, after MPI_Recv from any rank, any tag");
}

TEST(Whereabouts, AFunctionWithinAnotherOneIsInItForAWhileOnly) {
  const Child child(0, [] {
    enter_receive(7, 2, 9 * kSecond);
    const InFunction inner(&own_line()->other, kReceive + 1, 1, 1);
  });
  const std::vector<SeenRecord> seen = records_of(child.process());
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(describe_place(seen[0], coarse_now_ns()), "has been in MPI_Recv from rank 7, tag 3 for 9 s");
}

TEST(Whereabouts, ACommunicatorIsKnownByItsNumberUntilItIsForgotten) {
  const Child child(0, [] {
    CommunicatorName* const left = note_communicator(11, 0, 4, "");
    rename_communicator(left, "left");
    forget_communicator(note_communicator(13, 1, 2, "gone"));
  });
  const std::vector<SeenRecord> seen = records_of(child.process());
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(describe_communicator(seen[0], 11), "communicator \"left\" of 4 ranks");
  EXPECT_EQ(describe_communicator(seen[0], 13), "another communicator");
  EXPECT_EQ(describe_communicator("MPI_COMM_WORLD", 1), "MPI_COMM_WORLD of 1 rank");
}

TEST(Whereabouts, AChildOfForkWritesNothingIntoItsParentsRecord) {
  const Child child(1, [] {
    name_function(kReceive, "MPI_Recv");
    if (fork() == 0) {
      // It keeps none: not its parent's, and none of its own before it begins one.
      if (own_line() == nullptr && own_record() == nullptr) _exit(0);
      _exit(1);
    }
    int status = 1;
    wait(&status);
    if (status == 0) enter_receive(1, 1, 0);
  });
  const std::vector<SeenRecord> seen = records_of(child.process());
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_TRUE(describe_place(seen[0], coarse_now_ns()).starts_with("has been in MPI_Recv from rank 1, tag 3 for "))
      << "the child had a record";
}

TEST(Whereabouts, RingsOfWaitsAreFoundAndNamed) {
  Child two(2, [] { enter_receive(0, 0, 2 * kSecond); });
  const auto second = static_cast<uint32_t>(two.process());
  Child one(1, [&] { wait_for({second}, 2 * kSecond); });
  const auto first = static_cast<uint32_t>(one.process());
  Child zero(0, [&] { wait_for({first}, 2 * kSecond); });
  const std::vector<SeenRecord> records = records_beside(zero);
  ASSERT_NE(find(records, zero.process()), nullptr) << "of one job are those that one process has started";
  const Ring ring = ring_from(records, zero);
  EXPECT_EQ(describe_ring(ring), "rank 0 waits for rank 1, rank 1 for rank 2, rank 2 for rank 0");
  EXPECT_FALSE(ring.is_certain) << "of a message nobody knows";
}

// It has not looked since: whom it waited for may have come, and gone on.
TEST(Whereabouts, ARingWithAStoppedRankIsNotCertain) {
  const auto wait_in_barrier = [](uint32_t process) {
    name_function(0, "MPI_Barrier");
    wait_for({process}, 2 * kSecond);
  };
  int told[2] = {};
  ASSERT_EQ(pipe(told), 0);
  Child one(
      1,
      [&] {
        uint32_t other = 0;
        (void)!read(told[0], &other, sizeof other);
        wait_in_barrier(other);
      },
      false);
  Child zero(0, [&] { wait_in_barrier(static_cast<uint32_t>(one.process())); });
  const auto other = static_cast<uint32_t>(zero.process());
  (void)!write(told[1], &other, sizeof other);
  one.wait_until_ready();
  EXPECT_TRUE(ring_from(records_beside(zero), zero).is_certain);
  kill(one.process(), SIGSTOP);
  waitpid(one.process(), nullptr, WUNTRACED);
  const Ring ring = ring_from(records_beside(zero), zero);
  EXPECT_EQ(ring.members.size(), 2u);
  EXPECT_FALSE(ring.is_certain);
  close(told[0]);
  close(told[1]);
}

TEST(Whereabouts, AChainWithoutARingIsNoDeadlock) {
  Child two(2, [] { const InFunction in(&own_line()->other, kReceive, 0, 0); });
  const auto second = static_cast<uint32_t>(two.process());
  Child one(1, [&] { wait_for({second}, 2 * kSecond); });
  const std::vector<SeenRecord> records = records_beside(one);
  EXPECT_TRUE(ring_from(records, one).members.empty());
}

TEST(Whereabouts, AWaitOfLessThanASecondIsNoPartOfARing) {
  Child one(1, [] { enter_receive(0, 0, 0); });
  const auto first = static_cast<uint32_t>(one.process());
  Child zero(0, [&] { wait_for({first}, 2 * kSecond); });
  const std::vector<SeenRecord> records = records_beside(zero);
  EXPECT_TRUE(ring_from(records, zero).members.empty());
}

TEST(Whereabouts, WhatWasAwaitedInAnEarlierCallIsNoPartOfARing) {
  Child one(1, [] { enter_receive(0, 0, 2 * kSecond); });
  const auto first = static_cast<uint32_t>(one.process());
  Child zero(0, [&] {
    wait_for({first}, 9 * kSecond);
    own_line()->collective.since_ns.store(coarse_now_ns() - 2 * kSecond);
  });
  const std::vector<SeenRecord> records = records_beside(zero);
  EXPECT_TRUE(ring_from(records, zero).members.empty());
}

TEST(Whereabouts, AFunctionWithoutAPeerWaitsForNobodyInParticular) {
  Child one(1, [] {
    // As a record has it whose owner has sent no message yet.
    new InFunction(&own_line()->other, kReceive);
    own_line()->other.since_ns.store(coarse_now_ns() - 2 * kSecond);
  });
  const auto first = static_cast<uint32_t>(one.process());
  Child zero(0, [&] { wait_for({first}, 2 * kSecond); });
  const std::vector<SeenRecord> records = records_beside(zero);
  EXPECT_TRUE(ring_from(records, zero).members.empty());
}

TEST(Whereabouts, ThreadsHaveLinesOfTheirOwnAndLinesOfThreadsThatEndedAreUsedAgain) {
  const Child child(0, [] {
    for (uint32_t i = 0; i < 3 * Record::kThreads; ++i) {
      std::thread thread([] { const InFunction in(&own_line()->collective, 0); });
      thread.join();
    }
    enter_receive(2, 2, kSecond);
  });
  const std::vector<SeenRecord> seen = records_of(child.process());
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(describe_place(seen[0], coarse_now_ns()), "has been in MPI_Recv from rank 2, tag 3 for 1 s");
}

TEST(Whereabouts, ProcessesWithoutARecordAndThoseThatDoNotExistHaveNone) {
  EXPECT_TRUE(records_of(1 << 30).empty());
  EXPECT_TRUE(records_of(getppid()).empty());
}

}  // namespace
}  // namespace hocket::platform
