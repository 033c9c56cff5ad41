// SPDX-License-Identifier: BSD-3-Clause
#include "shim/handles.h"
#include "shim/next.h"

namespace hocket::interposer {
namespace {

template <typename Handle>
Handle object(const char* name) {
  return reinterpret_cast<Handle>(find_object(name));
}

}  // namespace

Handles native_handles() {
  return {object<MPI_Comm>("ompi_mpi_comm_null"),
          object<MPI_Comm>("ompi_mpi_comm_world"),
          object<MPI_Comm>("ompi_mpi_comm_self"),
          object<MPI_Datatype>("ompi_mpi_datatype_null"),
          object<MPI_Datatype>("ompi_mpi_byte"),
          object<MPI_Datatype>("ompi_mpi_packed"),
          object<MPI_Op>("ompi_mpi_op_null"),
          object<MPI_Info>("ompi_mpi_info_null"),
          object<MPI_Errhandler>("ompi_mpi_errors_return")};
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
#define HOCKET_ROW(name, symbol, index) {object<MPI_Op>("ompi_mpi_" #symbol), index},
  return {HOCKET_MPI_NAMED_OPS(HOCKET_ROW)};
#undef HOCKET_ROW
}

}  // namespace hocket::interposer
