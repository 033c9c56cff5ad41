// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "platform/whereabouts/metrics.h"
#include "platform/whereabouts/own_record.h"

namespace hocket::platform {
namespace {

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/hocket-metrics-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }
  std::string read(const std::string& file) const {
    std::ifstream in(path_ + "/" + file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& file, const std::string& text) const { std::ofstream(path_ + "/" + file) << text; }
  void age(const std::string& file) const {
    const timespec times[] = {{1, 0}, {1, 0}};
    (void)utimensat(AT_FDCWD, (path_ + "/" + file).c_str(), times, 0);
  }
  size_t files() const { return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {})); }

 private:
  std::string path_;
};

// What it gives in a process of its own, which may keep a record.
template <typename Body>
int in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

SeenRecord seen(int process, double waited_s, double waits_s, uint64_t now_ns) {
  auto record = std::make_unique<Record>();
  record->job[0] = 'j';
  record->waited_ns = static_cast<uint64_t>(waited_s * 1e9);
  record->late_lines = 2;
  record->came_after_all = 1;
  ThreadLine& line = record->threads[0];
  line.thread = 1;
  line.collective.what = 1 | FunctionStamp::kIsIn;
  line.collective.since_ns = now_ns - static_cast<uint64_t>(waits_s * 1e9);
  if (waits_s > 0) line.waits_since_ns = line.collective.since_ns.load();
  return {process, std::move(record)};
}

TEST(Metrics, AreSumsOverTheRanksOfAJobWithTheWaitsThatGoOn) {
  constexpr uint64_t kNow = 100 * kNanosecondsPerSecond;
  std::vector<SeenRecord> records;
  records.push_back(seen(1, 10, 5, kNow));
  records.push_back(seen(2, 20, 0, kNow));
  records.push_back(seen(3, 30, 7, kNow));
  const JobMetrics sum = metrics_of(records, kNow);
  EXPECT_EQ(sum.job, "j");
  EXPECT_EQ(sum.ranks, 3u);
  EXPECT_EQ(sum.waiting, 2u);
  EXPECT_DOUBLE_EQ(sum.longest_wait_s, 7);
  EXPECT_DOUBLE_EQ(sum.waited_s, 72);
  EXPECT_EQ(sum.late_lines, 6u);
  EXPECT_EQ(sum.came_after_all, 3u);
}

TEST(Metrics, TextNamesEachMetricOnceAndQuotesWhatLabelsHold) {
  JobMetrics one, other;
  one.job = "a\"b\\c\ne";
  one.ranks = 3;
  other.job = "other";
  const std::string text = metrics_text({one, other}, "by a test");
  EXPECT_TRUE(text.starts_with("# by a test\n# HELP hocket_ranks Ranks"));
  EXPECT_EQ(text.find("# TYPE hocket_ranks gauge"), text.rfind("# TYPE hocket_ranks gauge"));
  EXPECT_NE(text.find("hocket_ranks{job=\"a\\\"b\\\\c?e\",user=\"0\",program=\"\",library=\"\"} 3\n"), text.npos)
      << text;
  EXPECT_NE(text.find("hocket_ranks{job=\"other\","), text.npos);
}

TEST(Metrics, AFileIsReplacedAsAWholeAndByOneProcessAtATime) {
  const Folder folder;
  const Result<bool> first = write_metrics(folder.path(), "a.prom", [] { return "one\n"; });
  ASSERT_TRUE(first.is_ok() && first.value());
  EXPECT_EQ(folder.read("a.prom"), "one\n");
  folder.write(".a.prom.new", "half");
  const Result<bool> second = write_metrics(folder.path(), "a.prom", [] { return "two\n"; });
  ASSERT_TRUE(second.is_ok());
  EXPECT_FALSE(second.value()) << "another writes it";
  EXPECT_EQ(folder.read("a.prom"), "one\n");
  folder.age(".a.prom.new");
  (void)write_metrics(folder.path(), "a.prom", [] { return "two\n"; });
  const Result<bool> third = write_metrics(folder.path(), "a.prom", [] { return "three\n"; });
  EXPECT_TRUE(third.is_ok() && third.value()) << "who began it was killed long ago";
  EXPECT_EQ(folder.read("a.prom"), "three\n");
  EXPECT_EQ(folder.files(), 1u);
}

TEST(Metrics, OnlyWhoWritesIsAskedForTheText) {
  const Folder folder;
  bool is_asked = false;
  const auto text = [&] {
    is_asked = true;
    return std::string();
  };
  folder.write(".a.prom.new", "half");
  EXPECT_FALSE(write_metrics(folder.path(), "a.prom", text).value()) << "another writes it";
  EXPECT_FALSE(is_asked);
  std::filesystem::remove(folder.path() + "/.a.prom.new");
  EXPECT_FALSE(write_metrics(folder.path(), "a.prom", text).value());
  EXPECT_TRUE(is_asked);
  EXPECT_EQ(folder.files(), 0u) << "needless: neither file nor draft";
}

