// SPDX-License-Identifier: BSD-3-Clause
// Two ranks as threads, each bound to a core of its own: the caller's thread is rank 0.
//
// Thread safety: to be used from the thread that made it.
#pragma once

#include <hocket/hocket.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "platform/memory/shared_region.h"

namespace hocket::bench {

// Ends the program where measuring has no sense any more; another rank might wait for this one.
[[noreturn]] void give_up(const char* why);

class TwoRanks {
 public:
  static constexpr uint32_t kRanks = 2;

  // Binds the calling thread too. nullptr, and a line that says so, where there are no two cores. Where anything else
  // fails the program ends, as measuring has no sense then.
  static std::unique_ptr<TwoRanks> create();
  ~TwoRanks();
  TwoRanks(const TwoRanks&) = delete;
  TwoRanks& operator=(const TwoRanks&) = delete;

  // body(0) here, body(1) on the other core; returns when both are done. The other thread sleeps in between.
  void run(const std::function<void(uint32_t rank)>& body);
  // Memory of the kind that communicators use; in the one process that both ranks are.
  const std::shared_ptr<platform::SharedRegion>& region(uint32_t rank) { return regions_[rank]; }
  void* allocate(uint32_t rank, size_t bytes);  // there, zeroed

 private:
  TwoRanks() = default;
  void serve(int processor);

  std::shared_ptr<platform::SharedRegion> regions_[kRanks];
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void(uint32_t)>* body_ = nullptr;  // what rank 1 has to do
  bool over_ = false;
  std::thread thread_;
};

// A communicator of both ranks through the public API, for which a barrier algorithm is forced.
class PublicComm {
 public:
  static std::unique_ptr<PublicComm> create(TwoRanks& ranks, const char* barrier);
  ~PublicComm();
  PublicComm(const PublicComm&) = delete;
  PublicComm& operator=(const PublicComm&) = delete;

  hocket_comm_t* comm(uint32_t rank) { return comms_[rank]; }

 private:
  explicit PublicComm(TwoRanks& ranks) : ranks_(ranks) {}

  TwoRanks& ranks_;
  hocket_context_t* contexts_[TwoRanks::kRanks] = {};
  hocket_comm_t* comms_[TwoRanks::kRanks] = {};
};

}  // namespace hocket::bench
