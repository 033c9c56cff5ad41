// SPDX-License-Identifier: BSD-3-Clause
// Which predefined operations the MPI standard defines on which predefined types, and which of them hocket does itself.
// Whatever it leaves open is passed through, for the MPI to judge.
//
// Thread safety: pure functions.
#pragma once

#include "shim/types/types.h"
#include "shim/underneath/handles.h"

namespace hocket::interposer {

// Of a predefined type whose size is known: fills hocket_type, hocket_ops, mpi_ops.
void set_named_ops(Kind kind, TypeFacts& facts);
// Of a type made by MPI_Type_create_f90_integer and its kin, which is a predefined one under another name.
void set_parametric_ops(int combiner, TypeFacts& facts);

}  // namespace hocket::interposer
