// SPDX-License-Identifier: BSD-3-Clause
#include "shim/underneath/handles.h"

namespace hocket::interposer {

Handles native_handles() {
#define HOCKET_ROW(type, member, name, symbol) name,
  Handles all{HOCKET_MPI_HANDLES(HOCKET_ROW)};
#undef HOCKET_ROW
  all.errors_return = handler_that_returns();
  return all;
}

std::vector<NamedType> native_types() {
#define HOCKET_ROW(name, symbol, kind) {name, Kind::kind},
  return {HOCKET_MPI_NAMED_TYPES(HOCKET_ROW)
          // Which the other interfaces don't have, or not everywhere.
          {MPI_LOGICAL1, Kind::kFortranLogical},
          {MPI_LOGICAL2, Kind::kFortranLogical},
          {MPI_LOGICAL4, Kind::kFortranLogical},
          {MPI_LOGICAL8, Kind::kFortranLogical},
          {MPI_LOGICAL16, Kind::kFortranLogical},
          {MPI_INTEGER16, Kind::kFortranInteger},
          {MPI_REAL2, Kind::kFloat},
          {MPI_COMPLEX4, Kind::kComplex}};
#undef HOCKET_ROW
}

std::vector<NamedOp> native_ops() {
#define HOCKET_ROW(name, symbol, op) {name, op_index(op)},
  return {HOCKET_MPI_NAMED_OPS(HOCKET_ROW)};
#undef HOCKET_ROW
}

}  // namespace hocket::interposer
