// SPDX-License-Identifier: BSD-3-Clause
// What the relay process does: takes packets from its interface, and writes them back later.
//
// Thread safety: one thread.
#pragma once

#include <memory>

#include "base/status.h"
#include "lab/lab.h"
#include "lab/packets/delay_line.h"
#include "lab/packets/switch_programs.h"
#include "lab/packets/watch.h"
#include "platform/descriptor.h"

namespace hocket::lab {

class RelayLoop {
 public:
  // Moves this thread into the switch's network, where it stays, and makes the interface.
  static Result<RelayLoop> prepare(const Lab& lab);
  // Until the interface fails.
  void run();

 private:
  RelayLoop(LinkTable table, platform::Descriptor tap);
  bool take_packets();
  void take(uint8_t* frame, size_t bytes);
  bool give_back_due();

  LinkTable table_;
  platform::Descriptor tap_;
  std::unique_ptr<DelayLine> line_;
  Watch watch_;
  bool has_all_ = false;  // that had come when it last looked
};

}  // namespace hocket::lab
