// SPDX-License-Identifier: BSD-3-Clause
#include "base/whole_write.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <thread>

namespace hocket {
namespace {

TEST(WholeWrite, ToNobodyIsAnErrorAndNoSignal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(write_whole(ends[1], "text"), EPIPE);
  close(ends[1]);
  EXPECT_EQ(write_whole(-1, "text"), EBADF);
}

TEST(WholeWrite, GoesOnWhereAPipeIsFullAndNeverBlocks) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_NONBLOCK), 0);
  const std::string text(size_t{1} << 20, 'a');
  size_t received = 0;
  std::thread reader([&] {
    fcntl(ends[0], F_SETFL, 0);
    char part[4096];
    for (ssize_t bytes = 0; (bytes = read(ends[0], part, sizeof part)) > 0;) received += static_cast<size_t>(bytes);
  });
  EXPECT_EQ(write_whole(ends[1], text), 0);
  close(ends[1]);
  reader.join();
  close(ends[0]);
  EXPECT_EQ(received, text.size());
}

// In a process of its own. 0: as it should be.
int write_beyond_longest() {
  char name[] = "/tmp/whole_write_test.XXXXXX";
  const int file = mkstemp(name);
  unlink(name);
  const rlimit limit{16, 16};
  setrlimit(RLIMIT_FSIZE, &limit);
  return write_whole(file, std::string(100, 'a')) == EFBIG ? 0 : 1;
}

TEST(WholeWrite, BeyondTheLongestFileIsAnErrorAndNoSignal) {
  EXPECT_EXIT(_exit(write_beyond_longest()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace hocket
