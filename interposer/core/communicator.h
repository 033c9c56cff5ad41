// SPDX-License-Identifier: BSD-3-Clause
// What hocket knows of one MPI communicator, from its first blocking collective until it is freed; without a word
// about handles, which differ from MPI to MPI.
//
// Thread safety: one communicator by one thread at a time, as MPI demands of its collectives; the list of all of them
// is locked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "core/statistics.h"
#include "hocket/hocket.h"

namespace hocket::interposer {

enum class Phase : uint8_t {
  kReady,     // `comm` carries calls out
  kCounting,  // set up at call number `setup_calls`
  kAlone,     // one rank
  kRefused,   // for good, because of `refusal`
};

struct Communicator {
  Phase phase = Phase::kCounting;
  Outcome refusal = Outcome::kArguments;
  bool failure_told = false;
  int rank = 0;
  int size = 0;
  hocket_comm_t* comm = nullptr;
  Counters counters;
  int64_t calls = 0;
  uint64_t order = 0;  // the same on every rank, different for any two: in this order they are closed at the end
  std::unique_ptr<size_t[]> numbers;
};

// Room for the counts and displacements of a call, four numbers a rank; kept until the communicator goes. nullptr: no
// memory. Earlier contents are lost with the next call.
inline size_t* numbers_of(Communicator& communicator) {
  if (communicator.numbers == nullptr) [[unlikely]]
    communicator.numbers.reset(new (std::nothrow) size_t[4 * static_cast<size_t>(communicator.size)]);
  return communicator.numbers.get();
}

// A blocking all-gather on the communicator itself, by the MPI underneath; 0 for success.
struct Exchange {
  int (*allgather)(const void* send, void* receive, size_t bytes, void* user);
  void* user;
};

// A communicator that has been seen for the first time, in the list.
Communicator* open_communicator(int rank, int size);
void refuse(Communicator& communicator, Outcome why);

// The next call on a communicator that isn't ready: counts it, and sets the communicator up when its time has come.
// Collective in effect, as all ranks count alike. kCarriedOut: it is ready now; kFailed: what the user has asked for
// can't be done, which has been told on stderr; otherwise why it isn't ready.
Outcome prepare(Communicator& communicator, int64_t setup_calls, const Exchange& exchange);

// Ends its life within hocket, collective: waits for peers whose calls are still running. Its numbers are kept. Calls
// that still come are handed on.
void close_communicator(Communicator& communicator);
// After close, or instead of it when peers can't be waited for: then the hocket side stays until close_all.
void forget_communicator(Communicator* communicator);
// All that are left, in an order that is the same on every rank.
void close_all();

// The sums of this process over all communicators.
CounterArray read_counters();

}  // namespace hocket::interposer
