// SPDX-License-Identifier: BSD-3-Clause
// A process has one tracer for all its life: each test is a process of its own.
#include "platform/tracing/tracer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>

#include "platform/child_process.h"

namespace hocket::platform {
namespace {

volatile sig_atomic_t own_signals = 0;

class TracerInAProcess : public testing::Test {
 protected:
  TracerInAProcess() { std::filesystem::create_directory(folder_); }
  ~TracerInAProcess() override { std::filesystem::remove_all(folder_); }

  // Traced as `setting` has it, with the test's file behind it. The child's exit status.
  int run(const std::string& setting, const std::function<bool()>& body) const {
    const pid_t child = fork();
    if (child == 0) {
      setenv("HOCKET_TRACE", (setting + name_).c_str(), 1);
      if (!Tracer::begin().is_ok() || !is_traced()) _exit(2);
      std::exit(body() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
  }
  nlohmann::json slices() const {
    nlohmann::json found = nlohmann::json::array();
    std::ifstream file(name_);
    const nlohmann::json trace = nlohmann::json::parse(file);
    for (const auto& event : trace["traceEvents"])
      if (event["ph"] == "X") found.push_back(event);
    return found;
  }
  static void add(uint64_t number) {
    TraceEvent event;
    event.name = "barrier";
    event.began_ns = event.ended_ns = number * 1000;
    event.number = number;
    Tracer::current()->add(event);
  }
  static void write_now() {
    Tracer::current()->ask_to_write();
    Tracer::current()->write_asked();
  }
  // Within a time that is long for it.
  static bool happens(const std::function<bool()>& what) {
    constexpr timespec kPause{0, 1'000'000};
    for (int tries = 0; tries < 20'000; ++tries) {
      if (what()) return true;
      nanosleep(&kPause, nullptr);
    }
    return false;
  }
  // Of the test's file, in this process.
  int descriptors() const {
    int count = 0;
    std::error_code gone;
    for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd"))
      count += std::filesystem::read_symlink(one, gone) == name_ ? 1 : 0;
    return count;
  }
  // The thread that writes does so in its own time.
  bool is_written() const {
    return happens([this] {
      std::ostringstream text;
      text << std::ifstream(name_).rdbuf();
      return text.str().ends_with("\n]}\n");
    });
  }

  const std::string folder_ = "/tmp/hocket-tracer-test-" + std::to_string(getpid());
  const std::string name_ = folder_ + "/trace.json";
};

TEST_F(TracerInAProcess, WritesAllAtTheEnd) {
  EXPECT_EQ(run("",
                [] {
                  for (uint64_t i = 0; i < 100; ++i) add(i);
                  return true;
                }),
            0);
  const nlohmann::json all = slices();
  ASSERT_EQ(all.size(), 100u);
  for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(all[i]["args"]["call"], i);
}

TEST_F(TracerInAProcess, AFileIsWhereTheProgramWasAtFirst) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("HOCKET_TRACE", "trace.json", 1);
    if (chdir(folder_.c_str()) != 0 || !Tracer::begin().is_ok() || chdir("/") != 0) _exit(2);
    add(4);
    std::exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(slices().size(), 1u);
}

TEST_F(TracerInAProcess, WritesEachEventOnce) {
  EXPECT_EQ(run("",
                [] {
                  for (uint64_t i = 0; i < 10; ++i) {
                    add(i);
                    write_now();
                  }
                  add(10);
                  return true;
                }),
            0);
  const nlohmann::json all = slices();
  ASSERT_EQ(all.size(), 11u);
  for (uint64_t i = 0; i < 11; ++i) EXPECT_EQ(all[i]["args"]["call"], i);
}

TEST_F(TracerInAProcess, ARingIsWrittenWhenTheSignalComes) {
  EXPECT_EQ(run("ring:7:",
                [this] {
                  for (uint64_t i = 0; i < 100; ++i) add(i);
                  raise(SIGUSR2);
                  return is_written();
                }),
            0);
  const nlohmann::json all = slices();
  ASSERT_EQ(all.size(), 7u);
  for (uint64_t i = 0; i < 7; ++i) EXPECT_EQ(all[i]["args"]["call"], 93 + i);
}

TEST_F(TracerInAProcess, WhatIsNotOverIsToldOnce) {
  EXPECT_EQ(run("",
                [] {
                  Tracer& tracer = *Tracer::current();
                  OpenCall* const open = tracer.enter("MPI_Recv", 1000);
                  if (open == nullptr || tracer.enter("MPI_Barrier", 2000) != nullptr) return false;
                  write_now();
                  write_now();
                  open->leave();
                  add(1);
                  write_now();
                  return tracer.enter("MPI_Barrier", 3000) == open;
                }),
            0);
  std::ifstream file(name_);
  int told = 0;
  const nlohmann::json trace = nlohmann::json::parse(file);
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] != "b") continue;
    ++told;
    EXPECT_EQ(event["name"], "rank 0: MPI_Recv, not over");
  }
  EXPECT_EQ(told, 1);
}

