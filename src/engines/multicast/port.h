// SPDX-License-Identifier: BSD-3-Clause
// A way to send a datagram to all members of a group at once, and to take those that come. It promises nothing: they
// may be lost, doubled, late or out of order, and come from strangers.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.h"

namespace hocket::engines::multicast {

// The two parts of a datagram.
struct Parts {
  std::span<const std::byte> head;
  std::span<const std::byte> body;
};

class MulticastPort {
 public:
  virtual ~MulticastPort() = default;
  // The longest datagram: what the network carries in one piece.
  virtual uint32_t most_bytes() const = 0;
  // How many bytes of datagrams it keeps until they are received; beyond that it loses some.
  virtual uint64_t room() const = 0;
  // One datagram, `head` and `body` together. A datagram for which there is no room is lost, which is not an error.
  virtual Status send(std::span<const std::byte> head, std::span<const std::byte> body) = 0;
  // How many bytes of datagrams it likes to be given at a time.
  virtual uint64_t most_at_once() const { return most_bytes(); }
  // Sends datagrams of one length, of which only the last may be shorter; together at most most_at_once() bytes.
  virtual Status send_all(std::span<const Parts> run) {
    for (const Parts& one : run)
      if (Status sent = send(one.head, one.body); !sent.is_ok()) return sent;
    return Status::ok();
  }
  // Takes the next one that has come; its bytes stay where they are until the next call. Empty: none has. Own ones may
  // come back.
  virtual std::span<const std::byte> receive() = 0;
  // Becomes readable when one comes, for poll(). A caller that has slept on it calls receive() until it is empty.
  virtual int descriptor() const = 0;
};

}  // namespace hocket::engines::multicast
