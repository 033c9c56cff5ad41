// SPDX-License-Identifier: BSD-3-Clause
#include "core/report/source_lines.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/clock.h"
#include "core/report/borrowed_process.h"
#include "core/report/site_table.h"

namespace hocket::interposer {
namespace {

uint64_t in_seconds(uint64_t seconds) { return now_ns() + seconds * 1'000'000'000; }

TEST(SourceLines, AreReadAsEachOfThePrograms) {
  const SourceLine gnu = parse_source_line("main", "/src/solver.c:31 (discriminator 2)");
  EXPECT_EQ(gnu.function, "main");
  EXPECT_EQ(gnu.file, "/src/solver.c");
  EXPECT_EQ(gnu.line, 31u);
  const SourceLine elfutils = parse_source_line("ns::step(int)", "/a:b/solver.cc:7:12");
  EXPECT_EQ(elfutils.function, "ns::step(int)");
  EXPECT_EQ(elfutils.file, "/a:b/solver.cc");
  EXPECT_EQ(elfutils.line, 7u);
}

TEST(SourceLines, AreUnknownWhereNothingSaysThem) {
  for (const char* place : {"??:0", "??:?", "solver.c:?", "solver.c:0", "", "solver.c", "a:99999999999"}) {
    const SourceLine line = parse_source_line("??", place);
    EXPECT_EQ(line.function, "") << place;
    EXPECT_EQ(line.file, "") << place;
    EXPECT_EQ(line.line, 0u) << place;
  }
  EXPECT_EQ(parse_source_line("main", "??:0").function, "main");
}

TEST(SourceLines, OfThisProgramAreFound) {
  const void* address = nullptr;
  // The address of the next line's call, as it returns.
  [&]() __attribute__((noinline)) { address = __builtin_return_address(0); }();
  const uint32_t line = __LINE__ - 1;
  const CallSite site = {address, Collective::kBarrier, 1, 1, 0};
  const SiteTable table = place_sites({&site, 1});
  ASSERT_EQ(table.sites().size(), 1u);
  const uint64_t offsets[] = {table.places[0].offset, 0};
  const std::vector<SourceLine> lines = source_lines(table.places[0].object, offsets, in_seconds(60));
  ASSERT_EQ(lines.size(), 2u);
  if (lines[0].file.empty()) GTEST_SKIP() << "there is no addr2line, or this program has no debug information";
  EXPECT_NE(lines[0].file.find("source_lines_test.cc"), std::string::npos) << lines[0].file;
  EXPECT_EQ(lines[0].line, line);
  EXPECT_EQ(lines[1].file, "");
}

// An addr2line of one's own, first on the PATH.
class OtherProgram {
 public:
  explicit OtherProgram(const std::string& script) {
    folder_ = testing::TempDir() + "source_lines_test.XXXXXX";
    if (mkdtemp(folder_.data()) == nullptr) std::abort();
    std::ofstream(folder_ + "/addr2line") << "#!/bin/sh\n" + script;
    std::filesystem::permissions(folder_ + "/addr2line", std::filesystem::perms::owner_all);
    setenv("PATH", (folder_ + ":" + before_).c_str(), 1);
  }
  ~OtherProgram() {
    setenv("PATH", before_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }
  OtherProgram(const OtherProgram&) = delete;
  OtherProgram& operator=(const OtherProgram&) = delete;
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  const std::string before_ = std::getenv("PATH");
};

std::string word_of(const std::string& path) {
  std::string word;
  std::ifstream(path) >> word;
  return word;
}

constexpr uint64_t kOffset = 16;

TEST(SourceLines, AreAskedOfAProgramThatKnowsNothingOfThisOne) {
  const OtherProgram program(
      "echo \"$LD_PRELOAD/$HOCKET_STATS/$LC_ALL/$(sed -n 's/^SigBlk:.//p;s/^SigIgn:.//p' /proc/self/status | tr '\\n' "
      "' ')\"; echo /src/a.c:5\n");
  setenv("HOCKET_STATS", "1", 1);
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto interrupted = std::signal(SIGINT, SIG_IGN);
  const std::vector<SourceLine> lines = source_lines("/proc/self/exe", {&kOffset, 1}, in_seconds(60));
  std::signal(SIGINT, interrupted);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  unsetenv("HOCKET_STATS");
  // But for two that the C library has for itself no signal is ignored.
  const std::string& told = lines[0].function;
  ASSERT_TRUE(told.starts_with("//C/0000000000000000 ")) << told;
  EXPECT_TRUE(told.ends_with("0000000") || told.ends_with("0000000 ")) << told;
  EXPECT_EQ(lines[0].line, 5u);
}

std::atomic<int> ends_told = 0;

TEST(SourceLines, DisturbNoProgramWithChildrenOfItsOwn) {
  const OtherProgram program("echo f; echo /src/a.c:5\n");
  const auto before = std::signal(SIGCHLD, [](int) { ++ends_told; });
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  std::atomic<pid_t> waited_for = 0;
  std::thread waits([&] {
    pid_t ended = 0;
    do {
      ended = waitpid(-1, nullptr, 0);
    } while (ended < 0 && errno == EINTR);
    waited_for = ended;
  });
  EXPECT_EQ(source_lines("/proc/self/exe", {&kOffset, 1}, in_seconds(60))[0].line, 5u);
  EXPECT_EQ(waited_for, 0);
  EXPECT_EQ(ends_told, 0);
  kill(child, SIGKILL);
  waits.join();
  EXPECT_EQ(waited_for, child);
  EXPECT_EQ(ends_told, 1);
  EXPECT_EQ(waitpid(-1, nullptr, __WALL), -1) << "something is left behind";
  for (const auto handler : {SIG_IGN, before}) {
    std::signal(SIGCHLD, handler);
    EXPECT_EQ(source_lines("/proc/self/exe", {&kOffset, 1}, in_seconds(60))[0].line, 5u);
  }
}

TEST(SourceLines, AreGivenUpAtTheEndAndNothingIsLeft) {
  const OtherProgram program("echo $$ >\"${0%/*}/process\"; echo f; exec sleep 1000\n");
  // Until it runs; a busy machine may take long.
  uint64_t wait_ns = 50'000'000;
  do {
    EXPECT_EQ(source_lines("/proc/self/exe", {&kOffset, 1}, now_ns() + wait_ns)[0].function, "");
    wait_ns *= 2;
  } while (word_of(program.folder() + "/process").empty());
  EXPECT_NE(kill(std::stoi(word_of(program.folder() + "/process")), 0), 0);
  EXPECT_EQ(waitpid(-1, nullptr, __WALL), -1);
}

TEST(BorrowedProcess, IsEndedWhereItHangs) {
  EXPECT_FALSE(run_in_borrowed_process(
      [](void*) {
        for (;;) pause();
      },
      nullptr, now_ns() + 20'000'000));
  EXPECT_EQ(waitpid(-1, nullptr, __WALL), -1);
  int done = 0;
  EXPECT_TRUE(run_in_borrowed_process([](void* number) { *static_cast<int*>(number) = 7; }, &done, in_seconds(60)));
  EXPECT_EQ(done, 7);
}

TEST(SourceLines, OfNoFileOrWithoutAnybodyToAskAreUnknown) {
  const uint64_t offset = 16;
  EXPECT_EQ(source_lines("/no/such/file", {&offset, 1}, in_seconds(1)).at(0).file, "");
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/no/such/folder", 1);
  const std::vector<SourceLine> lines = source_lines("/proc/self/exe", {&offset, 1}, in_seconds(1));
  setenv("PATH", path.c_str(), 1);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].file, "");
}

}  // namespace
}  // namespace hocket::interposer
