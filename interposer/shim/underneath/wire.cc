// SPDX-License-Identifier: BSD-3-Clause
#include "shim/underneath/wire.h"

#include "shim/underneath/handles.h"
#include "shim/underneath/next.h"

// Nothing here is linked against an MPI: its functions are found at run time.
#define HOCKET_MPI(name) hocket::interposer::next_pmpi().name
#include "hocket/mpi_wire.h"

namespace hocket::interposer {
namespace {

hocket_mpi_wire_t wire;
bool is_open = false;

char name[sizeof wire.wire.name];

}  // namespace

const char* mpi_name() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
  int length = 0;
  (void)next_pmpi().Get_library_version(version, &length);
  hocket_mpi_name(version, name, sizeof name);
  return name;
}

bool open_wire(MPI_Comm world) {
  is_open = hocket_mpi_wire_open_by(&wire, world, handles.byte, handles.errors_return) == MPI_SUCCESS;
  return is_open;
}

void close_wire() {
  if (is_open) hocket_mpi_wire_close(&wire);
  is_open = false;
}

const hocket_wire_t* the_wire() { return is_open ? &wire.wire : nullptr; }

}  // namespace hocket::interposer
