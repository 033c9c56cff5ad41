// SPDX-License-Identifier: BSD-3-Clause
// The calls themselves, and who carries them out.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "cases.h"
#include "part.h"

namespace conformance {

// Makes the call with these buffers; the MPI's error code.
int call(const Case& which, const Part& part, const Communicator& communicator, unsigned char* input,
         unsigned char* output);

// The interposer's switch: whether hocket carries calls out, or hands all of them on to the MPI.
class Switch {
 public:
  // Without hocket in the process, or if it shall stay off, both sides of each comparison are the MPI's.
  explicit Switch(bool stays_off);
  bool is_there() const { return enable_ != nullptr; }
  // All ranks turn it at the same places between their calls.
  void turn(bool on) const {
    if (enable_ != nullptr) enable_(on ? 1 : 0);
  }
  // Calls of this process that hocket has carried out, those on a single rank left out.
  uint64_t carried_out() const { return count_ != nullptr ? count_() : 0; }

 private:
  int (*enable_)(int) = nullptr;
  unsigned long long (*count_)() = nullptr;
};

}  // namespace conformance
