// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/early.h"

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define HOCKET_IS_SINGLE_THREADED (__libc_single_threaded != 0)
#else  // of glibc 2.32
#define HOCKET_IS_SINGLE_THREADED false
#endif

#include "platform/descriptor.h"
#include "platform/waiting/parking.h"

namespace hocket::c_api {

bool is_single_threaded() { return HOCKET_IS_SINGLE_THREADED; }

void prepare_early() {
  if (!is_single_threaded()) return;
  platform::make_room_out_of_the_way();
  (void)platform::register_asymmetric_barrier();  // asked again where the answer is needed
}

}  // namespace hocket::c_api
