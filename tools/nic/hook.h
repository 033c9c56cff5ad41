// SPDX-License-Identifier: BSD-3-Clause
// Where the kernel's engine meets the packets that come in.
//
// Thread safety: a value.
#pragma once

#include <cstdint>

namespace hocket::nic {

enum class Hook : uint8_t {
  kAutomatic,  // in the driver where that is faster
  kTc,         // where the network stack takes them over
  kClsact,     // the same by the way of kernels before 6.6, also on those that have a better one
  kXdp,        // in the driver, as far as one packet or none answers; the rest where the network stack takes them over
};

}  // namespace hocket::nic
