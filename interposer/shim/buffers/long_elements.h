// SPDX-License-Identifier: BSD-3-Clause
// Single elements of more than 2 GiB, which MPI_Pack can't count.
//
// Thread safety: any thread.
#pragma once

#include "shim/buffers/packing.h"

namespace hocket::interposer {

// As pack() and unpack() of one element.
int pack_long_element(const Elements& from, unsigned char* to, MPI_Comm comm);
int unpack_long_element(const unsigned char* from, const Elements& to, MPI_Comm comm);

}  // namespace hocket::interposer
