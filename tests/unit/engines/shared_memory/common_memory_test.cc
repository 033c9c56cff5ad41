// SPDX-License-Identifier: BSD-3-Clause
// Memory of windows in a lane's steps. Both ranks are this process, which has the window's file mapped twice: one of a
// rank that names the other's address reads it there.
#include "engines/shared_memory/common_memory.h"

#include <algorithm>

#include "engines/shared_memory/ranks.h"
#include "platform/mapped_file.h"

namespace hocket::engines::shared_memory {
namespace {

using platform::MappedFile;
using schedule::StepKind;

constexpr uint64_t kBytes = 64 * 1024;

class WindowsOfALane : public RanksOfAGroup {
 protected:
  void SetUp() override {
    open(2);
    files().come(1, file_.one(), MappedFile::kBytes);
    (void)files().find(file_.one(), platform::CommonFiles::kCopiedBeforeLook);
  }
  platform::CommonFiles& files() { return region().common_files(); }
  void start(Rank& rank, StepKind kind, std::byte* memory) {
    rank.program = program_of({step_of(kind, 1 - (&rank == &this->rank(0) ? 0 : 1), kBytes)});
    Operands operands;
    operands.base[static_cast<int>(schedule::Buffer::kInput)] = memory;
    operands.base[static_cast<int>(schedule::Buffer::kOutput)] = memory;
    rank.execution.start(rank.program, operands, *rank.lane);
  }
  // Rank 0 publishes a window's memory, and rank 1 gets it.
  void exchange(int value) {
    std::fill_n(file_.one(), kBytes, static_cast<std::byte>(value));
    start(rank(0), StepKind::kPublish, file_.one());
    rank(1).start({step_of(StepKind::kGet, 0, kBytes)});
    ASSERT_TRUE(end_all());
    EXPECT_EQ(rank(1).output[kBytes - 1], static_cast<std::byte>(value));
  }
  MappedFile file_{1};
};

TEST_F(WindowsOfALane, ArePublishedAsTheyLieOnceAllHaveSaidThatTheyHaveThem) {
  exchange(3);
  EXPECT_EQ(files().times_in_place(), 0U) << "rank 1 hasn't said yet that it has it";
  EXPECT_EQ(files().times_copied(), 1U);
  exchange(4);
  EXPECT_EQ(files().times_in_place(), 1U);
  start(rank(0), StepKind::kPublish, file_.one());
  EXPECT_FALSE(rank(0).is_done()) << "it must be left alone until it has been read";
  file_.one()[17] = std::byte{99};
  rank(1).start({step_of(StepKind::kGet, 0, kBytes)});
  ASSERT_TRUE(end_all());
  EXPECT_EQ(rank(1).output[17], std::byte{99});
}

TEST_F(WindowsOfALane, AreSentAndExposedAsTheyLie) {
  exchange(3);
  file_.one()[kBytes - 1] = std::byte{50};
  start(rank(0), StepKind::kSend, file_.one());
  rank(1).start({step_of(StepKind::kReceive, 0, kBytes)});
  ASSERT_TRUE(end_all());
  EXPECT_EQ(rank(1).output[kBytes - 1], std::byte{50});
  EXPECT_EQ(files().times_in_place(), 1U);
  rank(1).fill(5);
  start(rank(0), StepKind::kExpose, file_.one());
  rank(1).start({step_of(StepKind::kPut, 0, kBytes)});
  ASSERT_TRUE(end_all());
  EXPECT_EQ(file_.other()[100], rank(1).input[100]) << "written by the peer into the window";
  EXPECT_EQ(files().times_in_place(), 2U);
}

TEST_F(WindowsOfALane, AreCopiedWhileAPeerSaysNothing) {
  for (int call = 0; call < 3; ++call) {
    start(rank(0), StepKind::kPublish, file_.one());
    ASSERT_TRUE(rank(0).is_done()) << "a copy needs nobody's wait";
  }
  EXPECT_EQ(files().times_in_place(), 0U);
}

TEST_F(WindowsOfALane, AreCopiedOnceTheyAreBeingFreed) {
  exchange(3);
  exchange(4);
  files().close(1);
  exchange(5);
  EXPECT_EQ(files().times_in_place(), 1U);
  files().reopen(1);
  exchange(6);
  EXPECT_EQ(files().times_in_place(), 2U);
  files().close(1);
  files().go(1);
  exchange(7);
  EXPECT_EQ(files().times_in_place(), 2U);
}

TEST_F(WindowsOfALane, ThatARankDoesntFindFailTheCall) {
  exchange(3);
  start(rank(0), StepKind::kPublish, file_.one());
  EXPECT_FALSE(rank(0).is_done());
  files().close(1);
  files().go(1);  // against all rules
  rank(1).start({step_of(StepKind::kGet, 0, kBytes)});
  EXPECT_FALSE(rank(1).is_done());
  ASSERT_TRUE(rank(1).lane->has_failed());
  const Status failure = rank(1).lane->take_failure();
  EXPECT_STREQ(
      failure.message(),
      "rank 1 doesn't find the memory of a window that rank 0 has passed; was the window freed during the call?");
}

}  // namespace
}  // namespace hocket::engines::shared_memory
