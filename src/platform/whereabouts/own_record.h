// SPDX-License-Identifier: BSD-3-Clause
// This process's record of where it is (record.h), and how its threads write there: some stores and a look at a coarse
// clock a call, five nanoseconds together.
//
// Where memory for it can't be had, nothing is written. A child of fork() writes nothing either.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <string_view>

#include "base/clock.h"
#include "platform/whereabouts/record.h"

namespace hocket::platform {

struct RecordOwner {
  int rank = -1, ranks = -1;  // of the job, if they are known
  std::string_view library;
};

// Makes the record, or goes on with the one that was made. nullptr: there is none.
Record* begin_record(const RecordOwner& owner);
// For later processes to see that this one has no part in its job any more.
void end_record();
// The file by which other processes find it, open as long as the record is there; negative: there is none.
int record_descriptor();
// What the processes of this one's job on this machine have in common, as their launcher's environment tells.
std::string_view job_label();

namespace internal {
// Release where it is made, in begin_record(); acquire in own_record().
inline std::atomic<Record*> record{nullptr};
inline constinit thread_local ThreadLine* own_line __attribute__((tls_model("initial-exec"))) = nullptr;
ThreadLine* claim_line(Record& record);
}  // namespace internal

inline Record* own_record() { return internal::record.load(std::memory_order_acquire); }

// nullptr: nothing is written.
inline ThreadLine* own_line() {
  if (internal::own_line != nullptr) [[likely]]
    return internal::own_line;
  Record* const record = own_record();
  return record == nullptr ? nullptr : internal::claim_line(*record);
}

// Four milliseconds fine, as a rule, and cheap.
inline uint64_t coarse_now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return static_cast<uint64_t>(time.tv_sec) * kNanosecondsPerSecond + static_cast<uint64_t>(time.tv_nsec);
}

// While it lives the thread is in a function. Relaxed stores, all: see record.h.
class InFunction {
 public:
  // `stamp`: of the thread's line; nullptr: nothing is written.
  InFunction(FunctionStamp* stamp, uint32_t function) : stamp_(stamp), what_(function + 1) {
    if (stamp_ == nullptr) [[unlikely]]
      return;
    keep_outer();
    enter();
  }
  InFunction(FunctionStamp* stamp, uint32_t function, int peer, int tag)
      : stamp_(stamp), what_((function + 1) | FunctionStamp::kHasPeer) {
    if (stamp_ == nullptr) [[unlikely]]
      return;
    keep_outer();
    stamp_->peer.store(peer, std::memory_order_relaxed);
    stamp_->tag.store(tag, std::memory_order_relaxed);
    stamp_->of_all.store(FunctionStamp::kUnknown, std::memory_order_relaxed);
    enter();
  }
  ~InFunction() {
    if (stamp_ == nullptr) [[unlikely]]
      return;
    if (outer_.what != 0) [[unlikely]]
      give_back_outer();
    else
      stamp_->what.store(what_, std::memory_order_relaxed);
  }
  InFunction(const InFunction&) = delete;
  InFunction& operator=(const InFunction&) = delete;

 private:
  // A function that is called within another one, by what the program has the library call, is in it for a while only.
  struct Outer {
    uint32_t what = 0;  // 0: there is none
    int32_t peer, tag, of_all;
    uint64_t since_ns;
  };
  void keep_outer() {
    const uint32_t what = stamp_->what.load(std::memory_order_relaxed);
    if ((what & FunctionStamp::kIsIn) == 0) [[likely]]
      return;
    outer_ = {what, stamp_->peer.load(std::memory_order_relaxed), stamp_->tag.load(std::memory_order_relaxed),
              stamp_->of_all.load(std::memory_order_relaxed), stamp_->since_ns.load(std::memory_order_relaxed)};
  }
  void give_back_outer() {
    stamp_->peer.store(outer_.peer, std::memory_order_relaxed);
    stamp_->tag.store(outer_.tag, std::memory_order_relaxed);
    stamp_->of_all.store(outer_.of_all, std::memory_order_relaxed);
    stamp_->since_ns.store(outer_.since_ns, std::memory_order_relaxed);
    stamp_->what.store(outer_.what, std::memory_order_relaxed);
  }
  void enter() {
    stamp_->since_ns.store(coarse_now_ns(), std::memory_order_relaxed);
    stamp_->what.store(what_ | FunctionStamp::kIsIn, std::memory_order_relaxed);
  }
  FunctionStamp* const stamp_;
  const uint32_t what_;
  Outer outer_;
};

// A communicator, from now on until it is forgotten. nullptr: there is no room, or no record.
CommunicatorName* note_communicator(uint64_t number, uint32_t rank, uint32_t size, std::string_view name);
std::string_view name_in(const CommunicatorName* place);
void rename_communicator(CommunicatorName* place, std::string_view name);
void forget_communicator(CommunicatorName* place);

// What its numbers stand for. Before calls come.
void name_function(uint32_t number, std::string_view name);
void name_algorithm(uint32_t number, std::string_view name);

}  // namespace hocket::platform
