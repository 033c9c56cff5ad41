// SPDX-License-Identifier: BSD-3-Clause
// A member of a NIC group that does what it is told on its standard input, a word a line, and answers with a line:
// for tests that need processes which begin and don't end, wait, or die.
//
//   nic_rank INTERFACE JOB RANK ADDRESS...      addresses of all members, in the order of ranks
//
//   begin     begins a barrier
//   done      how many are done
//   wait      until all that were started are
//   sleep     the same, asleep
//   many N    so many barriers
//   calls N F SEED   so many calls of all collectives, up to F of them under way, whose results are looked at
//   late US   comes late to each of them from now on, by up to so many microseconds at random
//   reduce N  begins so many sums to member 0
//   health    "ok", or what is wrong
//   fork      leaves a child behind that keeps all descriptors
//   join_under_signals   joins one more group while signals come
//   join_without_room N   joins one more group with room for N files more, then with room enough: what came of either
//   leave     leaves the group
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>

#include "engines/nic/port.h"
#include "support/nic_calls.h"

namespace {

using namespace hocket;
using engines::nic::NicGroup;
using engines::nic::NicPort;
using test::NicCalls;

constexpr int64_t kSleepNs = 5'000'000;

Status wait(NicGroup& group, bool sleeps) {
  for (;;) {
    const uint64_t seen = group.done();
    if (seen == group.started()) return Status::ok();
    HOCKET_TRY(group.health());
    if (sleeps) group.sleep(seen, kSleepNs);
  }
}

Status many(NicGroup& group, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    HOCKET_TRY(group.start(0));
    HOCKET_TRY(wait(group, i % 2 == 0));
  }
  return Status::ok();
}

// The words of a result that are another's; "": none.
std::string difference(const NicCalls& calls, uint32_t member, uint64_t epoch, const nic_operand& result) {
  const NicCalls::Results expected = calls.expected(epoch);
  if (!expected.has_result[member]) return "";
  for (uint32_t i = 0; i < calls.call(epoch).words; ++i)
    if (result.word[i] != expected.results[member].word[i])
      return "call " + std::to_string(epoch) + " has another result in word " + std::to_string(i);
  return "";
}

// How late a member comes to what it does next: each to another thing.
class Lateness {
 public:
  explicit Lateness(uint32_t member) : dice_(member) {}
  void set_most(uint32_t us) { most_us_ = us; }
  void pass() {
    if (most_us_ != 0) usleep(std::uniform_int_distribution<uint32_t>(0, most_us_)(dice_));
  }

 private:
  std::mt19937 dice_;
  uint32_t most_us_ = 0;
};

Status make_calls(NicGroup& group, const NicCalls& calls, uint32_t member, uint64_t count, uint64_t in_flight,
                  Lateness& lateness) {
  const uint64_t before = group.started();
  uint64_t looked_at = before;
  while (looked_at < before + count) {
    while (group.started() < before + count && group.started() < looked_at + in_flight) {
      const uint64_t epoch = group.started() + 1;
      const nic_operand operand = calls.operand(member, epoch);
      engines::nic::NicCall call = calls.call(epoch);
      if (calls.gives_operand(member, epoch)) call.operand = &operand;
      lateness.pass();
      HOCKET_TRY(group.start(call));
    }
    const uint64_t done = group.done();
    if (done == looked_at) {
      HOCKET_TRY(group.health());
      group.sleep(done, kSleepNs);
      continue;
    }
    for (; looked_at < done; ++looked_at) {
      const std::string wrong = difference(calls, member, looked_at + 1, group.result(looked_at + 1));
      if (!wrong.empty()) return {Code::kMismatch, wrong};
    }
  }
  return Status::ok();
}

// Begins sums to member 0, up a chain, and waits for none.
Status begin_reductions(NicGroup& group, uint64_t count) {
  nic_operand operand{};
  operand.word[0] = 1;
  for (uint64_t i = 0; i < count; ++i)
    HOCKET_TRY(group.start({.program = 3, .operation = NIC_SUM, .type = NIC_INT64, .words = 1, .operand = &operand}));
  return Status::ok();
}

void answer(const Status& status) { std::cout << (status.is_ok() ? "ok" : status.message()) << std::endl; }

// One more group, while a clock interrupts whatever this process does.
Status join_under_signals(NicPort& port, engines::nic::GroupDescription description) {
  std::signal(SIGALRM, [](int) {});
  const itimerval often = {{0, 500}, {0, 500}};
  const itimerval never = {};
  setitimer(ITIMER_REAL, &often, nullptr);
  ++description.id;
  Result<std::unique_ptr<NicGroup>> group = port.join(description);
  setitimer(ITIMER_REAL, &never, nullptr);
  return group.is_ok() ? Status::ok() : group.take_status();
}

