// SPDX-License-Identifier: BSD-3-Clause
// Elements in memory that only a device's driver reaches, as the bytes of their signature. What MPI_Pack would do with
// loads and stores the driver's copies do here, piece by piece, so that gaps are neither read nor written: a kernel of
// the program's may be at work there.
//
// Thread safety: an object's memory by one thread.
#pragma once

#include "shim/buffers/packing.h"

namespace hocket::interposer {

// Whether elements, or some parts of them, may be where MPI_Pack can't go.
bool is_beyond_reach(const Elements& elements);

// MPI error codes; what goes wrong has been told and raised.
int pack_from_device(const Elements& from, unsigned char* to, MPI_Comm comm);
int unpack_to_device(const unsigned char* from, const Elements& to, MPI_Comm comm);

// `bytes` as they lie there.
int copy_from_device(const void* from, void* to, size_t bytes, MPI_Comm comm);
int copy_to_device(const void* from, void* to, size_t bytes, MPI_Comm comm);

}  // namespace hocket::interposer
