// SPDX-License-Identifier: BSD-3-Clause
// What the command gets from the part that is compiled once for each MPI: ranks that can meet, tell each other
// something and send messages, and the MPI's collectives as variants. What is done with them stands elsewhere, once.
//
// Thread safety: none. Everything is collective over the ranks unless it says otherwise.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "bench/bench.h"
#include "hocket/hocket.h"

namespace hocket::bench {

class MpiRanks {
 public:
  virtual ~MpiRanks() = default;
  virtual World& world() = 0;
  // Messages over the MPI's point-to-point: for hocket's contexts, and for measurements of one's own.
  virtual const hocket_wire_t& hockets_wire() = 0;
  virtual const hocket_wire_t& own_wire() = 0;
  // Fewer than nodes where a machine has several of them: in a lab, or by HOCKET_NODE.
  virtual uint32_t machines() const = 0;

  // The MPI's own collectives, or hocket through the same functions.
  virtual std::unique_ptr<Variant> variant(const Options& options, bool hocket) = 0;
  // From MPI_Alloc_mem or a window, one at a time; nullptr if there is none. Not `kPlain`.
  virtual std::byte* allocate(size_t bytes, Memory memory) = 0;
  virtual void release(std::byte* memory) = 0;

  // Ranks of the same color among themselves, in the same order; nullptr where it is negative. To be given up before
  // these are.
  virtual std::unique_ptr<MpiRanks> split(int color) = 0;
  // "MPICH Version: 5.0.2": not collective.
  virtual std::string title() const = 0;
  // Ends the job, when this rank can't go on and others may wait for it. Not collective.
  virtual void abort(int code) = 0;
};

// Initialises the MPI; it is finalised when all ranks are given up. nullptr: the reason is in *why_not.
// `needs_shim`: that hocket's library was preloaded, so that variant(..., true) is hocket.
using MpiEntry = MpiRanks* (*)(bool needs_shim, std::string* why_not);
inline constexpr const char* kMpiEntryName = "hocket_bench_mpi";

}  // namespace hocket::bench
