// SPDX-License-Identifier: BSD-3-Clause
// A communicator whose ranks all have a driver of devices and an MPI that takes devices' pointers. Whether a call has
// one is known on its own rank only, so a call can't be passed through for it; and an MPI that could take them says
// nothing about a program, which may have host memory only. So such calls are staged, and ranks tell each other now and
// then how many there were: where they are most of them, the communicator is left to the MPI for good.
//
// Thread safety: as the communicator it belongs to.
#pragma once

#include <cstdint>

#include "core/devices/device_memory.h"
#include "hocket/hocket.h"

namespace hocket::interposer {

class DeviceTrial {
 public:
  device::DeviceOffer agreed = device::DeviceOffer::kStage;  // of all ranks

  // The next blocking call, counted on all ranks alike. Collective in effect, now and then, in a call in which all
  // ranks wait for each other anyway. True: it is the MPI's, and all that follow.
  bool has_failed(hocket_comm_t* comm, bool waits_for_all);
  void note_staged() { ++staged_; }

 private:
  uint64_t calls_ = 0;
  uint64_t last_ = 0, next_ = 8;  // calls after which ranks told each other, or may again
  uint64_t staged_ = 0;           // since then, on this rank
};

// Counts a call if there are copies by a driver while this lives.
class NotesStaged {
 public:
  explicit NotesStaged(DeviceTrial& trial) : trial_(trial), before_(device::copies_so_far()) {}
  ~NotesStaged() {
    if (device::copies_so_far() != before_) trial_.note_staged();
  }
  NotesStaged(const NotesStaged&) = delete;
  NotesStaged& operator=(const NotesStaged&) = delete;

 private:
  DeviceTrial& trial_;
  const uint64_t before_;
};

}  // namespace hocket::interposer