TEST(Metrics, AThreadThatIsWritingUndoesNoEnd) {
  const Folder folder;
  EXPECT_EQ(in_child([&] {
              begin_record({.rank = 0, .ranks = 1, .library = "some MPI"});
              for (int round = 0; round < 100; ++round) {
                if (!start_metrics(folder.path())) return 1;
                internal::metrics_due_ns.store(0);
                std::atomic<bool> has_started{false};
                std::thread writer([&] {
                  has_started = true;
                  write_metrics_when_due();
                });
                while (!has_started) std::this_thread::yield();
                for (int i = 0; i < 20 * (round % 10); ++i) (void)coarse_now_ns();
                end_metrics();
                writer.join();
                if (has_metrics()) return 2;
                if (folder.files() != 0) return 3;
              }
              return 0;
            }),
            0);
}

TEST(Metrics, AFolderStaysWhereItIsThoughTheProgramGoesElsewhere) {
  const Folder folder;
  EXPECT_EQ(in_child([&] {
              begin_record({.rank = 0, .ranks = 1, .library = "some MPI"});
              if (chdir(folder.path().c_str()) != 0 || !start_metrics(".") || chdir("/") != 0) return 1;
              internal::metrics_due_ns.store(0);
              write_metrics_when_due();
              if (folder.files() != 1) return 2;
              end_metrics();
              return folder.files() == 0 ? 0 : 3;
            }),
            0);
}

TEST(Metrics, AFolderThatIsNotThereIsNamed) {
  const Result<bool> written = write_metrics("/nowhere/at/all", "a.prom", [] { return ""; });
  ASSERT_FALSE(written.is_ok());
  EXPECT_NE(std::string(written.status().message()).find("`/nowhere/at/all`"), std::string::npos);
}

TEST(Metrics, AProcessWritesThoseOfItsJobWhenItIsTimeAndTakesThemAway) {
  const Folder folder;
  EXPECT_EQ(in_child([&] {
              begin_record({.rank = 0, .ranks = 1, .library = "some MPI"});
              if (!start_metrics(folder.path()) || !start_metrics(folder.path())) return 1;
              write_metrics_when_due();
              if (folder.files() != 0) return 2;  // it is not time yet
              internal::metrics_due_ns.store(0);
              write_metrics_when_due();
              const std::string file = metrics_file_of(job_label(), geteuid());
              if (folder.read(file).find("library=\"some MPI\"} 1\n") == std::string::npos) return 3;
              folder.write(file, "fresh");
              internal::metrics_due_ns.store(0);
              write_metrics_when_due();
              if (folder.read(file) != "fresh") return 4;
              end_metrics();
              if (!has_metrics() || folder.files() != 1) return 5;  // a second part of the process goes on
              end_metrics();
              return has_metrics() || folder.files() != 0 ? 6 : 0;
            }),
            0);
}

TEST(Metrics, WhatAKilledJobHasLeftIsTakenAwayAndNothingElse) {
  const Folder folder;
  EXPECT_EQ(in_child([&] {
              begin_record({.rank = 0, .ranks = 1, .library = "some MPI"});
              const std::string host(own_record()->host);
              const std::string gone = "# written by process 1073741824 of " + host + ", started at tick 1\n";
              folder.write("hocket-job-gone.prom", gone);
              folder.write("hocket-job-fresh.prom", gone);
              folder.write("hocket-job-elsewhere.prom",
                           "# written by process 1073741824 of other, started at tick 1\n");
              folder.write("hocket-job-foreign.prom", "something\n");
              folder.write("mine.prom", gone);
              for (const char* name : {"gone", "elsewhere", "foreign"})
                folder.age("hocket-job-" + std::string(name) + ".prom");
              folder.age("mine.prom");
              (void)start_metrics(folder.path());
              internal::metrics_due_ns.store(0);
              write_metrics_when_due();
              const bool is_gone = folder.read("hocket-job-gone.prom").empty();
              const size_t files = folder.files();  // four of the above, and its own
              end_metrics();
              return !is_gone ? 1 : files != 5 ? 2 : 0;
            }),
            0);
}

TEST(Metrics, NothingIsWrittenUnlessAFolderIsNamed) {
  EXPECT_FALSE(start_metrics(""));
  EXPECT_FALSE(has_metrics());
  write_metrics_when_due();
}

}  // namespace
}  // namespace hocket::platform
