// SPDX-License-Identifier: BSD-3-Clause
#include "platform/tracing/trace_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <vector>

#include "platform/tracing/trace_text.h"

namespace hocket::platform {
namespace {

constexpr uint64_t kBaseNs = 1'000;

class Traces : public testing::Test {
 protected:
  Traces() { std::filesystem::create_directory(folder_); }
  ~Traces() override { std::filesystem::remove_all(folder_); }

  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(name_).rdbuf();
    return all.str();
  }
  nlohmann::json events() const { return nlohmann::json::parse(text())["traceEvents"]; }
  void replace(const std::string& text) const { std::ofstream(name_) << text; }
  // One slice of each track.
  Status append(uint64_t job, const std::vector<uint32_t>& tracks) const {
    std::string lines;
    for (const uint32_t track : tracks) {
      TraceEvent event;
      event.name = "barrier";
      event.track = track;
      append_event(lines, event, track, {});
    }
    Result<TraceFile> file = TraceFile::open(name_, job, kBaseNs);
    if (!file.is_ok()) return file.take_status();
    HOCKET_TRY(file.value().add(lines));
    return file.value().close();
  }

  const std::string folder_ = "/tmp/hocket-trace-test-" + std::to_string(getpid());
  const std::string name_ = folder_ + "/trace.json";
};

TEST_F(Traces, AreWholeAfterEachProcessOfAJob) {
  ASSERT_TRUE(append(1, {}).is_ok());
  EXPECT_EQ(events().size(), 0u);
  ASSERT_TRUE(append(1, {0, 1}).is_ok());
  EXPECT_EQ(events().size(), 2u);
  ASSERT_TRUE(append(1, {}).is_ok());
  ASSERT_TRUE(append(1, {2}).is_ok());
  const nlohmann::json all = events();
  ASSERT_EQ(all.size(), 3u);
  for (uint32_t track = 0; track < 3; ++track) EXPECT_EQ(all[track]["tid"], thread_of_track(track));
}

TEST_F(Traces, KeepTheBaseOfTheirFirstProcess) {
  ASSERT_TRUE(append(1, {0}).is_ok());
  EXPECT_EQ(TraceFile::open(name_, 1, 7).value().base_ns(), kBaseNs);
  EXPECT_EQ(TraceFile::open(name_, 2, 7).value().base_ns(), 7u);
}

TEST_F(Traces, OfAnotherJobAreReplaced) {
  ASSERT_TRUE(append(1, {0, 1, 2}).is_ok());
  ASSERT_TRUE(append(2, {7}).is_ok());
  ASSERT_EQ(events().size(), 1u);
  EXPECT_EQ(events()[0]["tid"], thread_of_track(7));
}

TEST_F(Traces, WhatIsNoTraceStaysAsItIs) {
  replace("my thesis\n");
  const Status status = append(1, {0});
  EXPECT_FALSE(status.is_ok());
  EXPECT_NE(std::string(status.message()).find(name_), std::string::npos) << status.message();
  EXPECT_EQ(text(), "my thesis\n");
  EXPECT_FALSE(TraceFile::open("/dev/null", 1, kBaseNs).is_ok());
  EXPECT_FALSE(TraceFile::open(folder_ + "/none/trace.json", 1, kBaseNs).is_ok());
}

TEST_F(Traces, AreLookedAtWithoutATouch) {
  EXPECT_TRUE(TraceFile::check(name_).is_ok());
  EXPECT_FALSE(std::filesystem::exists(name_));
  replace("");
  EXPECT_TRUE(TraceFile::check(name_).is_ok());
  ASSERT_TRUE(append(1, {0}).is_ok());
  const std::string before = text();
  EXPECT_TRUE(TraceFile::check(name_).is_ok());
  EXPECT_EQ(text(), before);
  replace("my thesis\n");
  for (const std::string& wrong :
       {name_, folder_, folder_ + "/none/trace.json", name_ + "/trace.json", std::string("/dev/null")}) {
    const Status status = TraceFile::check(wrong);
    EXPECT_FALSE(status.is_ok()) << wrong;
    EXPECT_NE(std::string(status.message()).find(wrong), std::string::npos) << status.message();
    EXPECT_NE(std::string(status.message()).find("; "), std::string::npos) << status.message();
  }
  EXPECT_EQ(text(), "my thesis\n");
}

// Of a process that was killed while it wrote.
TEST_F(Traces, GoOnBehindTheLastWholeLine) {
  ASSERT_TRUE(append(1, {0, 1, 2}).is_ok());
  const std::string whole = text();
  for (size_t bytes = whole.size() - 1; bytes > whole.find('[') + 1; bytes -= 7) {
    replace(whole.substr(0, bytes));
    ASSERT_TRUE(append(1, {9}).is_ok());
    const nlohmann::json all = events();
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all.back()["tid"], thread_of_track(9)) << bytes;
    if (bytes < 8) break;
  }
}

TEST_F(Traces, OfProcessesThatEndTogetherHaveAllEvents) {
  std::vector<pid_t> children;
  for (uint32_t rank = 0; rank < 8; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      int failures = 0;
      for (int i = 0; i < 20; ++i) failures += append(5, {rank, rank}).is_ok() ? 0 : 1;
      _exit(failures);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  std::map<int, int> lines;
  for (const auto& event : events()) ++lines[event["tid"].get<int>()];
  ASSERT_EQ(lines.size(), 8u);
  for (const auto& [rank, count] : lines) EXPECT_EQ(count, 40) << "rank " << rank;
}

// As on a full disk: and no signal ends the process.
TEST_F(Traces, AreWhatTheyWereWhereThereIsNoMoreRoom) {
  ASSERT_TRUE(append(1, {0, 1}).is_ok());
  const std::string before = text();
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_DFL);
    const rlimit limit{before.size() + 50, before.size() + 50};
    setrlimit(RLIMIT_FSIZE, &limit);
    const Status status = append(1, {2, 3, 4, 5});
    _exit(!status.is_ok() && std::string(status.message()).find(name_) != std::string::npos ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text(), before);
}

}  // namespace
}  // namespace hocket::platform