// What comes of one more group with room for `files` more, and of the next with room enough.
std::string join_without_room(NicPort& port, engines::nic::GroupDescription description, rlim_t files) {
  const auto report = [](const Result<std::unique_ptr<NicGroup>>& group) {
    return std::string(group.is_ok() ? "ok" : group.status().message());
  };
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit tight = {0, before.rlim_max};
  for (rlim_t free = 0; free < files || tight.rlim_cur <= STDERR_FILENO; ++tight.rlim_cur)
    free += fcntl(static_cast<int>(tight.rlim_cur), F_GETFD) < 0 ? 1 : 0;
  setrlimit(RLIMIT_NOFILE, &tight);
  description.id += 1000;
  const Result<std::unique_ptr<NicGroup>> without = port.join(description);
  setrlimit(RLIMIT_NOFILE, &before);
  description.id += 1000;
  const Result<std::unique_ptr<NicGroup>> with = port.join(description);
  return report(without) + " | " + report(with);
}

// Leaves a child behind that has all of this process's descriptors, for a while.
Status fork_child() {
  constexpr unsigned kLongS = 20;
  const pid_t child = fork();
  if (child == 0) {
    sleep(kLongS);
    _exit(0);
  }
  return child > 0 ? Status::ok() : Status::system("can't fork", errno);
}

void obey(NicPort& port, engines::nic::GroupDescription description, std::unique_ptr<NicGroup>& group) {
  const auto size = static_cast<uint32_t>(description.members.size());
  Lateness lateness(description.self);
  for (std::string word; std::cin >> word;) {
    if (word == "begin") {
      answer(group->start(0));
    } else if (word == "done") {
      std::cout << group->done() << std::endl;
    } else if (word == "wait" || word == "sleep") {
      answer(wait(*group, word == "sleep"));
    } else if (word == "many") {
      uint64_t count = 0;
      std::cin >> count;
      answer(many(*group, count));
    } else if (word == "reduce") {
      uint64_t count = 0;
      std::cin >> count;
      answer(begin_reductions(*group, count));
    } else if (word == "calls") {
      uint64_t count = 0;
      uint64_t in_flight = 0;
      uint64_t seed = 0;
      std::cin >> count >> in_flight >> seed;
      answer(make_calls(*group, NicCalls(test::nic_algorithms(), size, seed), description.self, count, in_flight,
                        lateness));
    } else if (word == "late") {
      uint32_t most_us = 0;
      std::cin >> most_us;
      lateness.set_most(most_us);
      answer(Status::ok());
    } else if (word == "join_under_signals") {
      answer(join_under_signals(port, description));
    } else if (word == "join_without_room") {
      rlim_t files = 0;
      std::cin >> files;
      description.id += files;
      std::cout << join_without_room(port, description, files) << std::endl;
    } else if (word == "fork") {
      answer(fork_child());
    } else if (word == "health") {
      answer(group->health());
    } else if (word == "leave") {
      group.reset();
      std::cout << "ok" << std::endl;
    } else {
      std::cout << "what is " << word << "?" << std::endl;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kFirstMember = 4;
  if (argc <= kFirstMember) return 2;
  const uint64_t job = std::strtoull(argv[2], nullptr, 0);
  engines::nic::GroupDescription description;
  description.id = job;
  description.key = {job * 3 + 1, job * 5 + 2};
  description.self = static_cast<uint32_t>(std::atoi(argv[3]));
  for (int i = kFirstMember; i < argc; ++i)
    description.members.push_back({inet_addr(argv[i]), htons(NIC_DEFAULT_PORT)});
  // Program 0 is a barrier.
  const NicCalls calls(test::nic_algorithms(), static_cast<uint32_t>(description.members.size()), 0);
  const Result<NicCalls::Programs> programs = calls.programs_of(description.self);
  Result<std::unique_ptr<NicPort>> port = NicPort::open(argv[1]);
  if (!port.is_ok() || !programs.is_ok()) {
    answer(port.is_ok() ? programs.status() : port.status());
    return 1;
  }
  description.programs = programs.value().programs;
  description.synchronizing = programs.value().synchronizing;
  Result<std::unique_ptr<NicGroup>> joined = port.value()->join(description);
  if (!joined.is_ok()) {
    answer(joined.status());
    return 1;
  }
  std::unique_ptr<NicGroup> group = joined.take();
  std::cout << "joined" << std::endl;
  obey(*port.value(), description, group);
  return 0;
}
