// SPDX-License-Identifier: BSD-3-Clause
// How an MPI operation on an MPI type is carried out: by hocket's own kernel, or by the MPI's, element by element.
//
// Thread safety: any thread; an Operation made by the MPI belongs to the thread that made it, one at a time.
#pragma once

#include "c_api/internal/call.h"
#include "hocket/hocket.h"
#include "shim/types/types.h"
#include "shim/underneath/next.h"

namespace hocket::interposer {

struct Operation {
  enum class By : uint8_t {
    kHocket,     // on the type's hocket_type
    kMpi,        // PMPI_Reduce_local on opaque elements of the type's size, packed unless dense
    kUndefined,  // the standard knows no such pair
    kInvalid,
  };
  By by = By::kInvalid;
  hocket_op_t op = nullptr;    // kHocket
  bool is_commutative = true;  // kMpi
};

Operation find_operation(MPI_Op op, MPI_Datatype type, const TypeFacts& facts, MPI_Comm comm, size_t count);
// As the arguments of hocket's call on elements of that type. kMpi: of the last operation found on this thread.
void set_operation(const Operation& operation, const TypeFacts& facts, c_api::Arguments& arguments);
// After a call with an Operation by the MPI: what PMPI_Reduce_local and its helpers said, MPI_SUCCESS when all went
// well.
int last_operation_error();

MPI_Op sum_operation();
MPI_Op minimum_operation();
void fill_operations();

}  // namespace hocket::interposer
