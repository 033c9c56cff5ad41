// SPDX-License-Identifier: BSD-3-Clause
#include "platform/memory/cross_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "platform/child_process.h"

namespace hocket::platform {
namespace {

TEST(CrossMemory, ReadsAnotherProcessOrSaysThatItIsNotAllowed) {
  std::vector<unsigned char> theirs(3'000'001);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::fill(theirs.begin(), theirs.end(), static_cast<unsigned char>(0x5A));
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, WUNTRACED);
  std::vector<unsigned char> mine(theirs.size());
  const Status read = read_process_memory(child, theirs.data(), mine.data(), mine.size());
  if (read.is_ok()) {
    EXPECT_EQ(std::count(mine.begin(), mine.end(), 0x5A), static_cast<long>(mine.size()));
    EXPECT_EQ(theirs[0], 0);
  } else {
    EXPECT_EQ(read.code(), Code::kNotSupported) << read.message();
  }
  kill(child, SIGKILL);
  end_of_child(child);
  if (!read.is_ok()) GTEST_SKIP() << read.message();
}

TEST(CrossMemory, ReadThatRunsIntoUnmappedMemoryIsAnError) {
  const long page = sysconf(_SC_PAGESIZE);
  auto* pages = static_cast<char*>(
      mmap(nullptr, 2 * static_cast<size_t>(page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  munmap(pages + page, static_cast<size_t>(page));
  std::vector<char> mine(2 * static_cast<size_t>(page));
  const Status read = read_process_memory(getpid(), pages, mine.data(), mine.size());
  EXPECT_TRUE(read.code() == Code::kInvalidArgument || read.code() == Code::kNotSupported) << read.message();
  munmap(pages, static_cast<size_t>(page));
}

TEST(CrossMemory, EndedProcessIsToldApart) {
  const pid_t child = start_child([] { return 0; });
  end_of_child(child);
  char byte = 0;
  const Status read = read_process_memory(child, &byte, &byte, 1);
  EXPECT_TRUE(read.code() == Code::kPeerFailed || read.code() == Code::kNotSupported) << read.message();
}

TEST(CrossMemory, NothingToReadIsFine) { EXPECT_TRUE(read_process_memory(-1, nullptr, nullptr, 0).is_ok()); }

}  // namespace
}  // namespace hocket::platform
