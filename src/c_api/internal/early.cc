// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/internal/early.h"

#include <dlfcn.h>

#include "platform/descriptor.h"
#include "platform/waiting/parking.h"

namespace hocket::c_api {

bool is_single_threaded() {
  // glibc's, from 2.32 on. By name: what was linked for an older one asks the one that it meets.
  const auto* const single = static_cast<const char*>(dlsym(RTLD_DEFAULT, "__libc_single_threaded"));
  return single != nullptr && *single != 0;
}

void prepare_early() {
  if (!is_single_threaded()) return;
  platform::make_room_out_of_the_way();
  (void)platform::register_asymmetric_barrier();  // asked again where the answer is needed
}

}  // namespace hocket::c_api
