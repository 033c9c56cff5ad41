// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alloc_mem out of memory that peers can map, so that collectives read and write it in place.
//
// Thread safety: any thread.
#pragma once

#include "shim/underneath/next.h"

namespace hocket::interposer {

// False: the MPI shall give the memory. `baseptr` is the address of a pointer, as in MPI_Alloc_mem.
bool allocate_memory(MPI_Aint bytes, MPI_Info info, void* baseptr);
// False: it isn't ours.
bool free_memory(void* base);

}  // namespace hocket::interposer
