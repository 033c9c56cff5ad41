// SPDX-License-Identifier: BSD-3-Clause
// Operands that are made ready, and taken away, part by part while a call goes on: for a caller whose data doesn't lie
// as it is sent, so that it packs the next part while peers work on this one. Other ranks don't notice: they need not
// agree on which of them do so.
//
// Thread safety: called by the thread that advances the call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hocket::engines {

class OnDemand {
 public:
  // These bytes, one or more, of the caller's are about to be read; asked for more than once, too, and then peers
  // may be reading them: nothing is to be written twice. Other memory may be named, which means nothing. What is thrown
  // ends the call. What a call in place copies first is not asked for.
  virtual void need(const std::byte* first, uint64_t bytes) = 0;
  // These bytes of the output have come, to stay: of collectives that move data, nothing is written twice. Not all that
  // comes is told.
  virtual void arrived(const std::byte* first, uint64_t bytes) = 0;

 protected:
  ~OnDemand() = default;
};

}  // namespace hocket::engines
