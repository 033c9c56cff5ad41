// SPDX-License-Identifier: BSD-3-Clause
#include "shim/underneath/handles.h"
#include "shim/underneath/next.h"

namespace hocket::interposer {
namespace {

template <typename Handle>
Handle object(const char* name) {
  return reinterpret_cast<Handle>(find_object(name));
}

}  // namespace

Handles native_handles() {
#define HOCKET_ROW(type, member, name, symbol) object<type>("ompi_mpi_" #symbol),
  Handles all{HOCKET_MPI_HANDLES(HOCKET_ROW)};
#undef HOCKET_ROW
  all.request_null = object<MPI_Request>("ompi_request_null");  // the one that is called otherwise
  return all;
}

std::vector<NamedType> native_types() {
#define HOCKET_ROW(name, symbol, kind) {object<MPI_Datatype>("ompi_mpi_" #symbol), Kind::kind},
  return {HOCKET_MPI_NAMED_TYPES(HOCKET_ROW)
          // Not in every mpi.h, but in libmpi where the Fortran compiler had them.
          HOCKET_ROW(, logical1, kFortranLogical) HOCKET_ROW(, logical2, kFortranLogical)
              HOCKET_ROW(, logical4, kFortranLogical) HOCKET_ROW(, logical8, kFortranLogical)};
#undef HOCKET_ROW
}

std::vector<NamedOp> native_ops() {
#define HOCKET_ROW(name, symbol, op) {object<MPI_Op>("ompi_mpi_" #symbol), op_index(op)},
  return {HOCKET_MPI_NAMED_OPS(HOCKET_ROW)};
#undef HOCKET_ROW
}

}  // namespace hocket::interposer
