// SPDX-License-Identifier: BSD-3-Clause
// What a node's interface leaves to the other end: cutting long packets, and checksums.
//
// Links inside a machine hand over 64 KiB at a time whose checksums are neither computed nor checked. Impairments want
// what a wire has: packets of the wire's length, each with a checksum that tells when a bit has changed.
//
// Thread safety: as for the calling thread's network namespace, which is changed for a moment.
#pragma once

#include "base/status.h"
#include "lab/lab.h"

namespace hocket::lab {

Status set_offloads(const Lab& lab, bool on);

}  // namespace hocket::lab
