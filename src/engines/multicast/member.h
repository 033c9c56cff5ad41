// SPDX-License-Identifier: BSD-3-Clause
// A rank's membership in the multicast group of a communicator: it sends messages in fragments and puts together those
// of others, as far as they come.
//
// Messages belong to streams, one for each sequence of calls, and are numbered by stream and source, alike on all
// members: a member that takes part in a stream takes all its messages, or says that it has no use for one.
//
// Invariant: a fragment is written only into memory where a caller awaits its message. Fragments that come earlier are
// kept while there is room; those that come after the message has been given up are dropped.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "engines/multicast/assembly.h"
#include "engines/multicast/port.h"
#include "engines/multicast/unexpected_queue.h"
#include "protocol/multicast.h"

namespace hocket::engines::multicast {

// What has happened to datagrams, for debugging.
struct Counters {
  uint64_t sent = 0;        // fragments
  uint64_t taken = 0;       // fragments that were awaited
  uint64_t kept = 0;        // came before they were
  uint64_t late = 0;        // after they were of use
  uint64_t repeated = 0;    // had come before
  uint64_t no_room = 0;     // came too early
  uint64_t own = 0;         // this member's, come back
  uint64_t other_jobs = 0;  // of others on the same address
  uint64_t refused = 0;     // not what a member would send, or damaged
  uint64_t messages = 0;    // awaited
  uint64_t missed = 0;      // of these, given up before all of it had come
};

class Member {
 public:
  struct Identity {
    nic_key key = {};
    uint64_t group = 0;           // a random number
    uint32_t self = 0;            // rank
    uint32_t fragment_bytes = 0;  // the same on all members
    uint32_t streams = 1;
    uint32_t ranks = 1;  // of the communicator
  };
  Member(std::unique_ptr<MulticastPort> port, const Identity& identity, uint64_t queue_bytes);

  uint32_t fragment_bytes() const { return identity_.fragment_bytes; }
  // Until poll() would find something.
  int descriptor() const { return port_->descriptor(); }

  // --- sending ------------------------------------------------------------------------------------------------------
  // The number of this rank's next message in the stream.
  uint64_t next(uint32_t stream) { return streams_[stream].next[identity_.self]++; }
  struct Message {
    uint32_t stream = 0;
    uint64_t number = 0;
    std::span<const std::byte> bytes;
  };
  // Sends fragments from that which begins at `offset`, as many as its port likes to be given at a time or, one at
  // least, `most_bytes` hold; gives where the next one begins, or the message's end.
  Result<uint64_t> send(const Message& message, uint64_t offset, uint64_t most_bytes = ~uint64_t{0});

  // --- receiving ----------------------------------------------------------------------------------------------------
  // The next message of `source`, which has this `number`, goes to `into`, from now until forget(); the result names it
  // till then.
  uint32_t expect(uint32_t stream, uint32_t source, std::span<std::byte> into, uint64_t& number);
  bool has_come(uint32_t expected) const { return expected_[expected].assembly.is_complete(); }
  // Blocks of it of which something is missing, and then their content: by another way, which counts as missed.
  uint64_t missing(uint32_t expected) const { return expected_[expected].assembly.missing_blocks(); }
  void supply(uint32_t expected, uint64_t blocks, std::span<const std::byte> content);
  void forget(uint32_t expected);
  bool expects() const { return expecting_ != 0; }
  // Takes what has come in; true: all of it, and not as much as is taken at a time.
  bool poll();
  // What of the messages that were awaited has not come since this was last asked, in fragments.
  struct Losses {
    uint32_t expected = 0;
    uint32_t missed = 0;
  };
  Losses take_losses() { return std::exchange(losses_, {}); }

  const Counters& counters() const { return counters_; }

 private:
  struct Stream {
    std::vector<uint64_t> next;  // by source
  };
  struct Expected {
    uint32_t stream = 0;
    uint32_t source = 0;
    uint64_t number = 0;
    Assembly assembly;
    bool in_use = false;
    bool is_judged = false;  // counted as come or missed
  };
  struct Head {
    std::byte bytes[MULTICAST_HEADER_BYTES];
  };
  void judge(Expected& one);
  void take(std::span<const std::byte> datagram);
  void keep(const multicast_fragment& fragment, std::span<const std::byte> content);

  std::unique_ptr<MulticastPort> port_;
  Identity identity_;
  std::vector<Stream> streams_;
  std::deque<Expected> expected_;
  std::vector<uint32_t> free_;  // places in expected_
  uint32_t expecting_ = 0;
  size_t last_ = 0;  // the place of the last fragment: the next one is often of the same message, or the one behind
  UnexpectedQueue unexpected_;
  std::vector<Head> heads_;  // of what is sent at a time
  std::vector<Parts> run_;
  Losses losses_;
  Counters counters_;
};

}  // namespace hocket::engines::multicast
