// SPDX-License-Identifier: BSD-3-Clause
// Calls of the MPI in the trace of this process (docs/trace.md): while one of these lives, the thread is in the call.
// Untraced it costs a look at a variable.
//
// Thread safety: any thread.
#pragma once

#include "c_api/internal/timing/trace.h"
#include "shim/job/job.h"

namespace hocket::interposer {

// A function in which a rank may wait, where the program itself calls it.
class TracedFunction {
 public:
  explicit TracedFunction(const char* name, int peer = c_api::kNoPeer, int tag = 0)
      : name_(name), peer_(peer), tag_(tag) {
    if (c_api::is_traced()) [[unlikely]]
      begin();
  }
  ~TracedFunction() {
    if (began_ns_ != 0 && mode() == Mode::kServing) [[unlikely]]  // not of MPI_Finalize: all has been written
      c_api::trace_function(name_, began_ns_, peer_, tag_, open_);
  }
  TracedFunction(const TracedFunction&) = delete;
  TracedFunction& operator=(const TracedFunction&) = delete;

 private:
  __attribute__((cold, noinline)) void begin() {
    if (mode() != Mode::kServing || is_nested()) return;
    began_ns_ = c_api::trace_now_ns();
    open_ = c_api::trace_open(name_, began_ns_);
  }

  const char* const name_;
  const int peer_;
  const int tag_;
  c_api::OpenCall* open_ = nullptr;
  uint64_t began_ns_ = 0;  // 0: nothing is traced
};

// A collective that is passed on.
class TracedPass {
 public:
  explicit TracedPass(Collective collective)
      : collective_(collective), began_ns_(c_api::is_traced() ? c_api::trace_now_ns() : 0) {
    if (began_ns_ != 0) [[unlikely]]
      open_ = c_api::trace_open(mpi_name(collective_), began_ns_);
  }
  ~TracedPass() {
    if (began_ns_ != 0) [[unlikely]]
      c_api::trace_passed(mpi_name(collective_), began_ns_, open_);
  }
  TracedPass(const TracedPass&) = delete;
  TracedPass& operator=(const TracedPass&) = delete;

 private:
  const Collective collective_;
  const uint64_t began_ns_;  // 0: nothing is traced
  c_api::OpenCall* open_ = nullptr;
};

}  // namespace hocket::interposer
