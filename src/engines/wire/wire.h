// SPDX-License-Identifier: BSD-3-Clause
// The network between nodes, as the program or its MPI provides it: reliable messages of any length, matched by sender
// and tag in the order in which they were posted. An MPI's point-to-point is one.
//
// Thread safety: one call at a time for each tag; different tags by different threads, as far as the provider says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace hocket::engines::wire {

// What post_... has started; 0: nothing.
using Ticket = uint64_t;

class Wire {
 public:
  virtual ~Wire() = default;
  // What tables call it; "": it has no name.
  virtual std::string_view name() const { return {}; }
  // This process's number, how many there are, and how many tags: 0 .. tags()-1.
  virtual uint32_t rank() const = 0;
  virtual uint32_t size() const = 0;
  virtual uint32_t tags() const = 0;

  // The memory is left alone until test() says that it is done.
  virtual Status post_send(uint32_t to, uint32_t tag, const void* data, size_t bytes, Ticket& ticket) = 0;
  virtual Status post_receive(uint32_t from, uint32_t tag, void* data, size_t bytes, Ticket& ticket) = 0;
  // Moves the network, also when nothing of this is done. Those of the `count` tickets (none is 0) that are done become
  // 0, and `bytes` of them tells how long the message was. A message that was longer than its receive is kMismatch, and
  // nothing was written beyond the receive's memory.
  virtual Status test(size_t count, Ticket* tickets, size_t* bytes) = 0;
  // Gives up, after a failure: no caller asks for it again. What was under way may or may not arrive, and may still use
  // its memory: not every library can stop it.
  virtual void cancel(Ticket ticket) = 0;

  // A message without content, under a tag that nothing else uses. The sender does not wait for its arrival.
  virtual Status send_notice(uint32_t to, uint32_t tag) = 0;
  // Takes one that has come, from whomever; false: none has.
  virtual Result<bool> take_notice(uint32_t tag, uint32_t& from) = 0;
  // Whether a message has come that no receive has been posted for.
  virtual Result<bool> has_unexpected(uint32_t from, uint32_t tag) = 0;
};

}  // namespace hocket::engines::wire
