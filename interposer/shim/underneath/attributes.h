// SPDX-License-Identifier: BSD-3-Clause
// Callbacks of attributes that hold what hocket knows of an object of the MPI, and go with it.
//
// Thread safety: any thread.
#pragma once

#include "shim/underneath/next.h"

namespace hocket::interposer {

// The null copy function of an mpi.h may be a symbol of its library, so here is our own.
template <typename Handle>
int do_not_copy(Handle, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

template <typename Handle, typename Value>
int delete_value(Handle, int, void* value, void*) {
  delete static_cast<Value*>(value);
  return MPI_SUCCESS;
}

}  // namespace hocket::interposer
