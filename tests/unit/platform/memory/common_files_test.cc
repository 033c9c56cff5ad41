// SPDX-License-Identifier: BSD-3-Clause
#include "platform/memory/common_files.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "platform/mapped_file.h"
#include "platform/shared_regions.h"

namespace hocket::platform {
namespace {

constexpr uint64_t kEnough = CommonFiles::kCopiedBeforeLook;

class WindowsOfARank : public testing::Test {
 protected:
  const CommonBoard* board(SharedRegion& region) const {
    const uint64_t place = region.common_files().board_place();
    return place == 0 ? nullptr : reinterpret_cast<const CommonBoard*>(region.base() + place - 1);
  }
  // So that it is looked for.
  static std::optional<FileMapping> use(CommonFiles& files, const void* memory) {
    (void)files.find(memory, kEnough);
    return files.find(memory, 1000);
  }
  std::shared_ptr<SharedRegion> region_ = make_region(16 * kMiB);
  std::shared_ptr<SharedRegion> peer_ = make_region(16 * kMiB);
  CommonFiles& files_ = region_->common_files();
};

TEST_F(WindowsOfARank, AreLookedForWhenCopiesHaveCostAsMuch) {
  const MappedFile file(1);
  EXPECT_FALSE(files_.are_any());
  files_.come(7, file.one(), MappedFile::kBytes);
  EXPECT_TRUE(files_.are_any());
  for (uint64_t copied = kEnough / 4; copied < kEnough; copied += kEnough / 4)
    EXPECT_FALSE(files_.find(file.one(), kEnough / 4)) << copied;
  EXPECT_EQ(board(*region_), nullptr) << "until then it costs no memory";
  EXPECT_EQ(files_.times_copied(), 3U);
  (void)files_.find(file.one(), kEnough / 4);
  const auto found = files_.find(file.one() + 100, 1000);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->contains(reinterpret_cast<uintptr_t>(file.one()), MappedFile::kBytes));
  ASSERT_NE(board(*region_), nullptr);
  EXPECT_EQ(board(*region_)->files(), std::vector<FileIdentity>{found->file});
}

TEST_F(WindowsOfARank, AreNotGivenWhereNoPeerCouldMapThem) {
  std::vector<std::byte> memory(MappedFile::kBytes);
  files_.come(7, memory.data(), memory.size());
  EXPECT_FALSE(use(files_, memory.data()));
  EXPECT_FALSE(use(files_, memory.data()));
  files_.go(7);
}

TEST_F(WindowsOfARank, HaveNothingToDoWithOtherMemory) {
  const MappedFile file(1), no_windows(2);
  files_.come(7, file.one(), MappedFile::kBytes);
  ASSERT_TRUE(use(files_, file.one()));
  EXPECT_FALSE(use(files_, no_windows.one()));
  EXPECT_FALSE(files_.find(file.one() + MappedFile::kBytes - 10, 11)) << "it ends before";
}

TEST_F(WindowsOfARank, AreNotGivenWhileTheyAreFreed) {
  const MappedFile file(1);
  files_.come(7, file.one(), MappedFile::kBytes);
  const auto found = use(files_, file.one());
  ASSERT_TRUE(found);
  const uint64_t epoch = files_.epoch();
  files_.close(7);
  EXPECT_NE(files_.epoch(), epoch) << "what is remembered must be looked up again";
  EXPECT_FALSE(files_.find(file.one(), 1000));
  EXPECT_TRUE(files_.find(found->file, 0, 1000)) << "peers may still say that it is here";
  files_.reopen(7);
  EXPECT_TRUE(files_.find(file.one(), 1000));
  files_.close(7);
  files_.go(7);
  EXPECT_FALSE(use(files_, file.one()));
  EXPECT_TRUE(board(*region_)->files().empty());
  EXPECT_FALSE(files_.are_any());
}

TEST_F(WindowsOfARank, AreFoundByAPeerThatHasTheFile) {
  const MappedFile file(1);
  files_.come(7, file.one(), MappedFile::kBytes);
  const auto mine = use(files_, file.one());
  ASSERT_TRUE(mine);
  CommonFiles& peers = peer_->common_files();
  peers.look_for({{99, 99, 99}});
  EXPECT_EQ(board(*peer_), nullptr) << "there is no such file";
  peers.look_for({mine->file});
  ASSERT_NE(board(*peer_), nullptr);
  EXPECT_TRUE(board(*peer_)->find(mine->file, 5000, 1000));
  EXPECT_FALSE(board(*peer_)->find(mine->file, MappedFile::kBytes, 1));
  EXPECT_TRUE(peers.find(mine->file, 5000, 1000));
  EXPECT_FALSE(peers.find(file.one(), 1000)) << "no window of its own has it";
  peers.come(3, file.other(), MappedFile::kBytes);
  EXPECT_TRUE(peers.find(file.other(), 1000)) << "now one has, and where it lies is known";
}

// Its own part is empty, and it doesn't know which window it is that the file belongs to.
TEST_F(WindowsOfARank, ThatAreEmptyTakeWhatWasFoundForPeersAlong) {
  CommonFiles& peers = peer_->common_files();
  for (uint64_t window = 1; window <= CommonBoard::kLines + 1; ++window) {
    const MappedFile file(1);
    files_.come(window, file.one(), MappedFile::kBytes);
    const auto mine = use(files_, file.one());
    ASSERT_TRUE(mine) << window;
    peers.look_for({mine->file});
    ASSERT_TRUE(board(*peer_)->find(mine->file, 0, 1)) << window;
    peers.go(window);
    EXPECT_TRUE(board(*peer_)->files().empty()) << window;
    files_.go(window);
  }
}

// Two windows in one file, as an MPI with a pool might make them.
TEST_F(WindowsOfARank, MayShareAFile) {
  const MappedFile file(1);
  files_.come(7, file.one(), MappedFile::kBytes / 2);
  files_.come(8, file.one() + MappedFile::kBytes / 2, MappedFile::kBytes / 2);
  ASSERT_TRUE(use(files_, file.one()));
  files_.close(7);
  files_.go(7);
  EXPECT_TRUE(files_.find(file.one() + MappedFile::kBytes / 2, 1000));
  EXPECT_EQ(board(*region_)->files().size(), 1U);
}

TEST_F(WindowsOfARank, BeyondWhatTheBoardHoldsAreCopied) {
  std::vector<std::unique_ptr<MappedFile>> files;
  for (uint32_t i = 0; i <= CommonBoard::kLines; ++i) {
    files.push_back(std::make_unique<MappedFile>(1));
    files_.come(i, files.back()->one(), MappedFile::kBytes);
  }
  std::vector<uint64_t> given;
  for (uint64_t window = 0; window < files.size(); ++window) {
    if (use(files_, files[window]->one())) given.push_back(window);
  }
  ASSERT_EQ(given.size(), CommonBoard::kLines);
  files_.go(given[5]);
  const MappedFile another(1);
  files_.come(100, another.one(), MappedFile::kBytes);
  EXPECT_TRUE(use(files_, another.one())) << "a line is free again";
}

TEST_F(WindowsOfARank, ComeAndGoByThousandsInTheSameRoom) {
  const MappedFile file(1);
  for (uint64_t window = 0; window < 3000; ++window) {
    files_.come(window, file.one(), MappedFile::kBytes);
    if (window % 100 == 0) {
      ASSERT_TRUE(use(files_, file.one())) << window;
    }
    files_.close(window);
    files_.go(window);
  }
  EXPECT_TRUE(board(*region_)->files().empty());
}

// What is read of a line is of one writing, whatever is written meanwhile.
TEST_F(WindowsOfARank, AreReadFromTheBoardWhole) {
  auto* shared = new (region_->allocate(sizeof(CommonBoard))) CommonBoard;
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (uint64_t i = 1; !stop.load(std::memory_order_relaxed); ++i) {
      const uint64_t address = (i % 2 + 1) << 20;
      const auto line = shared->write({address, address + (1 << 20), address, {i, address, i}});
      if (line) shared->wipe(*line);
    }
  });
#ifdef HOCKET_SANITIZED
  constexpr int kLooks = 100'000;
#else
  constexpr int kLooks = 1'000'000;
#endif
  uint64_t torn = 0;
  for (int look = 0; look < kLooks && torn == 0; ++look) {
    const auto found = shared->find(uintptr_t{2} << 20, 1);
    if (!found) continue;
    const FileIdentity& file = found->file;
    const bool is_whole = found->offset == found->begin && file.inode == found->begin && file.name == file.device &&
                          found->end == found->begin + (1 << 20) && (file.device % 2 + 1) << 20 == found->begin;
    torn += is_whole ? 0 : 1;
  }
  stop.store(true, std::memory_order_relaxed);
  writer.join();
  EXPECT_EQ(torn, 0U);
}

}  // namespace
}  // namespace hocket::platform
