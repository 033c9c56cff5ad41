// SPDX-License-Identifier: BSD-3-Clause
// HOCKET_CHECK=1: before each call all ranks show each other what they were asked to do.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>

#include "base/status.h"
#include "communicator/calls/call.h"

namespace hocket::communicator {

class ArgumentCheck {
 public:
  // Each rank's `bytes`, gathered by rank. Not ok: it has failed.
  using Gather = std::function<Status(const void* mine, size_t bytes, void* all)>;

  ArgumentCheck(uint32_t rank, uint32_t size, Vocabulary vocabulary)
      : rank_(rank), size_(size), vocabulary_(vocabulary) {}

  // Collective. `difference` says in what ranks differ, the same on all of them; ok: in nothing.
  // `neighbours`: of a call among them.
  Status compare(const Arguments& arguments, const schedule::Neighbours* neighbours, const Gather& gather,
                 Status& difference);

 private:
  Status compare_lengths(const Arguments& arguments, const Gather& gather, Status& difference) const;
  Status compare_lengths(const Arguments& arguments, const schedule::Neighbours& neighbours, const Gather& gather,
                         Status& difference) const;
  Status differing_lengths(schedule::Collective collective, uint32_t from, uint64_t given, uint32_t to,
                           uint64_t wanted) const;

  uint32_t rank_;
  uint32_t size_;
  Vocabulary vocabulary_;
  uint64_t calls_ = 0;  // that have been compared
};

}  // namespace hocket::communicator
