// SPDX-License-Identifier: BSD-3-Clause
// The calls themselves, and who carries them out.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>

#include "cases.h"
#include "part.h"

namespace conformance {

// The arguments of one call, in whichever of its forms the case says, with these buffers. They live as long as this.
class MadeCall {
 public:
  MadeCall(const Case& which, const Part& part, const Communicator& communicator, unsigned char* input,
           unsigned char* output);
  MadeCall(const MadeCall&) = delete;
  MadeCall& operator=(const MadeCall&) = delete;

  // Each returns the MPI's error code. A blocking call is over when make() returns, a started one after end(); a
  // persistent one takes start() and end() as often as it is started, and free() at last.
  int make();
  int start();
  int end();
  int free();
  // As long as it has been started or planned; others may end it.
  MPI_Request& request() { return request_; }
  // What the MPI has done with the request that it must not; empty: nothing.
  const std::string& complaint() const { return complaint_; }

 private:
  void complain_unless(bool is_right, const char* what);

  const Case& case_;
  const Part& part_;
  const Communicator& communicator_;
  const void* input_;
  void* output_;
  std::shared_ptr<void> sides_;  // of the width that is called
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::string complaint_;
};

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
  // Calls of this process that hocket has carried out.
  uint64_t carried_out() const { return count_ != nullptr ? count_() : 0; }

 private:
  int (*enable_)(int) = nullptr;
  unsigned long long (*count_)() = nullptr;
};

}  // namespace conformance
