// SPDX-License-Identifier: BSD-3-Clause
#include "platform/memory/shared_region.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "platform/child_process.h"
#include "platform/memory/memory_file.h"
#include "platform/shared_regions.h"

namespace hocket::platform {
namespace {

// From now on memfd_create gives EPERM in this process, as under some containers' seccomp filters.
bool refuse_memfd() {
  sock_filter instructions[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(instructions), instructions};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool all_bytes_are(const void* memory, size_t bytes, unsigned char value) {
  const auto* at = static_cast<const unsigned char*>(memory);
  return std::all_of(at, at + bytes, [&](unsigned char byte) { return byte == value; });
}

TEST(SharedRegion, GivesZeroedAlignedMemoryInsideItsRange) {
  auto region = make_region(64 * kMiB);
  for (size_t alignment : {64UL, 128UL, 4096UL, 2 * kMiB}) {
    void* memory = region->allocate(1000, alignment);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0U);
    EXPECT_EQ(region->offset_of(memory) % alignment, 0U) << "peers map elsewhere, only offsets are common";
    EXPECT_TRUE(region->contains(memory, 1000));
    EXPECT_TRUE(all_bytes_are(memory, 1000, 0));
  }
  EXPECT_FALSE(region->contains(region->base(), region->limit() + 1));
  EXPECT_FALSE(region->contains(&region, 1));
}

TEST(SharedRegion, ReusedMemoryIsZeroedAgain) {
  auto region = make_region(8 * kMiB);
  void* first = region->allocate(kMiB);
  std::memset(first, 0xAB, kMiB);
  EXPECT_TRUE(region->free(first));
  void* second = region->allocate(2 * kMiB);  // begins where the first was and reaches into untouched memory
  ASSERT_EQ(second, first);
  EXPECT_TRUE(all_bytes_are(second, 2 * kMiB, 0));
}

size_t mapped_bytes() {
  std::ifstream pages("/proc/self/statm");
  size_t count = 0;
  pages >> count;
  return count * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

TEST(SharedRegion, GrowsWhileAPeerHasItMapped) {
  auto region = make_region(256 * kMiB);
  auto mapped = MappedRegion::map(dup(region->descriptor()), region->limit());
  ASSERT_TRUE(mapped.is_ok()) << mapped.status().message();
  for (size_t i = 1; i <= 20; ++i) {
    auto* memory = static_cast<std::byte*>(region->allocate(i * kMiB));
    ASSERT_NE(memory, nullptr);
    std::memset(memory, static_cast<int>(i), i * kMiB);
    const uint64_t offset = region->offset_of(memory);
    auto window = mapped.value()->reach(offset + i * kMiB);
    ASSERT_TRUE(window.is_ok()) << window.status().message();
    EXPECT_TRUE(all_bytes_are(window.value().base + offset, i * kMiB, static_cast<unsigned char>(i)));
  }
  EXPECT_FALSE(mapped.value()->reach(region->limit() + 1).is_ok());
}

// The program may lock, bind or advise a part of what it got: the mapping is several then.
TEST(SharedRegion, GrowsWhenAPartOfItHasBeenTreatedOtherwise) {
  auto region = make_region(256 * kMiB);
  auto* memory = static_cast<std::byte*>(region->allocate(4 * kMiB));
  ASSERT_NE(memory, nullptr);
  auto mapped = MappedRegion::map(dup(region->descriptor()), region->limit());
  ASSERT_TRUE(mapped.is_ok()) << mapped.status().message();
  for (std::byte* part : {memory + kMiB, mapped.value()->base() + kMiB})
    ASSERT_EQ(madvise(part, kMiB, MADV_DONTFORK), 0);
  auto* more = static_cast<std::byte*>(region->allocate(64 * kMiB));
  ASSERT_NE(more, nullptr);
  std::memset(more, 5, 64 * kMiB);
  const uint64_t offset = region->offset_of(more);
  auto window = mapped.value()->reach(offset + 64 * kMiB);
  ASSERT_TRUE(window.is_ok()) << window.status().message();
  EXPECT_TRUE(all_bytes_are(window.value().base + offset, 64 * kMiB, 5));
}

TEST(SharedRegion, MapsNoMoreThanIsNeededSoon) {
  const size_t before = mapped_bytes();
  auto region = make_region(size_t{64} << 30);
  auto mapped = MappedRegion::map(dup(region->descriptor()), region->limit());
  ASSERT_TRUE(mapped.is_ok()) << mapped.status().message();
  ASSERT_NE(region->allocate(20 * kMiB), nullptr);
  ASSERT_TRUE(mapped.value()->reach(20 * kMiB).is_ok());
  EXPECT_LT(mapped_bytes() - before, 512 * kMiB);
}

// A mapping in the way of a peer's: what was mapped before stays, and both show the same memory.
TEST(SharedRegion, PeersMappingMovesWhereSomethingIsInTheWay) {
  auto region = make_region(256 * kMiB);
  auto* memory = static_cast<std::byte*>(region->allocate(64 * kMiB));
  ASSERT_NE(memory, nullptr);
  auto mapped = MappedRegion::map(dup(region->descriptor()), region->limit());
  ASSERT_TRUE(mapped.is_ok()) << mapped.status().message();
  std::byte* earlier = mapped.value()->base();
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* obstacle = mmap(earlier + SharedRegion::kFirstBytes, page, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  auto window = mapped.value()->reach(64 * kMiB);
  ASSERT_TRUE(window.is_ok()) << window.status().message();
  EXPECT_NE(window.value().base, earlier);
  std::memset(memory, 7, 64 * kMiB);
  EXPECT_TRUE(all_bytes_are(window.value().base, 64 * kMiB, 7));
  EXPECT_TRUE(all_bytes_are(earlier, SharedRegion::kFirstBytes, 7));
  if (obstacle != MAP_FAILED) munmap(obstacle, page);
}

TEST(SharedRegion, OwnersMappingEndsWhereSomethingIsInTheWay) {
  auto region = make_region(256 * kMiB);
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* obstacle = mmap(region->base() + SharedRegion::kFirstBytes, page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (obstacle == MAP_FAILED) GTEST_SKIP() << "something was in the way before";
  EXPECT_FALSE(region->contains(obstacle, page));
  EXPECT_EQ(region->allocate(16 * kMiB), nullptr);
  EXPECT_NE(region->allocate(kMiB), nullptr);
  munmap(obstacle, page);
}

// All of them in the same gap of the addresses, where none is free far from it: a newcomer that fits behind another
// leaves it room.
TEST(SharedRegion, NewcomersLeaveOthersRoomToGrow) {
  const int status = in_child([] {
    constexpr size_t kLeast = 256 * kMiB, kRoom = 64 * kMiB;
    constexpr uintptr_t kFar = uintptr_t{32} << 40;
    [[maybe_unused]] void* const far = mmap(reinterpret_cast<void*>(kFar), kFar, PROT_NONE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
#ifndef HOCKET_SANITIZED
    if (far == MAP_FAILED) return 3;
#endif
    auto first = make_region(2 * kLeast);
    std::byte* const behind = first->base() + SharedRegion::kFirstBytes;
    std::shared_ptr<SharedRegion> newcomer;
    for (size_t limit = 4 * kLeast; limit >= kLeast; limit -= 2 * kMiB) {
      newcomer.reset();
      newcomer = make_region(limit);
      void* const room =
          mmap(behind, kRoom, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
      if (room != behind) return 1;
      munmap(room, kRoom);
    }
    return first->allocate(kRoom) != nullptr ? 0 : 2;
  });
  EXPECT_EQ(status, 0) << "exit status, or 1000 + signal";
}

TEST(SharedRegion, GivesNullPastItsLimitAndGoesOn) {
  auto region = make_region(2 * kMiB);
  EXPECT_EQ(region->limit(), 2 * kMiB);
  EXPECT_EQ(region->allocate(3 * kMiB), nullptr);
  EXPECT_EQ(region->allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(region->allocate(SIZE_MAX - 63), nullptr);
  void* most = region->allocate(2 * kMiB);
  ASSERT_NE(most, nullptr);
  std::memset(most, 1, 2 * kMiB);
  EXPECT_EQ(region->allocate(1), nullptr);
  EXPECT_TRUE(region->free(most));
  EXPECT_NE(region->allocate(kMiB + 1), nullptr);
}

TEST(SharedRegion, SparseMemoryIsZeroedAndHasPagesOnceTheyAreTouched) {
  constexpr size_t kBytes = size_t{1} << 20;
  auto region = SharedRegion::create(size_t{8} << 20);
  ASSERT_TRUE(region.is_ok());
  const auto blocks = [&] {
    struct stat about{};
    EXPECT_EQ(fstat(region.value()->descriptor(), &about), 0);
    return about.st_blocks * 512;
  };
  auto* used = static_cast<std::byte*>(region.value()->allocate(kBytes, 4096));
  ASSERT_NE(used, nullptr);
  std::memset(used, 1, kBytes);
  const auto before = blocks();
  ASSERT_TRUE(region.value()->free(used));
  auto* sparse = static_cast<std::byte*>(region.value()->allocate_sparse(kBytes - 100));
  ASSERT_EQ(sparse, used) << "the block that was freed";
  EXPECT_LE(blocks(), before - static_cast<int64_t>(kBytes / 2));
  EXPECT_EQ(std::count(sparse, sparse + kBytes - 100, std::byte{0}), static_cast<int64_t>(kBytes - 100));
  sparse[kBytes / 2] = std::byte{1};
  ASSERT_TRUE(region.value()->free(sparse));
  auto* again = static_cast<std::byte*>(region.value()->allocate(kBytes, 4096));
  ASSERT_EQ(again, used);
  EXPECT_EQ(std::count(again, again + kBytes, std::byte{0}), static_cast<int64_t>(kBytes));
}

TEST(SharedRegion, KeepsWhatItHasPromised) {
  auto made = SharedRegion::create(size_t{1} << 20);
  ASSERT_TRUE(made.is_ok());
  SharedRegion& region = *made.value();
  EXPECT_FALSE(region.promise(size_t{2} << 20));
  ASSERT_TRUE(region.promise(size_t{1} << 19));
  EXPECT_EQ(region.allocate(size_t{3} << 18), nullptr) << "a part of it is promised";
  EXPECT_FALSE(region.promise((size_t{1} << 19) + 64));
  void* const rest = region.allocate(size_t{1} << 18);
  region.redeem(size_t{1} << 19);
  void* const promised = region.allocate(size_t{1} << 19);
  EXPECT_NE(promised, nullptr);
  EXPECT_TRUE(region.free(rest) && region.free(promised));
  EXPECT_NE(region.allocate(size_t{3} << 18), nullptr) << "nothing is in use or promised any more";
}

TEST(SharedRegion, RefusesStrangePointersAndDoubleFrees) {
  auto region = make_region(2 * kMiB);
  void* memory = region->allocate(256);
  EXPECT_FALSE(region->free(nullptr));
  EXPECT_FALSE(region->free(static_cast<std::byte*>(memory) + 64));
  EXPECT_FALSE(region->free(&region));
  EXPECT_TRUE(region->free(memory));
  EXPECT_FALSE(region->free(memory));
}

TEST(SharedRegion, FileSizeLimitGivesNullAndNoSignal) {
  const int status = in_child([] {
    const rlimit few{3 * kMiB, 3 * kMiB};
    setrlimit(RLIMIT_FSIZE, &few);
    auto region = make_region(64 * kMiB);
    void* fits = region->allocate(2 * kMiB);
    if (fits == nullptr) return 1;
    std::memset(fits, 1, 2 * kMiB);
    return region->allocate(8 * kMiB) == nullptr ? 0 : 2;
  });
  EXPECT_EQ(status, 0) << "exit status, or 1000 + signal";
}

TEST(SharedRegion, LimitComesFromTheEnvironment) {
  const int status = in_child([] {
    setenv("HOCKET_MEMORY", "3M", 1);
    if (make_region(0)->limit() != 3 * kMiB) return 1;
    for (const char* bad : {"plenty", "1K"}) {
      setenv("HOCKET_MEMORY", bad, 1);
      if (SharedRegion::create(0).is_ok()) return 2;
    }
    return 0;
  });
  EXPECT_EQ(status, 0) << "exit status, or 1000 + signal";
}

TEST(SharedRegion, Default128PeersFitIntoTheAddressSpace) {
  auto region = make_region(0);
  std::vector<std::shared_ptr<MappedRegion>> peers;
  for (int peer = 1; peer < 128; ++peer) {
    auto mapped = MappedRegion::map(dup(region->descriptor()), region->limit());
    ASSERT_TRUE(mapped.is_ok()) << peer << ": " << mapped.status().message();
    peers.push_back(mapped.take());
  }
}

// Everything a container may lack at once: memfd_create is refused, /dev/shm has one megabyte.
TEST(SharedRegion, SmallFileSystemGivesNullAndNoSignal) {
  const int status = in_child([] {
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
    if (mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=1m") != 0 || !refuse_memfd()) return 77;
    auto region = make_region(64 * kMiB);
    struct statfs about{};
    fstatfs(region->descriptor(), &about);
    if (about.f_blocks * static_cast<uint64_t>(about.f_bsize) != kMiB) return 1;  // not the one just mounted
    void* fits = region->allocate(kMiB / 2);
    if (fits == nullptr) return 2;
    std::memset(fits, 1, kMiB / 2);
    if (region->allocate(2 * kMiB) != nullptr) return 3;
    void* fits_too = region->allocate(kMiB / 4);
    if (fits_too == nullptr) return 4;
    std::memset(fits_too, 1, kMiB / 4);
    return std::filesystem::is_empty("/dev/shm") ? 0 : 5;
  });
  if (status == 77) GTEST_SKIP() << "needs the right to mount and seccomp";
  EXPECT_EQ(status, 0) << "exit status, or 1000 + signal";
}

TEST(SharedRegion, RandomUseNeverOverlapsAndMergesFreeParts) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  auto region = make_region(32 * kMiB);
  std::map<std::byte*, std::pair<size_t, unsigned char>> live;
  for (int step = 0; step < 3000; ++step) {
    if (!live.empty() && random() % 100 < 48) {
      auto victim = std::next(live.begin(), static_cast<long>(random() % live.size()));
      ASSERT_TRUE(all_bytes_are(victim->first, victim->second.first, victim->second.second));
      ASSERT_TRUE(region->free(victim->first));
      live.erase(victim);
      continue;
    }
    const size_t bytes = size_t{1} + random() % (random() % 8 == 0 ? 400'000 : 5000);
    auto* memory = static_cast<std::byte*>(region->allocate(bytes, size_t{64} << (random() % 8)));
    if (memory == nullptr) continue;
    ASSERT_TRUE(region->contains(memory, bytes));
    ASSERT_TRUE(all_bytes_are(memory, bytes, 0));
    const auto mark = static_cast<unsigned char>(1 + random() % 255);
    std::memset(memory, mark, bytes);
    live[memory] = {bytes, mark};
  }
  for (auto& [memory, what] : live) {
    ASSERT_TRUE(all_bytes_are(memory, what.first, what.second));
    ASSERT_TRUE(region->free(memory));
  }
  EXPECT_NE(region->allocate(32 * kMiB), nullptr) << "free parts must have merged into one";
}

TEST(SharedRegion, ThreadsMayAllocateAtOnce) {
  auto region = make_region(64 * kMiB);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int thread = 1; thread <= 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 500; ++i) {
        const size_t bytes = 64 + static_cast<size_t>(i) * 17;
        void* memory = region->allocate(bytes);
        if (memory == nullptr || !all_bytes_are(memory, bytes, 0)) ++wrong;
        std::memset(memory, thread, bytes);
        if (!all_bytes_are(memory, bytes, static_cast<unsigned char>(thread))) ++wrong;
        region->free(memory);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(SharedRegion, LeavesNoDescriptorBehind) {
  const int before = open_descriptors();
  for (int i = 0; i < 10; ++i) {
    auto region = make_region(kMiB);
    ASSERT_TRUE(MappedRegion::map(dup(region->descriptor()), region->limit()).is_ok());
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(MappedRegion, RefusesWhatIsNoFile) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int before = open_descriptors();
  EXPECT_FALSE(MappedRegion::map(ends[0], kMiB).is_ok());
  EXPECT_EQ(open_descriptors(), before - 1) << "the descriptor is taken over on failure too";
  EXPECT_FALSE(MappedRegion::map(-1, kMiB).is_ok());
  auto region = make_region(kMiB);
  EXPECT_FALSE(MappedRegion::map(dup(region->descriptor()), 0).is_ok());
  EXPECT_FALSE(MappedRegion::map(dup(region->descriptor()), SIZE_MAX).is_ok());
  close(ends[1]);
}

TEST(MemoryFile, PeersCannotShrinkIt) {
  auto region = make_region(kMiB);
  ASSERT_NE(region->allocate(4096), nullptr);
  EXPECT_NE(ftruncate(region->descriptor(), 0), 0);
}

TEST(MemoryFile, UnlinkedFileServesWhereMemfdIsRefused) {
  Result<int> file = create_unlinked_file();
  ASSERT_TRUE(file.is_ok()) << file.status().message();
  const Status extended = extend_file(file.value(), 0, 3 * kMiB);
  ASSERT_TRUE(extended.is_ok()) << extended.message();
  auto mapped = MappedRegion::map(file.value(), 8 * kMiB);
  ASSERT_TRUE(mapped.is_ok());
  std::memset(mapped.value()->base(), 1, 3 * kMiB);
}

}  // namespace
}  // namespace hocket::platform