TEST_F(TracerInAProcess, ACallThatHasFailedIsToldThoughItIsLeft) {
  EXPECT_EQ(run("ring:7:",
                [] {
                  Tracer& tracer = *Tracer::current();
                  OpenCall* const failed = tracer.enter("MPI_Bcast", 1000);
                  failed->fail();
                  write_now();
                  return tracer.enter("MPI_Barrier", 2000) == failed && tracer.enter("MPI_Recv", 3000) == nullptr;
                }),
            0);
  std::ifstream file(name_);
  const nlohmann::json events = nlohmann::json::parse(file)["traceEvents"];
  // The writing thread may come to what was asked for later, and find the next call.
  EXPECT_TRUE(std::any_of(events.begin(), events.end(), [](const nlohmann::json& one) {
    return one["name"] == "rank 0: MPI_Bcast, not over";
  })) << events;
}

TEST_F(TracerInAProcess, ARingIsNotWrittenWhereNothingHappens) {
  EXPECT_EQ(run("ring:7:",
                [] {
                  for (uint64_t i = 0; i < 100; ++i) add(i);
                  return true;
                }),
            0);
  EXPECT_FALSE(std::filesystem::exists(name_));
}

TEST_F(TracerInAProcess, AProgramKeepsItsSignal) {
  const auto own_handler = signal(SIGUSR2, [](int) { own_signals = own_signals + 1; });
  EXPECT_EQ(run("ring:7:",
                [] {
                  add(1);
                  raise(SIGUSR2);
                  return own_signals == 1;
                }),
            0);
  signal(SIGUSR2, own_handler);
  EXPECT_FALSE(std::filesystem::exists(name_));
}

TEST_F(TracerInAProcess, AChildWritesNothing) {
  EXPECT_EQ(run("",
                [] {
                  add(1);
                  const pid_t child = fork();
                  if (child == 0) {
                    raise(SIGUSR2);
                    std::exit(!is_traced() && Tracer::begin().is_ok() && !is_traced() ? 0 : 1);
                  }
                  int status = -1;
                  waitpid(child, &status, 0);
                  return status == 0;
                }),
            0);
  EXPECT_EQ(slices().size(), 1u);
}

#ifndef HOCKET_SANITIZED  // a million events of one thread
TEST_F(TracerInAProcess, WhatDoesNotFitIsCountedAndTheJobGoesOn) {
  EXPECT_EQ(run("",
                [] {
                  for (uint64_t i = 0; i < TraceSetting::kAllEvents + 5; ++i) add(i);
                  return true;
                }),
            0);
  std::ifstream file(name_);
  std::string line;
  bool is_told = false;
  while (!is_told && std::getline(file, line)) is_told = line.find("\"dropped\":5}") != std::string::npos;
  EXPECT_TRUE(is_told);
}
#endif

