// SPDX-License-Identifier: BSD-3-Clause
#include "shim/underneath/handles.h"

namespace hocket::interposer {

Handles native_handles() {
#define HOCKET_ROW(type, member, name, symbol) name,
  return {HOCKET_MPI_HANDLES(HOCKET_ROW)};
#undef HOCKET_ROW
}

std::vector<NamedType> native_types() {
#define HOCKET_ROW(name, symbol, kind) {name, Kind::kind},
  return {HOCKET_MPI_NAMED_TYPES(HOCKET_ROW)
          // Of later versions: values that are part of the family's binary interface, but not in every mpi.h.
          {static_cast<MPI_Datatype>(0x4c000147), Kind::kFortranLogical},   // MPI_LOGICAL1
          {static_cast<MPI_Datatype>(0x4c000248), Kind::kFortranLogical},   // MPI_LOGICAL2
          {static_cast<MPI_Datatype>(0x4c000449), Kind::kFortranLogical},   // MPI_LOGICAL4
          {static_cast<MPI_Datatype>(0x4c00084a), Kind::kFortranLogical}};  // MPI_LOGICAL8
#undef HOCKET_ROW
}

std::vector<NamedOp> native_ops() {
#define HOCKET_ROW(name, symbol, op) {name, op_index(op)},
  return {HOCKET_MPI_NAMED_OPS(HOCKET_ROW)};
#undef HOCKET_ROW
}

}  // namespace hocket::interposer
