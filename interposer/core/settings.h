// SPDX-License-Identifier: BSD-3-Clause
// What the user has asked of the interposer. Only rank 0's environment counts: it is sent to all ranks of the job, so
// that all of them decide alike.
//
// Thread safety: any thread, as for base/environment.h.
#pragma once

#include <cstdint>

namespace hocket::interposer {

// Travels as bytes between ranks of one job on machines of one kind.
struct Settings {
  uint64_t magic = 0;
  int64_t setup_calls = 1;     // calls on a communicator before it may be set up, and the one that does it
  int64_t takeover_calls = 0;  // of those that wait for nobody, and the one that begins it; 0: by the MPI
  int32_t disable = 0;
  int32_t statistics = 0;
  int32_t device = 0;           // a device::Wish (devices/device_memory.h)
  int32_t progress = 0;         // a ProgressBy (under_way.h)
  int32_t with_other_jobs = 0;  // HOCKET_OTHER_JOBS=hocket
};

// From this process's environment. Of what can't be understood the default is taken; the code that begins a job looks
// for that on all ranks, by environment::check_process().
Settings read_settings();
bool is_sound(const Settings& settings);
// Of those by which ranks of several jobs decide alike, beside what set-up compares itself.
uint64_t digest_of(const Settings& settings);

}  // namespace hocket::interposer