TEST_F(TracerInAProcess, ANewThreadDoesNotWaitForWhoWrites) {
  EXPECT_EQ(run("ring:7:",
                [this] {
                  const int file = open(name_.c_str(), O_RDWR | O_CREAT, 0644);
                  if (flock(file, LOCK_EX) != 0) return false;
                  add(1);
                  Tracer::current()->ask_to_write();
                  if (!happens([this] { return descriptors() == 2; })) return false;
                  std::atomic<bool> is_there{false};
                  std::thread newcomer([&] {
                    Tracer::current()->track_of_thread(0);
                    is_there.store(true);
                  });
                  const bool waits = !happens([&] { return is_there.load(); });
                  const pid_t child = fork();
#ifdef HOCKET_SANITIZED  // what the threads have on their stacks, which are not there, leaks for it
                  if (child == 0) _exit(0);
#else
                  if (child == 0) std::exit(0);
#endif
                  int status = -1;
                  waitpid(child, &status, 0);
                  close(file);
                  newcomer.join();
                  return !waits && status == 0 && is_written();
                }),
            0);
  EXPECT_EQ(slices().size(), 1u);
}

TEST_F(TracerInAProcess, WhatWasAskedForIsWrittenBeforeTheEnd) {
  for (int round = 0; round < 20; ++round) {
    std::filesystem::remove(name_);
    EXPECT_EQ(run("ring:7:",
                  [] {
                    add(1);
                    Tracer::current()->ask_to_write();
                    return true;
                  }),
              0);
    ASSERT_TRUE(std::filesystem::exists(name_)) << round;
    EXPECT_EQ(slices().size(), 1u);
  }
}

TEST_F(TracerInAProcess, AHandlerThatComesLaterStays) {
  EXPECT_EQ(run("",
                [] {
                  add(1);
                  signal(SIGUSR2, [](int) { own_signals = own_signals + 1; });
                  raise(SIGUSR2);
                  Tracer::current()->write_at_end();
                  raise(SIGUSR2);
                  return own_signals == 2;
                }),
            0);
  EXPECT_EQ(slices().size(), 1u);
}

TEST_F(TracerInAProcess, WithoutAFileNothingIsTraced) {
  for (const std::string& name : {folder_, folder_ + "/none/trace.json"}) {
    const int status = in_child([&] {
      setenv("HOCKET_TRACE", name.c_str(), 1);
      Status problem;
      const bool is_told =
          Tracer::begin(problem).is_ok() && std::string(problem.message()).find(name) != std::string::npos;
      return is_told && Tracer::begin().is_ok() && !is_traced() ? 0 : 1;
    });
    EXPECT_EQ(status, 0) << name;
  }
}

TEST_F(TracerInAProcess, AFileThatCannotBeWrittenInTheEndDoesNoHarm) {
  EXPECT_EQ(run("",
                [this] {
                  add(1);
                  return std::filesystem::create_directory(name_);
                }),
            0);
}

TEST_F(TracerInAProcess, NamesOfCommunicatorsHaveNumbers) {
  EXPECT_EQ(run("",
                [] {
                  Tracer& tracer = *Tracer::current();
                  TraceEvent event;
                  event.name = "barrier";
                  event.began_ns = event.ended_ns = 1000;
                  if (tracer.number_of_name("") != 0 || tracer.number_of_name("rows") != tracer.number_of_name("rows"))
                    return false;
                  event.communicator_name = tracer.number_of_name("columns");
                  tracer.add(event);
                  return true;
                }),
            0);
  EXPECT_EQ(slices()[0]["args"]["communicator name"], "columns");
}

// An earlier job's would be taken for its.
TEST_F(TracerInAProcess, AProcessWithoutEventsHasAFileToo) {
  EXPECT_EQ(run("", [] { return true; }), 0);
  std::ifstream file(name_);
  const nlohmann::json trace = nlohmann::json::parse(file);
  EXPECT_EQ(trace["traceEvents"][0]["name"], "process_name");
}

}  // namespace
}  // namespace hocket::platform
