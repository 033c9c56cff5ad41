// SPDX-License-Identifier: BSD-3-Clause
// Records of a job that never ran, as its ranks would have written them.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "observe/job_view.h"

namespace hocket::test {

class ObservedJob {
 public:
  static constexpr uint64_t kNowNs = 1000 * kNanosecondsPerSecond;
  static constexpr uint64_t kWorld = 7;
  static constexpr uint32_t kBarrier = 0, kReceive = 1;
  static constexpr int kFirstProcess = 4000;

  explicit ObservedJob(int ranks, std::string_view label = "job") {
    for (int rank = 0; rank < ranks; ++rank) {
      auto record = std::make_unique<platform::Record>();
      record->process = static_cast<uint32_t>(kFirstProcess + rank);
      record->rank = rank;
      record->ranks = ranks;
      write(record->job, label);
      write(record->host, "node1");
      write(record->library, "some MPI");
      write(record->functions[kBarrier], "MPI_Barrier");
      write(record->functions[kReceive], "MPI_Recv");
      platform::CommunicatorName& world = record->communicators[0];
      world.number = kWorld;
      world.size = static_cast<uint32_t>(ranks);
      world.rank = static_cast<uint32_t>(rank);
      write(world.text, "MPI_COMM_WORLD");
      record->threads[0].thread = 1;
      records_.push_back(std::move(record));
    }
  }

  platform::Record& operator[](int rank) { return *records_[static_cast<size_t>(rank)]; }

  // Has been in a barrier for so long, and waits for these meanwhile.
  void wait_for(int rank, const std::vector<int>& others, double seconds, uint64_t communicator = kWorld) {
    platform::ThreadLine& line = enter(rank, &platform::ThreadLine::collective, kBarrier, seconds);
    line.communicator = communicator;
    line.awaited_ranks = static_cast<uint32_t>(others.size());
    for (size_t i = 0; i < others.size() && i < platform::ThreadLine::kAwaited; ++i)
      line.awaited[i] = static_cast<uint32_t>(kFirstProcess + others[i]);
    line.waits_since_ns = ago(seconds);
  }
  void receive_from(int rank, int peer, double seconds) {
    platform::FunctionStamp& stamp = enter(rank, &platform::ThreadLine::other, kReceive, seconds).other;
    stamp.what = stamp.what | platform::FunctionStamp::kHasPeer;
    stamp.peer = peer;
    stamp.tag = 3;
    stamp.of_all = peer;
  }
  void compute(int rank, double seconds) {
    platform::FunctionStamp& stamp = enter(rank, &platform::ThreadLine::other, kReceive, seconds).other;
    stamp.what = stamp.what & ~platform::FunctionStamp::kIsIn;
  }
  // The process is no more: neither is its record.
  void end(int rank) { records_[static_cast<size_t>(rank)] = nullptr; }

  std::vector<platform::SeenRecord> seen() const {
    std::vector<platform::SeenRecord> all;
    for (size_t i = 0; i < records_.size(); ++i) {
      const auto& one = records_[i];
      if (one == nullptr) continue;
      auto copy = std::make_unique<platform::Record>();
      std::memcpy(static_cast<void*>(copy.get()), one.get(), sizeof(platform::Record));
      all.emplace_back(kFirstProcess + static_cast<int>(i) + shift, std::move(copy), process_namespace);
    }
    return all;
  }
  std::vector<observe::JobView> views(uint64_t now_ns = kNowNs) const {
    return observe::views_of(
        seen(), now_ns, [this](int process) { return facts_of(process); },
        [this](int process) { return read_again(process); });
  }

  double cpu_s = 0;
  int shift = 0;  // of its processes' numbers, as they are seen from outside their container
  uint64_t process_namespace = 0;
  std::function<void()> before_read_again;  // something happens meanwhile

 private:
  // Nothing of processes without a record.
  observe::ProcessFacts facts_of(int process) const {
    observe::ProcessFacts facts;
    const auto rank = static_cast<size_t>(process - kFirstProcess);
    if (rank >= records_.size() || records_[rank] == nullptr) return facts;
    facts.is_there = true;
    facts.program = "prog";
    facts.cpu_s = cpu_s;
    facts.state = {platform::ProcessState::Kind::kSleeps, "futex"};
    return facts;
  }
  std::vector<platform::SeenRecord> read_again(int process) const {
    if (before_read_again) before_read_again();
    std::vector<platform::SeenRecord> all = seen();
    std::erase_if(all, [process](const platform::SeenRecord& one) { return one.process() != process; });
    return all;
  }
  template <size_t N>
  static void write(char (&place)[N], std::string_view text) {
    place[text.copy(place, N - 1)] = 0;
  }
  static uint64_t ago(double seconds) { return kNowNs - static_cast<uint64_t>(seconds * 1e9); }
  platform::ThreadLine& enter(int rank, platform::FunctionStamp platform::ThreadLine::* where, uint32_t function,
                              double seconds) {
    platform::ThreadLine& line = records_[static_cast<size_t>(rank)]->threads[0];
    (line.*where).what = (function + 1) | platform::FunctionStamp::kIsIn;
    (line.*where).since_ns = ago(seconds);
    return line;
  }

  std::vector<std::unique_ptr<platform::Record>> records_;
};

}  // namespace hocket::test
