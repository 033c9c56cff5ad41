// SPDX-License-Identifier: BSD-3-Clause
// What the programs on the ports of a lab's switch tell of packets of NIC engines, and a program in each node of the
// doorbells that hosts ring.
//
// They tell it as long as this object lives: the kernel takes its buffers and its programs in the nodes away with the
// process, in whatever way that ends, and the programs then find out for themselves that nobody listens.
//
// Thread safety: one thread, and one such object for a lab at a time. Its making needs the Lock.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "bpf/lab_port.h"
#include "lab/lab.h"

namespace hocket::lab {

class Events {
 public:
  // The lab has its programs.
  static Result<std::unique_ptr<Events>> listen(const Lab& lab);
  virtual ~Events() = default;
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  // Whether doorbells are told of: kernels before 6.6 can't put a program in front of the engine's.
  virtual bool has_doorbells() const = 0;
  // Adds what has come since, of each processor in order.
  virtual void take(std::vector<lab_event>& events) = 0;
  // How many found no room.
  virtual uint64_t missed() const = 0;
  // Whether all was told so far: not if a processor was added, or the lab's programs were replaced.
  virtual bool is_whole() const = 0;

 protected:
  Events() = default;
};

}  // namespace hocket::lab
