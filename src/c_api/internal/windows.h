// SPDX-License-Identifier: BSD-3-Clause
// For code that is built with the library and not only against its header: memory that an MPI has given to a window,
// which peers may have mapped as well, so that collectives need no copy of it.
//
// Thread safety: any thread.
#pragma once

#include <hocket/hocket.h>

#include <cstddef>
#include <cstdint>

namespace hocket::c_api {

// `window`: a number that no other window has meanwhile.
void window_comes(hocket_context_t* context, uint64_t window, const void* memory, size_t bytes);
// Before it is freed, and when that has failed after all.
void window_closes(hocket_context_t* context, uint64_t window);
void window_stays(hocket_context_t* context, uint64_t window);
// It has been freed. Also of those that have no memory here, under any number that no window has.
void window_goes(hocket_context_t* context, uint64_t window);

// How often large steps of calls have used such memory as it lies, and how often they have used a copy.
struct WindowUses {
  uint64_t in_place = 0;
  uint64_t copied = 0;
};
WindowUses window_uses(const hocket_context_t* context);

}  // namespace hocket::c_api
